// A row of a recipe pack: one tensor with the recipe's inputs, and what must come out of it.
//
// Decides: what is right. Codes come from the engine and its exact twin, which must agree on every row; a
// disagreement stops everything (Disagreement in expected.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "halfulp/vectors/blocks/recipe_plan.hpp"
#include "halfulp/vectors/expected.hpp"

namespace halfulp::vectors {

/// What a kernel gives, or a dequantizing kernel gets. Lists that are not of the task are empty.
struct RowAnswer {
  std::optional<std::uint64_t> tensor_scale;
  std::vector<std::uint64_t> scales, zeros;  ///< codes, in row-major block order
  std::vector<std::uint64_t> codes;          ///< row-major
  std::vector<std::uint64_t> kept;           ///< 1 where the recipe keeps the element beside the codes
  std::vector<std::uint64_t> values;         ///< words of RecipePlan::value_format()

  friend bool operator==(const RowAnswer&, const RowAnswer&) = default;
};

struct RecipeRow {
  std::vector<double> values;  ///< the tensor; empty when dequantizing
  recipes::Inputs inputs;      ///< of the inputs that vary
  RowAnswer stored;            ///< what is dequantized; empty otherwise
  std::uint32_t flags = 0;     ///< bits of row_flags()
};

/// The row's inputs and the plan's fixed ones, as far as `recipe` has them.
recipes::Inputs inputs_for(const RecipePlan& plan, const recipes::QuantRecipe& recipe, const RecipeRow& row);

/// What a recipe (the plan's own, or another with its shapes) makes of a row, by the engine. Throws
/// InputError when the recipe refuses the row.
RowAnswer answer_by(const RecipePlan& plan, const recipes::QuantRecipe& recipe, const RecipeRow& row);

/// The plan's answer, by engine and exact twin; empty when both refuse the row. Throws Disagreement.
std::optional<RowAnswer> expected_of(const RecipePlan& plan, const RecipeRow& row);

/// Every answer that an admissible choice of approximate steps gives, the printed one first; duplicates
/// left out. One for recipes without such steps.
std::vector<RowAnswer> admissible_answers(const RecipePlan& plan, const RecipeRow& row);

/// The stored results as dequantize() takes them.
recipes::Quantized quantized_of(const RecipePlan& plan, const RowAnswer& stored);

}  // namespace halfulp::vectors
