// FP8, INT8, block FP8, SmoothQuant: the engine is its exact twin, the long runs.
#include <iostream>

#include "halfulp/recipes/registry.hpp"
#include "recipe_corners.hpp"

namespace halfulp::test {
namespace {

TEST(RecipesFp8Int8Exhaustive, EngineIsTheExactTwinOnTenMillionElementsOfEveryRecipe) {
  constexpr std::uint64_t kElements = 10'000'000, kShare = 250'000;  // a seed per share
  std::vector<std::string_view> names;
  for (const auto table :
       {recipes::fp8_int8_recipes(), recipes::block_fp8_recipes(), recipes::smoothquant_recipes()}) {
    for (const recipes::NamedRecipe& recipe : table) names.push_back(recipe.name);
  }
  std::atomic<std::uint64_t> elements{0}, blocks{0};
  parallel(names.size() * (kElements / kShare), [&](std::size_t i) {
    const std::string_view name = names[i % names.size()];
    // The factor is one number per channel, found by binary64 logarithms, which cost a hundred times the
    // other steps.
    const std::uint64_t share = name == "smoothquant/factor" ? kShare / 100 : kShare;
    const Swept swept = sweep_corners(recipes::named_recipe(name), share, 100'000 + i);
    if (HasFailure()) return;
    EXPECT_GE(swept.elements, share) << name;
    elements += swept.elements;
    blocks += swept.blocks;
  });
  std::cout << names.size() << " recipes, " << elements << " elements, " << blocks << " blocks\n";
}

}  // namespace
}  // namespace halfulp::test
