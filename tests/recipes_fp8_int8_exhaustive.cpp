// FP8, INT8, block FP8, SmoothQuant: the engine is its exact twin, the long runs.
#include <algorithm>
#include <iostream>

#include "halfulp/recipes/registry.hpp"
#include "recipe_corners.hpp"

namespace halfulp::test {
namespace {

std::vector<std::string> all_recipes() {
  std::vector<std::string> all;
  for (const auto table : {recipes::fp8_int8_recipes(), recipes::block_fp8_recipes(), recipes::smoothquant_recipes()}) {
    for (const recipes::NamedRecipe& recipe : table) all.emplace_back(recipe.name);
  }
  return all;
}

class RecipesFp8Int8Exhaustive : public testing::TestWithParam<std::string> {};

TEST_P(RecipesFp8Int8Exhaustive, TenMillionElementsAgreeWithTheTwin) {
  constexpr std::uint64_t kElements = 10'000'000, kShare = 250'000;  // a seed per share
  const recipes::QuantRecipe& recipe = recipes::named_recipe(GetParam());
  std::atomic<std::uint64_t> elements{0}, blocks{0};
  parallel(kElements / kShare, [&](std::size_t i) {
    const Swept swept = sweep_corners(recipe, kShare, 100'000 + i);
    elements += swept.elements;
    blocks += swept.blocks;
  });
  EXPECT_GE(elements, kElements);
  std::cout << GetParam() << ": " << elements << " elements, " << blocks << " blocks\n";
}

INSTANTIATE_TEST_SUITE_P(Recipes, RecipesFp8Int8Exhaustive, testing::ValuesIn(all_recipes()), [](const auto& row) {
  std::string name = row.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace
}  // namespace halfulp::test
