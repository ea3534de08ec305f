// Rows of packs that test dequantizers: stored results of every kind.
#pragma once

#include "halfulp/vectors/blocks/recipe_row.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {

/// Every pair of scale and element code where scales are codes of at most 8 bits; otherwise special and
/// random scales under all element codes.
std::vector<RecipeRow> stored_rows(const RecipePlan& plan, Level level, std::uint64_t seed);

/// Scales near 1 and random codes that stand for finite numbers.
std::vector<RecipeRow> random_stored_rows(const RecipePlan& plan, std::size_t count, std::uint64_t seed);

}  // namespace halfulp::vectors
