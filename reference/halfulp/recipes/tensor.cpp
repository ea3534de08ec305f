// The cutting of tensors into blocks, and the check of what a caller gives.
#include "halfulp/recipes/tensor.hpp"

#include <algorithm>
#include <bit>

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

void check_block_sizes(const QuantRecipe& recipe, const Blocks& blocks, const std::vector<Step>& steps) {
  const auto uses = [&](Op op) { return std::any_of(steps.begin(), steps.end(), [op](const Step& step) { return step.op == op; }); };
  const bool butterflies = uses(Op::hadamard), tiles = uses(Op::tree_sum);
  if ((!butterflies && !tiles) || blocks.count() == 0) return;
  // Blocks of one tensor have at most two heights and two widths: the last of either may be cut.
  const auto cut = [](std::int64_t whole, std::int64_t block) { return whole % block == 0 ? block : whole % block; };
  for (const std::int64_t rows : {std::min(blocks.rows, blocks.block_rows), cut(blocks.rows, blocks.block_rows)}) {
    for (const std::int64_t columns : {std::min(blocks.columns, blocks.block_columns), cut(blocks.columns, blocks.block_columns)}) {
      const auto elements = static_cast<std::uint64_t>(rows * columns);
      const std::string what = "recipe " + recipe.name + ", a block of " + std::to_string(elements) + (elements == 1 ? " element" : " elements");
      if (butterflies && !std::has_single_bit(elements))
        throw InputError(what, "its step hadamard needs a power of two", "pad the tensor");
      if (tiles && elements != 256) throw InputError(what, "its step tree_sum needs a whole tile of 16 x 16", "pad the tensor");
    }
  }
}

}  // namespace halfulp::recipes
