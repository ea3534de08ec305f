// The rows of a recipe pack at a level: tensors chosen to tell wrong quantizers from right ones.
//
//   specials    blocks of zeros of either sign, NaN, Inf, subnormals, the largest numbers, one outlier
//   thresholds  those, the block maximum at every threshold of the scale and one ulp beside it, elements at
//               ties of their own rounding
//   stratified  those, every kind of filling at every magnitude, and every reachable pair of scale and
//   element
//               code
// A tensor scale is made from all blocks: there, block 0 holds the largest magnitude and the others are
// placed relative to it.
#pragma once

#include <span>
#include <vector>

#include "halfulp/vectors/blocks/recipe_row.hpp"
#include "halfulp/vectors/levels.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

struct RecipeRows {
  std::vector<RecipeRow> rows;
  std::vector<RowAnswer> expected;  ///< one per row
  std::uint64_t refused = 0;        ///< rows of the level that the recipe refuses: left out
};

/// The rows of a level before any is judged: some the recipe may refuse. Their flags lack what only the
/// answers show. Throws InputError for `exhaustive`, which recipes do not have.
std::vector<RecipeRow> chosen_rows(const RecipePlan& plan, Level level, std::uint64_t seed);

/// The rows of a level with their answers, the same on every machine and for every number of threads.
/// Throws InputError for `exhaustive`, which recipes do not have; Disagreement where engine and twin part.
RecipeRows level_rows(const RecipePlan& plan, Level level, std::uint64_t seed, int threads = 1);

/// Random tensors of the same number and shape, N(0, 1): what is commonly tested with.
RecipeRows random_rows(const RecipePlan& plan, std::size_t count, std::uint64_t seed);

/// Fills in the answers of rows, and drops those that are refused.
RecipeRows judged_rows(const RecipePlan& plan, std::vector<RecipeRow> rows, int threads = 1);

/// What the bits of RecipeRow::flags stand for.
const std::vector<FlagNote>& row_flags();

}  // namespace halfulp::vectors
