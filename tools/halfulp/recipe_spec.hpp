// `[recipe:]NAME[,to=ELEMENT][,block=BLOCK]`: a recipe with its element and blocks in one word, as `diff` takes it and the
// manifest of a quantized tensor says it.
#pragma once

#include <string>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::tool {

struct RecipeSpec {
  std::string name, to, block;  ///< as written; `to` and `block` may be empty
  recipes::QuantRecipe recipe;

  /// NAME with the options that were written.
  std::string label() const;
};

/// Throws InputError, with the nearest names where a name is unknown.
RecipeSpec read_recipe_spec(const std::string& text);

/// `recipe:NAME,to=ELEMENT`, and `,block=BLOCK` where the blocks are not the recipe's own.
std::string recipe_spec_text(const recipes::QuantRecipe& recipe);

}  // namespace halfulp::tool
