// Runs rows through engine and twin; see recipe_row.hpp.
#include "halfulp/vectors/blocks/recipe_row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "halfulp/error.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/recipes/admissible.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/quantize_exact.hpp"
#include "halfulp/vectors/blocks/random.hpp"

namespace halfulp::vectors {
namespace {

using recipes::Quantized;
using recipes::QuantRecipe;

constexpr CastPolicy kWiden = {.overflow = Overflow::overflow, .nan_sign = NanSign::positive};

RowAnswer stored_of(const RecipePlan& plan, const QuantRecipe& recipe, const Quantized& q) {
  RowAnswer answer;
  if (!plan.is_varied(recipes::kTensorScale)) answer.tensor_scale = q.tensor_scale;
  answer.scales = q.scales;
  answer.zeros = q.zeros;
  answer.codes = q.codes;
  if (recipe.keep_reg >= 0) {
    answer.kept.assign(q.codes.size(), 0);
    for (const recipes::Kept& kept : q.kept) answer.kept[static_cast<std::size_t>(kept.index)] = 1;
  }
  return answer;
}

std::vector<std::uint64_t> words_of(const RecipePlan& plan, const std::vector<double>& values) {
  const FormatSpec format = find_format(plan.value_format())->spec;
  std::vector<std::uint64_t> words;
  words.reserve(values.size());
  for (const double x : values)
    words.push_back(cast(spec_of("f64"), std::bit_cast<std::uint64_t>(x), format, kWiden).code);
  return words;
}

std::vector<std::uint64_t> words_of(const RecipePlan& plan, const std::vector<oracle::Value>& values) {
  const FormatSpec format = find_format(plan.value_format())->spec;
  std::vector<std::uint64_t> words;
  words.reserve(values.size());
  for (const oracle::Value& x : values) words.push_back(oracle::nearest(x, format, kWiden).code);
  return words;
}

recipes::TensorView view_of(const RecipePlan& plan, const RecipeRow& row) {
  return {plan.rows, plan.columns, row.values};
}

/// Engine or twin, by its two functions.
template <class Quantizer, class Dequantizer>
RowAnswer run(const RecipePlan& plan, const QuantRecipe& recipe, const RecipeRow& row, Quantizer quantizer,
              Dequantizer dequantizer) {
  const recipes::Inputs inputs = inputs_for(plan, recipe, row);
  if (plan.task == Task::dequantize) {
    RowAnswer answer;
    answer.values = words_of(plan, dequantizer(recipe, quantized_of(plan, row.stored), inputs));
    return answer;
  }
  const Quantized q = quantizer(recipe, view_of(plan, row), inputs);
  if (plan.task == Task::quantize) return stored_of(plan, recipe, q);
  RowAnswer answer;
  answer.values = words_of(plan, dequantizer(recipe, q, inputs));
  return answer;
}

template <class Run>
std::optional<RowAnswer> unless_refused(Run body) {
  try {
    return body();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

recipes::Inputs inputs_for(const RecipePlan& plan, const QuantRecipe& recipe, const RecipeRow& row) {
  recipes::Inputs inputs;
  const auto has = [&](const std::string& name) {
    if (name == recipes::kTensorAmax) return recipe.A >= 0;
    if (name == recipes::kTensorScale) return recipe.tensor_scale.reg >= 0;
    return std::any_of(recipe.inputs.begin(), recipe.inputs.end(),
                       [&](const recipes::Input& input) { return input.name == name; });
  };
  for (const auto& [name, value] : plan.fixed) {
    if (has(name)) inputs[name] = {value};
  }
  for (const auto& [name, values] : row.inputs) {
    if (has(name)) inputs[name] = values;
  }
  if (plan.task != Task::dequantize) return inputs;
  for (const recipes::Input& input : recipe.inputs) {  // what only the way there reads
    if (!input.default_literal.empty() || recipes::reads(recipe.value_steps, input.reg)) continue;
    inputs[input.name].assign(input.per == recipes::PerInput::table ? static_cast<std::size_t>(input.entries) : 1, 0.0);
  }
  return inputs;
}

RowAnswer answer_by(const RecipePlan& plan, const QuantRecipe& recipe, const RecipeRow& row) {
  return run(plan, recipe, row, recipes::quantize, recipes::dequantize);
}

std::optional<RowAnswer> expected_of(const RecipePlan& plan, const RecipeRow& row) {
  const auto engine = unless_refused([&] { return answer_by(plan, plan.recipe, row); });
  const auto twin = unless_refused(
      [&] { return run(plan, plan.recipe, row, recipes::quantize_exact, recipes::dequantize_exact); });
  if (engine != twin) {
    throw Disagreement("recipe " + plan.name + ": the engine and its exact twin give different answers; " +
                       spec_text(plan) + " cannot be judged");
  }
  return engine;
}

std::vector<RowAnswer> admissible_answers(const RecipePlan& plan, const RecipeRow& row) {
  std::vector<RowAnswer> answers;
  for (const QuantRecipe& variant : recipes::admissible_variants(plan.recipe)) {
    RowAnswer answer = answer_by(plan, variant, row);
    if (std::find(answers.begin(), answers.end(), answer) == answers.end()) answers.push_back(std::move(answer));
  }
  return answers;
}

Quantized quantized_of(const RecipePlan& plan, const RowAnswer& stored) {
  Quantized q;
  q.blocks = plan.blocks();
  q.tensor_scale = stored.tensor_scale;
  q.scales = stored.scales;
  q.zeros = stored.zeros;
  q.codes = stored.codes;
  return q;
}

}  // namespace halfulp::vectors
