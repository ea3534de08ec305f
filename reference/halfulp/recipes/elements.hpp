// Recipes that exist for several element formats: MX families, whose constants follow from the element.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// The element formats that a recipe can be had with, its default first; its own alone for most.
std::vector<std::string> recipe_elements(std::string_view name);

/// The recipe's text for one of its elements (canonical names). Throws InputError for any other element.
std::string recipe_text(std::string_view name, std::string_view element);

/// The recipe for one of its elements, by canonical name or alias; parsed once and kept.
const QuantRecipe& named_recipe(std::string_view name, std::string_view element);

/// Blank-separated elements of an MX recipe, and its text for one; empty for names that are not MX.
std::string_view mx_elements(std::string_view name);
std::string mx_text(std::string_view name, std::string_view element);

}  // namespace halfulp::recipes
