// The cutting of tensors into blocks, and the check of what a caller gives.
#include "halfulp/recipes/tensor.hpp"

#include <algorithm>

#include "halfulp/error.hpp"

namespace halfulp::recipes {

Blocks blocks_of(const QuantRecipe& recipe, std::int64_t rows, std::int64_t columns) {
  Blocks b{rows, columns, std::max(recipe.rows, 1), std::max(recipe.columns, 1)};
  const bool whole_rows = recipe.granularity == Granularity::tensor || recipe.granularity == Granularity::row;
  const bool whole_columns = recipe.granularity == Granularity::tensor || recipe.granularity == Granularity::column;
  if (whole_rows) b.block_columns = std::max<std::int64_t>(columns, 1);
  if (whole_columns) b.block_rows = std::max<std::int64_t>(rows, 1);
  return b;
}

std::optional<double> given_value(const Inputs& inputs, const char* name) {
  const auto given = inputs.find(name);
  return given == inputs.end() || given->second.size() != 1 ? std::nullopt : std::optional(given->second[0]);
}

bool reads(const std::vector<Step>& steps, int reg) {
  return reg >= 0 && std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
           return std::find(step.operands.begin(), step.operands.end(), reg) != step.operands.end();
         });
}

std::optional<double> tensor_amax_of(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs) {
  const auto given = given_value(inputs, kTensorAmax);
  const auto amax = given ? given : quantized.tensor_amax;
  if (!amax && reads(recipe.value_steps, recipe.A)) {
    throw InputError("recipe " + recipe.name, "its values are made from the tensor's amax, which is not given", "add --tensor-amax");
  }
  return amax;
}

void check_inputs(const QuantRecipe& recipe, const Blocks& blocks, const Inputs& inputs) {
  for (const Input& input : recipe.inputs) {
    const auto given = inputs.find(input.name);
    if (given == inputs.end()) {
      if (!input.default_literal.empty()) continue;
      throw InputError("recipe " + recipe.name, "its input '" + input.name + "' is not given", "add --" + input.name);
    }
    std::int64_t places = 1;
    if (input.per == PerInput::block) places = blocks.count();
    if (input.per == PerInput::column) places = blocks.columns;
    if (input.per == PerInput::element) places = blocks.rows * blocks.columns;
    const auto size = static_cast<std::int64_t>(given->second.size());
    if (input.per == PerInput::table) places = input.entries;
    if ((size != 1 || input.per == PerInput::table) && size != places) {
      throw InputError("recipe " + recipe.name + ", input '" + input.name + "'",
                       std::to_string(size) + (size == 1 ? " value for " : " values for ") + std::to_string(places) + (places == 1 ? " place" : " places"), "give one value, or one for each");
    }
  }
  for (const auto& given : inputs) {
    const auto known = [&](const Input& input) { return input.name == given.first; };
    if (given.first == kTensorAmax && recipe.A >= 0 && given.second.size() == 1) continue;
    if (given.first == kTensorScale && recipe.tensor_scale.reg >= 0 && given.second.size() == 1) continue;
    if (std::none_of(recipe.inputs.begin(), recipe.inputs.end(), known)) {
      throw InputError("recipe " + recipe.name, "it has no input '" + given.first + "'",
                       "`halfulp recipes " + recipe.name + "` shows its inputs");
    }
  }
}

}  // namespace halfulp::recipes
