// The manifest of a quantized tensor.
#include "quantize_files.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/recipes/step_text.hpp"
#include "recipe_spec.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;

Json steps_json(const recipes::QuantRecipe& recipe, const std::vector<recipes::Step>& steps) {
  Json list = Json::array();
  for (const recipes::Step& step : steps) {
    const recipes::StepText text = recipes::step_text(recipe, step);
    list.push_back({{"per", text.per}, {"result", text.result}, {"operation", text.operation}, {"precision", text.precision},
                    {"rounding", text.rounding}, {"exact", text.exact}});
  }
  return list;
}

}  // namespace

bool is_column_file(const std::string& path) {
  if (path == "-") return false;
  if (path.ends_with('/') || path.ends_with(".safetensors") || path.ends_with(".npz")) return true;
  for (const std::string_view other : {".npy", ".bin", ".json", ".txt"}) {
    if (path.ends_with(other))
      throw InputError("output '" + path + "'", "codes and scales do not fit one array", "name a folder, a .safetensors or a .npz");
  }
  const std::string ending = std::filesystem::path(path).extension().string();
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::error_code error;
  if (ending.size() > 1 && letter(ending[1]) && !std::filesystem::is_directory(path, error)) {
    throw InputError("output '" + path + "'", "its ending '" + ending.substr(0, 40) + "' says no form",
                     "name a .safetensors, a .npz, or a folder as " + path + "/");
  }
  return true;
}

vectors::Manifest quantize_manifest(const recipes::QuantRecipe& recipe, const std::vector<std::uint64_t>& shape, std::size_t axis,
                                    std::optional<Packing> packing) {
  Json details = {{"recipe", recipe.name}, {"element", recipe.code.format_name},
                        {"granularity", recipes::granularity_text(recipe)}, {"text", recipe.text},
                        {"transform", steps_json(recipe, recipe.transform_steps)}, {"quantize", steps_json(recipe, recipe.steps)},
                        {"dequantize", steps_json(recipe, recipe.value_steps)}, {"facts", recipe.facts},
                        {"shape", shape}, {"axis", axis}};
  if (packing) details["packing"] = packing_name(*packing);
  vectors::Manifest manifest;
  manifest.generator = "halfulp " HALFULP_VERSION;
  manifest.kind = "tensor";
  manifest.spec = recipe_spec_text(recipe);
  manifest.details = details.dump();
  manifest.rows = shape.front();
  return manifest;
}

}  // namespace halfulp::tool
