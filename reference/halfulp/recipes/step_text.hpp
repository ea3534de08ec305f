// Recipes as people read them: each step with its operation, precision and rounding.
#pragma once

#include <string>

#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {

struct StepText {
  std::string per;        ///< tensor, block or element
  std::string result;     ///< a variable, or %N for a part of an expression
  std::string operation;  ///< with its operands by name
  std::string precision;  ///< empty where nothing is rounded
  std::string rounding;
  bool exact = true;  ///< false where several results are admissible
};

StepText step_text(const QuantRecipe& recipe, const Step& step);

std::string name_of(PerInput per);

/// `row`, `16 of k`, `128 x 128` …
std::string granularity_text(const QuantRecipe& recipe);

/// The whole recipe: header, inputs, numbered steps, facts.
std::string recipe_text(const NamedRecipe& entry, const QuantRecipe& recipe);

}  // namespace halfulp::recipes
