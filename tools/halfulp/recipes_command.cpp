// `halfulp recipes`: the named recipes, or one as its ordered steps.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "halfulp/names.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/recipes/step_text.hpp"
#include "streams.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;
using recipes::QuantRecipe;
using recipes::Step;

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp recipes vllm\n"
    "  halfulp recipes nvfp4/transformer_engine\n"
    "  halfulp recipes fp8_per_token/vllm_cuda --json";

Json steps_json(const QuantRecipe& recipe, const std::vector<Step>& steps) {
  Json list = Json::array();
  for (const Step& step : steps) {
    const recipes::StepText text = recipes::step_text(recipe, step);
    list.push_back({{"per", text.per}, {"result", text.result}, {"operation", text.operation}, {"precision", text.precision},
                    {"rounding", text.rounding}, {"exact", text.exact}});
  }
  return list;
}

Json to_json(const recipes::NamedRecipe& entry, const QuantRecipe& recipe) {
  Json inputs = Json::array();
  for (const recipes::Input& input : recipe.inputs) {
    inputs.push_back({{"name", input.name}, {"per", recipes::name_of(input.per)}, {"default", input.default_literal}});
  }
  return {{"name", entry.name}, {"evidence", entry.mark}, {"note", entry.note}, {"granularity", recipes::granularity_text(recipe)},
          {"amax_nan", recipe.amax_propagates_nan ? "propagate" : "drop"}, {"inputs", inputs}, {"element", recipe.code.format_name},
          {"scale", recipe.scale.format_name}, {"zero", recipe.zero.format_name}, {"tensor_scale", recipe.tensor_scale.format_name},
          {"quantize", steps_json(recipe, recipe.steps)}, {"dequantize", steps_json(recipe, recipe.value_steps)},
          {"facts", recipe.facts}, {"exact_steps", recipe.exact_steps()}, {"text", recipe.text}};
}

std::string table_line(const recipes::NamedRecipe& entry, const QuantRecipe& recipe) {
  const auto cell = [](std::string text, std::size_t width) {
    text.resize(std::max(text.size() + 1, width), ' ');
    return text;
  };
  return cell(std::string(entry.name), 38) + cell(recipes::granularity_text(recipe), 14) + cell(recipe.code.format_name, 8) +
         cell(recipe.scale.reg < 0 ? "-" : recipe.scale.format_name, 7) + std::string(entry.mark) + "\n";
}

/// Names with the word as a family or a producer, whole or in part.
std::vector<std::string_view> names_with(const std::string& word) {
  std::vector<std::string_view> names = recipes::recipe_names();
  std::erase_if(names, [&](std::string_view name) { return name.find(word) == std::string_view::npos; });
  return names;
}

int run_recipes(const std::string& name, const Globals& globals) {
  Output output;
  const std::vector<std::string_view> listed = names_with(name);
  if (listed.empty() || std::find(listed.begin(), listed.end(), name) != listed.end()) {
    const recipes::NamedRecipe& entry = recipes::recipe_entry(name);
    const QuantRecipe& recipe = recipes::named_recipe(name);
    output.text() += globals.json ? to_json(entry, recipe).dump() + "\n" : recipes::recipe_text(entry, recipe);
  } else {
    if (!globals.json) output.text() += "name                                  one scale per element scale  evidence\n";
    for (const std::string_view each : listed) {
      const recipes::NamedRecipe& entry = recipes::recipe_entry(each);
      const QuantRecipe& recipe = recipes::named_recipe(each);
      output.text() += globals.json ? to_json(entry, recipe).dump() + "\n" : table_line(entry, recipe);
      output.line_done();
    }
  }
  output.flush();
  return kPassed;
}

}  // namespace

void add_recipes(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("recipes", "List the quantization recipes, or print one step by step");
  const auto name = std::make_shared<std::string>();
  command->add_option("NAME", *name, "A recipe, scheme/producer, or a part of names, which lists those that have it");
  command->footer(kExamples);
  command->callback([name, &globals, &runner] { runner = [name, &globals] { return run_recipes(*name, globals); }; });
}

}  // namespace halfulp::tool
