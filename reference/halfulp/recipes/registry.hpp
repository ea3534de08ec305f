// The named recipes, `scheme/producer`, as text in one table per family.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

struct NamedRecipe {
  std::string_view name;
  std::string_view text;  ///< parse.hpp
  std::string_view mark;  ///< how it is known: source, report, derived, unverified; run: compared with the package
  std::string_view note = {};
};

/// FP8 and INT8: per tensor, token, channel; static and dynamic.
std::span<const NamedRecipe> fp8_int8_recipes();
/// FP8 with one scale per 1x128 or 128x128.
std::span<const NamedRecipe> block_fp8_recipes();
/// SmoothQuant, and 8-bit weights under 16-bit activations.
std::span<const NamedRecipe> smoothquant_recipes();
/// MX in all scale rules.
std::span<const NamedRecipe> mx_recipes();
/// NVFP4 in all producers' orders.
std::span<const NamedRecipe> nvfp4_recipes();
/// KV caches, rotations, integer zero points, GGML blocks.
std::span<const NamedRecipe> cache_recipes();

/// Every name, in the order of the tables.
std::vector<std::string_view> recipe_names();

/// The entry of a recipe; throws InputError with the nearest names.
const NamedRecipe& recipe_entry(std::string_view name);

/// The recipe, parsed once and kept.
const QuantRecipe& named_recipe(std::string_view name);

}  // namespace halfulp::recipes
