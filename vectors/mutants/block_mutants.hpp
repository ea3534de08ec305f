// The tables of wrong quantizers and dequantizers, and what their lines are made of.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "halfulp/vectors/blocks/recipe_edits.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/row_changes.hpp"

namespace halfulp::vectors {

/// A mutant changes the recipe's text, its policies, or what becomes of a row.
struct BlockMutantLine {
  const char* name;
  const char* about;
  const char* spec;
  std::vector<std::pair<const char*, const char*>> edits = {};  ///< first `from` in the text becomes `to`
  void (*policies)(recipes::QuantRecipe&) = nullptr;
  std::optional<RowAnswer> (*row)(const RecipePlan&, const RecipeRow&) = nullptr;
};

std::span<const BlockMutantLine> scale_mutants();    ///< maxima and scales
std::span<const BlockMutantLine> element_mutants();  ///< factors and element casts
std::span<const BlockMutantLine> memory_mutants();   ///< order, layout, axis, stale memory
std::span<const BlockMutantLine> decode_mutants();   ///< the way back

/// What the recipe itself gives.
inline RowAnswer right(const RecipePlan& plan, const RecipeRow& row) { return answer_by(plan, plan.recipe, row); }

}  // namespace halfulp::vectors
