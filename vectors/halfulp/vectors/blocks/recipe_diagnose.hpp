// diagnose_blocks(): which named behaviour explains what a kernel for a recipe gave.
//
// The space: every named recipe with the same columns, in the plan's blocks; and the plan's recipe with one
// departure - rounding, overflow, NaN rule, order of operations, scale rule, amax, precision, packing, layout,
// axis, stale memory. Scored in one pass: all on the first rows, then only those that still fit and the best
// of the others. Steps with several admissible results count as explained by any of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/vectors/blocks/recipe_judge.hpp"

namespace halfulp::vectors {

struct BlockFit {
  std::string behaviour;  ///< e.g. `recipe:nvfp4/flashinfer`, `codes rounding=ties_to_away`
  bool named = false;     ///< a named recipe as it is
  int departures = 1;     ///< how many things are not as the SPEC says
  std::uint64_t rows = 0, blocks = 0;  ///< matched, of those scored
  std::uint64_t explained = 0;         ///< of the rows that differ from the SPEC, how many it gives
  std::optional<BlockCase> unexplained;  ///< of the first row that it does not give
};

struct BlockDiagnosis {
  std::uint64_t rows = 0, blocks = 0;       ///< scored
  std::uint64_t rows_by_spec = 0;           ///< of these, how many follow the SPEC
  std::uint64_t behaviours = 0;             ///< tried
  std::vector<BlockFit> fits;               ///< those of the fewest departures that give every row, named recipes first; else the best

  bool exact() const { return !fits.empty() && fits[0].rows == rows; }
};

/// Explains the answers. `most` limits the partial fits that are returned.
BlockDiagnosis diagnose_blocks(const RecipePlan& plan, const RecipeRows& rows, const std::vector<RowAnswer>& answers, std::size_t most = 3);

}  // namespace halfulp::vectors
