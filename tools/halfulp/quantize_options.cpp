// Recipes and their inputs as users name them.
#include "quantize_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "arguments.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/input_range.hpp"
#include "halfulp/recipes/operations.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/tensors/source.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using recipes::Input;
using recipes::Inputs;
using recipes::PerInput;
using recipes::QuantRecipe;

constexpr std::uint64_t kLargestInput = std::uint64_t{1} << 28;  // values

bool is_file(std::string_view text) {
  for (const std::string_view extension : {".npy", ".npz", ".safetensors"}) {
    if (text.ends_with(extension) || text.find(std::string(extension) + ":") != std::string_view::npos) return true;
  }
  return false;
}

std::vector<double> values_of_file(const std::string& name) {
  const tensors::TensorSource source = tensors::open_tensor(name);
  const auto& spec = source.type().spec;
  if (!spec) throw InputError("tensor '" + name + "'", "its elements are of no format", "give float or integer values");
  if (source.size() > kLargestInput) throw InputError("tensor '" + name + "'", "too many values", "give a smaller one");
  std::vector<std::uint64_t> words(source.size());
  source.read(0, std::span<std::uint64_t>(words));
  std::vector<double> values;
  values.reserve(words.size());
  for (const std::uint64_t word : words) values.push_back(recipes::decode(*spec, word));
  return values;
}

/// Something without the extension of a tensor file that can only have been meant as a file.
void refuse_other_file(std::string_view text) {
  if (text.find(',') != std::string_view::npos || is_code(text) || parse_literal(text).error != LiteralError::malformed) return;
  std::error_code error;
  const bool there = std::filesystem::exists(std::string(text), error);
  if (!there && text.find('/') == std::string_view::npos) return;  // not a number, says number_of
  throw InputError("file " + quoted(text), there ? "its extension says no tensor format" : "no such file, and not a number",
                   "give a number, or a .npy, .npz or .safetensors file");
}

