// Flags: why a row is in a recipe pack.
#pragma once

#include "halfulp/vectors/blocks/recipe_row.hpp"

namespace halfulp::vectors {

/// Set by the one who chose the row; the other flags are read off it. Bits in the order of row_flags().
inline constexpr std::uint32_t kThresholdFlag = 1, kTieFlag = 2, kPairFlag = 4;

/// The flags that follow from the row and its answer.
std::uint32_t flags_of(const RecipePlan& plan, const RecipeRow& row, const RowAnswer& answer);

}  // namespace halfulp::vectors
