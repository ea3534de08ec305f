// The manifest of a quantized tensor.
#include "quantize_files.hpp"

#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/recipes/step_text.hpp"

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
  for (const std::string_view other : {".npy", ".bin", ".json", ".txt"}) {
    if (path.ends_with(other))
      throw InputError("output '" + path + "'", "codes and scales do not fit one array", "name a folder, a .safetensors or a .npz");
  }
  return true;
}

vectors::Manifest quantize_manifest(const recipes::QuantRecipe& recipe, const std::vector<std::uint64_t>& shape, int axis) {
  const Json details = {{"recipe", recipe.name}, {"element", recipe.code.format_name},
                        {"granularity", recipes::granularity_text(recipe)}, {"text", recipe.text},
                        {"transform", steps_json(recipe, recipe.transform_steps)}, {"quantize", steps_json(recipe, recipe.steps)},
                        {"dequantize", steps_json(recipe, recipe.value_steps)}, {"facts", recipe.facts},
                        {"shape", shape}, {"axis", axis}};
  vectors::Manifest manifest;
  manifest.generator = "halfulp " HALFULP_VERSION;
  manifest.kind = "tensor";
  manifest.spec = "recipe:" + recipe.name + ",to=" + recipe.code.format_name;
  manifest.details = details.dump();
  manifest.rows = shape.front();
  return manifest;
}

}  // namespace halfulp::tool
