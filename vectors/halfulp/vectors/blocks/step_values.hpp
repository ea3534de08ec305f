// The steps of a recipe with the values that they give in one block: what a failure card shows.
#pragma once

#include <string>
#include <vector>

#include "halfulp/recipes/step_text.hpp"
#include "halfulp/vectors/blocks/recipe_row.hpp"

namespace halfulp::vectors {

struct StepValue {
  recipes::StepText text;
  double value = 0;
};

/// The steps of quantization in order, each with its value for the tensor, the block, or the element
/// (`element`: row-major place in the tensor; -1 leaves element steps out). Constants are left out.
std::vector<StepValue> step_values(const RecipePlan& plan, const RecipeRow& row, std::int64_t block, std::int64_t element);

}  // namespace halfulp::vectors
