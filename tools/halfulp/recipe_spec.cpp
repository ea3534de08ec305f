// Recipes in one word; see recipe_spec.hpp.
#include "recipe_spec.hpp"

#include <algorithm>

#include "halfulp/error.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/registry.hpp"
#include "values.hpp"

namespace halfulp::tool {

std::string RecipeSpec::label() const {
  return name + (to.empty() ? "" : ",to=" + to) + (block.empty() ? "" : ",block=" + block);
}

RecipeSpec read_recipe_spec(const std::string& text) {
  constexpr std::string_view prefix = "recipe:";
  std::string_view rest = text;
  if (rest.starts_with(prefix)) rest.remove_prefix(prefix.size());
  RecipeSpec spec;
  for (bool first = true; !rest.empty() || first; first = false) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (first) spec.name = part;
    else if (part.starts_with("to=")) spec.to = part.substr(3);
    else if (part.starts_with("block=")) spec.block = part.substr(6);
    else throw InputError(quoted(text) + ", " + quoted(part), "not an option of a recipe here", "use to=ELEMENT and block=N");
  }
  spec.recipe = spec.to.empty() ? recipes::named_recipe(spec.name) : recipes::named_recipe(spec.name, spec.to);
  if (!spec.block.empty()) spec.recipe = recipes::with_block(spec.recipe, spec.block);
  return spec;
}

std::string recipe_spec_text(const recipes::QuantRecipe& recipe) {
  const std::string block = recipes::block_words(recipe);
  const bool own = block == recipes::block_words(recipes::named_recipe(recipe.name));
  return "recipe:" + recipe.name + ",to=" + recipe.code.format_name + (own ? "" : ",block=" + block);
}

}  // namespace halfulp::tool
