// Quantized tensors as packs of kind `tensor`: a folder, .safetensors or .npz.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/packing.hpp"
#include "halfulp/recipes/recipe.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::tool {

/// True for names that mean a file or folder of columns; false for `-`. Throws InputError for other files, and for an unknown
/// ending without a slash behind it.
bool is_column_file(const std::string& path);

/// The manifest of a tensor without its columns: the recipe spelled out step by step, the shape (at least one dimension)
/// where the last axis was in the tensor, and how its codes are packed.
vectors::Manifest quantize_manifest(const recipes::QuantRecipe& recipe, const std::vector<std::uint64_t>& shape, std::size_t axis,
                                    std::optional<Packing> packing);

}  // namespace halfulp::tool
