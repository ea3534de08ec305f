// Behaviours of kernels for recipes that have names: other recipes, departures from one, ways of handling rows.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/vectors/blocks/recipe_row.hpp"

namespace halfulp::vectors {

/// What is done to rows before a recipe, to its answers behind it, or instead of it. Each may be empty.
struct Handling {
  std::string label;
  std::function<RecipeRow(const RecipePlan&, RecipeRow)> before;
  std::function<std::optional<RowAnswer>(const RecipePlan&, const RecipeRow&, RowAnswer)> behind;
  std::function<std::optional<RowAnswer>(const RecipePlan&, const RecipeRow&)> instead;
};

struct Behaviour {
  std::string label;
  bool named = false;
  int departures = 1;
  recipes::QuantRecipe recipe;
  Handling handling;
};

/// Named recipes with the plan's columns, departures from the plan's recipe, and handlings of its rows.
std::vector<Behaviour> simple_behaviours(const RecipePlan& plan);

/// Named recipes together with a handling of rows.
std::vector<Behaviour> combined_behaviours(const RecipePlan& plan);

/// What a behaviour gives for a row; empty when it refuses the row or does not apply.
std::optional<RowAnswer> answer_of(const RecipePlan& plan, const Behaviour& behaviour, const RecipeRow& row);

/// Every answer of its approximate steps, in the plan's words.
std::vector<RowAnswer> admissible_answers_of(const RecipePlan& plan, const Behaviour& behaviour, const RecipeRow& row);

}  // namespace halfulp::vectors
