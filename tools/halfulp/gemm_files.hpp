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

/// Reads a matrix as codes of `format`. A file of that format, or of unsigned words of its size, is taken as it is; f32 (and
/// f16, bf16) numbers must be numbers of the format, but for tf32, into which f32 is cut. Throws InputError.
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

/// Writes m x n words: `-` as text, a row of hex codes (integers in decimal) per line; `.npy`, or `.safetensors` as `d`.
void write_result(const std::string& path, const std::vector<std::uint32_t>& words, std::size_t columns, const FormatSpec& format,
                  const std::string& format_name);

}  // namespace halfulp::tool
