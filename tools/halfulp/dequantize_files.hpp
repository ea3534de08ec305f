// Reads the columns that `quantize` writes: from a pack folder, .safetensors or .npz.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::tool {

struct QuantizedColumns {
  std::vector<std::uint64_t> shape;  ///< of the codes: the axis that blocks run along is the last
  recipes::Quantized quantized;
};

/// The columns of a tensor that the recipe made, in memory. Throws InputError.
QuantizedColumns read_columns(const std::string& path, const recipes::QuantRecipe& recipe);

/// Writes values as an .npy of binary32. Throws InputError for other names.
void write_values(const std::string& path, const std::vector<std::uint64_t>& shape, const std::vector<double>& values);

}  // namespace halfulp::tool
