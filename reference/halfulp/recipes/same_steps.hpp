// Decides whether two recipes are the same arithmetic: equal answers on every tensor, proved without a search.
#pragma once

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// True when both recipes have the same blocks, inputs and steps in the same order, and store the same results in the same
/// formats. Names, spelling and facts do not count. False proves nothing: other steps may give the same answers.
bool same_steps(const QuantRecipe& a, const QuantRecipe& b);

}  // namespace halfulp::recipes
