// A recipe with other blocks than its own: the option `block=` of specifications.
#pragma once

#include <string>
#include <string_view>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// The same steps over other blocks. `rows` and `columns` count for groups (rows = 1) and tiles only.
QuantRecipe with_granularity(QuantRecipe recipe, Granularity granularity, int rows = 0, int columns = 0);

/// The same by words: `tensor`, `row`, `column`, `N` (a group of N along k) or `RxC` (a tile). Throws
/// InputError for others.
QuantRecipe with_block(QuantRecipe recipe, std::string_view block);

/// The words that give a recipe's blocks to with_block(): `tensor`, `row`, `column`, `128`, `128x128`.
std::string block_words(const QuantRecipe& recipe);

}  // namespace halfulp::recipes
