// Tensors of `attention`: files as codes by heads, scales, results and stages as .npy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::tool {

/// [heads, tokens, width]; a file of two axes has one head.
struct HeadTensor {
  std::vector<std::uint32_t> words;
  std::size_t heads = 0, tokens = 0, width = 0;
};

/// A file of codes of the format (of that type, or of unsigned words of its size) is taken as it is. Numbers (f32, f16, bf16) are
/// divided by the scale of their head in float32 and cast, to nearest even and saturating. Throws InputError.
HeadTensor load_heads(const std::string& name, const std::string& format, const std::vector<float>& scales);

/// `0x…` bits or literals separated by commas, or a file of float32 numbers. Throws InputError.
std::vector<float> read_floats(const std::string& text, const std::string& option);

/// Writes words of a format as .npy of that shape. Throws InputError.
void write_npy(const std::string& path, const std::vector<std::uint32_t>& words, const std::string& format, std::vector<std::uint64_t> shape);

/// A new folder with every stage as NAME.npy; nothing is left where it cannot be written whole. Throws InputError.
void write_stages(const std::string& folder, const attention::KernelSpec& spec, const attention::Shape& shape, const attention::Stages& stages);

}  // namespace halfulp::tool
