// The recipe that made a quantized tensor, as its manifest says it: what `dequantize` reads it back with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halfulp/packing.hpp"
#include "quantize_options.hpp"
#include "recipe_spec.hpp"

namespace halfulp::tool {

struct StoredRecipe {
  RecipeSpec spec;
  std::size_t axis = 0;  ///< where the last axis of the codes was before quantization
  std::optional<Packing> packing = {};     ///< of the codes; one word each without
  std::vector<std::uint64_t> shape = {};   ///< of the tensor that packed codes stand for, its axis the last
};

/// Whether a .npz or .safetensors holds a manifest; true for folders, and for what is not there. Throws InputError for other files.
bool has_manifest(const std::string& path);

/// Of a pack folder or an archive with a manifest, whose hashes are checked; nothing for an archive without one. Throws
/// InputError for packs of other kinds and for steps that this version of the recipe does not have.
std::optional<StoredRecipe> stored_recipe(const std::string& path);

/// The recipe for the way back: the stored one, where there is one. Throws InputError when the options name other steps,
/// another element or other blocks, or when neither names a recipe.
recipes::QuantRecipe recipe_to_read(const RecipeOptions& options, const std::optional<StoredRecipe>& stored,
                                    const std::string& path);

}  // namespace halfulp::tool