std::vector<double> values_of(std::string_view text, const Format& format) {
  text = trimmed(text);
  if (is_file(text)) return values_of_file(std::string(text));
  refuse_other_file(text);
  std::vector<double> values;
  for (;;) {
    const auto comma = text.find(',');
    values.push_back(number_of(trimmed(text.substr(0, comma)), format));
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

bool reads_in_f64(const QuantRecipe& recipe, int reg) {
  for (const auto* steps : {&recipe.transform_steps, &recipe.steps, &recipe.value_steps}) {
    for (const recipes::Step& step : *steps) {
      if (step.precision == recipes::Precision::f64 && std::count(step.operands.begin(), step.operands.end(), reg) > 0) return true;
    }
  }
  return false;
}

const Input* find_input(const QuantRecipe& recipe, std::string_view name) {
  for (const Input& input : recipe.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

/// `option`: what the user wrote, to blame.
void give(const QuantRecipe& recipe, const std::string& name, std::string_view text, const std::string& option, Inputs& inputs) {
  const Input* input = find_input(recipe, name);
  const bool wide = input != nullptr && reads_in_f64(recipe, input->reg);
  const auto [given, is_new] = inputs.emplace(name, values_of(text, require_format(wide ? "f64" : "f32")));
  if (!is_new) throw InputError("input '" + name + "'", "given twice", "give it once");
  for (const double value : given->second) recipes::check_input_range(name, value, option);
}

/// On the way back: inputs that only quantization reads.
void refuse_unread(const RecipeOptions& options, const QuantRecipe& recipe, const Inputs& inputs) {
  for (const auto& [name, values] : inputs) {
    const Input* input = find_input(recipe, name);
    if (input == nullptr || recipes::reads(recipe.value_steps, input->reg)) continue;  // unknown ones are refused with the tensor
    throw InputError("input '" + name + "'", "no value of recipe " + recipe.name + " is made from it: what was made with it is stored",
                     "leave it out");
  }
  const Input* random = find_input(recipe, "random");
  if (options.seed && random != nullptr && !recipes::reads(recipe.value_steps, random->reg))
    throw InputError("--seed", "no value of recipe " + recipe.name + " is made from random words", "leave it out");
}

std::string how_to_give(const std::string& name) {
  if (name == "scale" || name == "smooth" || name == "codebook") return "add --" + name;
  if (name == "random") return "add --seed N";
  if (name == "outlier_lower" || name == "outlier_upper") return "add --outlier-thresholds LO,HI";
  return "add --set " + name + "=VALUE or " + name + "=FILE";
}

}  // namespace

double number_of(std::string_view text, const Format& format) {
  const std::uint64_t word =
      is_code(text) ? parse_code(text, format) : read_literal_as(read_literal(text), format, text);
  return recipes::decode(format.spec, word);
}

void add_recipe_options(CLI::App& app, RecipeOptions& options) {
  app.add_option("--to", options.to, "Element format, where the recipe has a choice")->type_name("ELEMENT");
  app.add_option("--block", options.block, "Other blocks: N along k, RxC, row, column or tensor")->type_name("N|RxC|…");
  app.add_option("--tensor-amax", options.tensor_amax, "The tensor's largest magnitude, instead of finding it")->type_name("V");
  app.add_option("--tensor-scale", options.tensor_scale, "The stored tensor scale, in the recipe's own direction")
      ->type_name("V")
      ->excludes("--tensor-amax");
  app.add_option("--scale", options.scale, "Static scale: one, or one per block")->type_name("V|FILE");
  app.add_option("--smooth", options.smooth, "Smoothing factors, one per column")->type_name("FILE|V,V…");
  app.add_option("--outlier-thresholds", options.outlier_thresholds, "Outliers are below LO or above HI")->type_name("LO,HI");
  app.add_option("--codebook", options.codebook, "Table of values, one per code")->type_name("FILE|V,V…");
  digits_only(app.add_option("--seed", options.seed, "Of the counter-based random bytes of stochastic recipes")->type_name("N"));
  app.add_option("--set", options.set, "Any input of the recipe by its name: VALUE, V,V,… or a tensor file")
      ->type_name("NAME=VALUE");
}

QuantRecipe make_recipe(const RecipeOptions& options) {
  const std::string name = options.recipe;
  QuantRecipe recipe = options.to.empty() ? recipes::named_recipe(name)
                                          : recipes::named_recipe(recipes::recipe_entry(name).name, options.to);
  return options.block.empty() ? recipe : recipes::with_block(std::move(recipe), options.block);
}

Inputs make_inputs(const RecipeOptions& options, const QuantRecipe& recipe, Direction direction) {
  Inputs inputs;
  const auto give_option = [&](const char* option, const char* name, const std::string& text) {
    if (!text.empty()) give(recipe, name, text, option + (" " + quoted(text)), inputs);
  };
  give_option("--tensor-amax", recipes::kTensorAmax, options.tensor_amax);
  give_option("--tensor-scale", recipes::kTensorScale, options.tensor_scale);
  give_option("--scale", "scale", options.scale);
  give_option("--smooth", "smooth", options.smooth);
  give_option("--codebook", "codebook", options.codebook);
  std::string thresholds = "--set outlier_lower, outlier_upper";
  if (!options.outlier_thresholds.empty()) {
    thresholds = "--outlier-thresholds " + quoted(options.outlier_thresholds);
    const auto both = values_of(options.outlier_thresholds, require_format("f32"));
    if (both.size() != 2)
      throw InputError("outlier-thresholds", "not two values", "write LO,HI; one pair per block goes through "
                       "--set outlier_lower=FILE --set outlier_upper=FILE");
    recipes::check_input_range("outlier_lower", both[0], thresholds);
    recipes::check_input_range("outlier_upper", both[1], thresholds);
    inputs["outlier_lower"] = {both[0]};
    inputs["outlier_upper"] = {both[1]};
  }
  for (const std::string& text : options.set) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      throw InputError("--set " + quoted(text), "not NAME=VALUE", "write e.g. --set ub=1200");
    give(recipe, text.substr(0, equals), std::string_view(text).substr(equals + 1), "--set " + quoted(text), inputs);
  }
  recipes::check_threshold_order(inputs, thresholds);
  if (options.seed && find_input(recipe, "random") == nullptr)
    throw InputError("--seed", "recipe " + recipe.name + " takes no random words", "leave it out");
  if (direction == Direction::back) refuse_unread(options, recipe, inputs);
  else if (inputs.contains(recipes::kTensorScale) && !inputs.contains(recipes::kTensorAmax) && recipes::reads(recipe.value_steps, recipe.A)) {
    throw InputError("--tensor-scale", "values of recipe " + recipe.name + " are made from the tensor's amax, which it does not give",
                     "give --tensor-amax");
  }
  for (const Input& input : recipe.inputs) {
    if (!input.default_literal.empty() || inputs.contains(input.name)) continue;
    if (direction == Direction::back && !recipes::reads(recipe.value_steps, input.reg)) {
      inputs[input.name] = std::vector<double>(input.per == PerInput::table ? static_cast<std::size_t>(input.entries) : 1, 0.0);
      continue;
    }
    if (input.name == "random" && options.seed) continue;
    throw InputError("recipe " + recipe.name, "its input '" + input.name + "' is not given", how_to_give(input.name));
  }
  return inputs;
}

void add_random(const RecipeOptions& options, const QuantRecipe& recipe, std::uint64_t first, std::size_t count, Inputs& inputs) {
  if (!options.seed || find_input(recipe, "random") == nullptr) return;
  std::vector<double> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<double>(counter_random(*options.seed, first + i) & 0xff);
  inputs["random"] = std::move(bytes);
}

bool has_places(const QuantRecipe& recipe, const Inputs& inputs) {
  return std::any_of(recipe.inputs.begin(), recipe.inputs.end(), [&](const Input& input) {
    const auto given = inputs.find(input.name);
    return given != inputs.end() && given->second.size() > 1 && input.per != PerInput::table;
  });
}

}  // namespace halfulp::tool
