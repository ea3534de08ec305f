// Reads quantized tensors: the columns that `quantize` writes - a pack folder, .safetensors or .npz - or the parts of a
// checkpoint's weight in the names that producers give them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/recipes/tensor.hpp"
#include "stored_recipe.hpp"

namespace halfulp::tool {

struct QuantizedColumns {
  std::vector<std::uint64_t> shape;  ///< of the codes: the axis that blocks run along is the last
  recipes::Quantized quantized;
  bool is_checkpoint = false;
};

/// `FILE.safetensors:LAYER`, or a .safetensors without a column `codes`: a checkpoint.
bool names_checkpoint(const std::string& input);

/// The columns of a tensor that the recipe made, in memory; a tensor scale and amax that are not there are left empty.
/// `stored` says how codes are packed, where they are. Throws InputError.
QuantizedColumns read_columns(const std::string& path, const recipes::QuantRecipe& recipe, const std::optional<StoredRecipe>& stored);

/// The parts of one weight of a checkpoint (tensors/checkpoint_names.hpp), named as a layer or one of its tensors, or the
/// only one. Scales of other formats are taken where the recipe's format has the same numbers. Throws InputError.
QuantizedColumns read_checkpoint(const std::string& input, const recipes::QuantRecipe& recipe);

/// Values with the last axis put back to where it was; changes `shape` as well.
std::vector<double> with_axis_at(std::size_t axis, std::vector<std::uint64_t>& shape, std::vector<double> values);

/// Writes values as an .npy of binary32. Throws InputError for other names.
void write_values(const std::string& path, const std::vector<std::uint64_t>& shape, const std::vector<double>& values);

}  // namespace halfulp::tool
