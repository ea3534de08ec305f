// Recipe claims: whether the rows of a recipe pack are those of the level that its manifest names.
#pragma once

#include <string>

#include "halfulp/vectors/blocks/recipe_rows.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

/// Chooses the rows of the manifest's level and seed again and compares them with the pack's, which have been
/// judged; adds to these the flags that say why they were chosen. Throws InputError for the completeness
/// `exhaustive` or `complete_for_monotone`, which no tensors prove, for other rows than the level's, and for
/// another count of refused rows.
void require_claims(const RecipePlan& plan, const Manifest& manifest, RecipeRows& rows);

}  // namespace halfulp::vectors
