// Quantized tensors as packs of kind `tensor`: a folder, .safetensors or .npz.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/recipes/recipe.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::tool {

/// True for names that mean a file or folder of columns; false for `-`. Throws InputError for other files.
bool is_column_file(const std::string& path);

/// The manifest of a tensor without its columns: the recipe spelled out step by step, the shape (at least one dimension)
/// and the axis.
vectors::Manifest quantize_manifest(const recipes::QuantRecipe& recipe, const std::vector<std::uint64_t>& shape, int axis);

}  // namespace halfulp::tool
