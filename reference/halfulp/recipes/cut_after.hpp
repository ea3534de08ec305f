// A recipe stopped after one of its steps: what that step gives, in the place of a stored result.
#pragma once

#include <cstddef>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// The recipe up to a step, whose result is stored in binary64 in place of the tensor scale, the block scale or the code.
/// A NaN loses its sign.
QuantRecipe cut_after(const QuantRecipe& recipe, std::size_t step);

}  // namespace halfulp::recipes
