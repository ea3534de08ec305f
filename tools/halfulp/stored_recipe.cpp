// Manifests of quantized tensors; see stored_recipe.hpp.
#include "stored_recipe.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/recipes/same_steps.hpp"
#include "halfulp/tensors/safetensors.hpp"
#include "halfulp/tensors/source.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

std::string element_and_blocks(const recipes::QuantRecipe& recipe) {
  return recipe.code.format_name + " in blocks of " + recipes::block_words(recipe);
}

}  // namespace

bool has_manifest(const std::string& path) {
  std::error_code error;
  if (path.ends_with(".safetensors")) return tensors::SafetensorsFile(tensors::open_file(path)).metadata().contains(vectors::kManifestKey);
  if (path.ends_with(".npz")) {
    const auto all = tensors::list_tensors(path);
    return std::any_of(all.begin(), all.end(), [](const tensors::Tensor& tensor) { return tensor.name == vectors::kManifestName; });
  }
  if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error))
    throw InputError("input " + quoted(path), "it holds no codes with scales", "give a pack folder, a .safetensors or a .npz");
  return true;
}

std::optional<StoredRecipe> stored_recipe(const std::string& path) {
  if (!has_manifest(path)) return std::nullopt;
  const auto pack = vectors::read_pack(path, vectors::Hashes::checked);
  const vectors::Manifest& manifest = pack->manifest();
  const std::string what = "pack " + quoted(path);
  if (!manifest.is_tensor())
    throw InputError(what, "it holds vectors (" + manifest.spec.substr(0, 60) + "), not a quantized tensor", "give what `halfulp quantize` wrote");
  StoredRecipe stored{read_recipe_spec(manifest.spec), 0};
  const vectors::ColumnInfo* codes = manifest.find("codes");
  std::string text;
  std::int64_t axis = 0;
  try {
    const auto details = nlohmann::json::parse(manifest.details);
    details.at("text").get_to(text);
    details.at("axis").get_to(axis);
    if (details.contains("packing")) {
      details.at("shape").get_to(stored.shape);
      stored.packing = find_packing(details.at("packing").get<std::string>());
      if (!stored.packing) throw InputError(what, "its manifest names an unknown packing", "quantize the tensor again");
    }
  } catch (const nlohmann::json::exception&) {
    throw InputError(what, "its manifest does not say the steps and the axis", "quantize the tensor again");
  }
  const auto rank = codes == nullptr ? 0 : static_cast<std::int64_t>(codes->shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) throw InputError(what, "its manifest has codes without that axis", "quantize the tensor again");
  stored.axis = static_cast<std::size_t>(axis);
  if (!recipes::same_steps(recipes::parse_recipe(stored.spec.name, text), stored.spec.recipe)) {
    throw InputError(what, "it was made by other steps than " + stored.spec.label() + " has here (" + manifest.generator.substr(0, 40) + ")",
                     "read it with that version, or quantize again");
  }
  return stored;
}

recipes::QuantRecipe recipe_to_read(const RecipeOptions& options, const std::optional<StoredRecipe>& stored, const std::string& path) {
  if (!stored) {
    if (options.recipe.empty()) {
      throw InputError("input " + quoted(path), "it has no manifest that says how it was made",
                       "name the recipe with --recipe, as `halfulp recipes` lists it");
    }
    return make_recipe(options);
  }
  const recipes::QuantRecipe& recipe = stored->spec.recipe;
  RecipeOptions asked = options;
  if (asked.recipe.empty()) asked.recipe = recipe.name;
  if (asked.to.empty()) asked.to = recipe.code.format_name;
  const auto contradicted = [&](const std::string& asked_for) {
    return InputError("pack " + quoted(path), "it was made by " + recipe.name + " as " + element_and_blocks(recipe) + ", not by " + asked_for,
                      "leave --recipe, --to and --block out: the pack says them");
  };
  recipes::recipe_entry(asked.recipe);  // an unknown name is answered with the nearest
  if (asked.block.empty()) asked.block = recipes::block_words(recipe);
  recipes::QuantRecipe other;
  try {
    other = make_recipe(asked);
  } catch (const InputError&) {
    throw contradicted(asked.recipe + " as " + asked.to + " in blocks of " + asked.block);
  }
  if (!recipes::same_steps(other, recipe)) throw contradicted(other.name + " as " + element_and_blocks(other));
  return recipe;
}

}  // namespace halfulp::tool
