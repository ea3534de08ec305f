// One departure from a recipe at a time: policies, order of operations, precision, scale rules.
#pragma once

#include <string>
#include <vector>

#include "halfulp/recipes/recipe.hpp"
#include "halfulp/vectors/blocks/recipe_plan.hpp"

namespace halfulp::vectors {

struct Departure {
  std::string label;
  recipes::QuantRecipe recipe;
  int fields = 1;  ///< how many things it changes
};

/// Departures of the way that the task goes. Those that do not apply to the recipe's text are not there.
std::vector<Departure> departures_of(const RecipePlan& plan);

}  // namespace halfulp::vectors
