// Recipes with one statement or policy changed: how mutants and behaviours depart from a named recipe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::vectors {

/// The recipe with the first `from` in its text replaced by `to`; empty when it is not there, or the result is no recipe.
std::optional<recipes::QuantRecipe> with_text(const recipes::QuantRecipe& recipe, std::string_view from, std::string_view to);

/// Statements of the way there (quantization), all but those that make a stored scale, or of the way back.
enum class Statements : std::uint8_t { there, behind_scale, back };

/// The recipe with a variable replaced by an expression wherever those statements read it; empty when none does.
std::optional<recipes::QuantRecipe> with_variable(const recipes::QuantRecipe& recipe, std::string_view variable,
                                                  std::string_view expression, Statements where = Statements::there);

/// The expression of a statement, e.g. of `code` or `scale`; empty when there is none.
std::string expression_of(const recipes::QuantRecipe& recipe, std::string_view statement);

/// The recipe with the expression of a statement replaced.
std::optional<recipes::QuantRecipe> with_expression(const recipes::QuantRecipe& recipe, std::string_view statement,
                                                    std::string_view expression);

/// The recipe with the policy of a stored result changed: of the step that makes it.
template <class Change>
recipes::QuantRecipe with_policy(recipes::QuantRecipe recipe, recipes::Stored recipes::QuantRecipe::* stored, Change change) {
  recipes::Stored& target = recipe.*stored;
  for (recipes::Step& step : recipe.steps) {
    if (step.result == target.reg && step.op == recipes::Op::cast) change(step.policy);
  }
  change(target.policy);
  return recipe;
}

}  // namespace halfulp::vectors
