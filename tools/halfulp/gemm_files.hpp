// Matrices of `gemm`: files as codes of an operand format, scales as words, results as files or text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/accumulation/model.hpp"

namespace halfulp::tool {

/// A matrix in memory: container words of `storage_bytes()` each, row after row.
struct LoadedMatrix {
  std::vector<std::byte> words;
  std::size_t rows = 0, columns = 0;
};

/// Reads a matrix as codes of `format`. A file of that format, or of unsigned words of the size of a floating format, is taken as it is; numbers in other
/// formats must be numbers of the format, but for tf32, into which f32 is cut. Throws InputError.
LoadedMatrix load_codes(const std::string& name, const FormatSpec& format, const std::string& format_name);

/// Columns as rows.
LoadedMatrix transposed(const LoadedMatrix& x, int word_bytes);

/// Reads numbers as words of `format` (scales, C, bias), each of which the format must have; a scalar is 1 x 1, a vector one
/// row. Throws InputError.
struct LoadedWords {
  std::vector<std::uint32_t> words;
  std::size_t rows = 0, columns = 0;
};
LoadedWords load_words(const std::string& name, const FormatSpec& format, const std::string& format_name);

/// Prints m x n words: a row of hex codes (integers in decimal) per line, or one JSON object with `format`, `shape` and `codes` (`values`).
void print_result(const std::vector<std::uint32_t>& words, std::size_t columns, const FormatSpec& format, const std::string& format_name,
                  bool json);

/// Writes m x n words as a `.npy` file, or a `.safetensors` file with the tensor `d`.
void write_result(const std::string& path, const std::vector<std::uint32_t>& words, std::size_t columns, const FormatSpec& format,
                  const std::string& format_name);

}  // namespace halfulp::tool
