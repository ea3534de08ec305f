// Tables that cache_recipes() joins.
#pragma once

#include <span>

#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {

/// Integer zero points, QuaRot, KVQuant.
std::span<const NamedRecipe> integer_recipes();
/// GGML blocks.
std::span<const NamedRecipe> ggml_recipes();

}  // namespace halfulp::recipes
