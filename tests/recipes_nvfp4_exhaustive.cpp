// NVFP4 recipes: ten million elements of each by engine and twin.
#include <gtest/gtest.h>

#include "halfulp/recipes/registry.hpp"
#include "recipe_sweep.hpp"

namespace halfulp::recipes {
namespace {

std::vector<std::string> all_recipes() {
  std::vector<std::string> all;
  for (const NamedRecipe& entry : nvfp4_recipes()) all.emplace_back(entry.name);
  return all;
}

class Nvfp4Exhaustive : public testing::TestWithParam<std::string> {};

TEST_P(Nvfp4Exhaustive, TenMillionElementsAgreeWithTheTwin) {
  EXPECT_GE(test::sweep_in_parallel(named_recipe(GetParam()), 10000000), 10000000u);
}

INSTANTIATE_TEST_SUITE_P(Recipes, Nvfp4Exhaustive, testing::ValuesIn(all_recipes()), [](const auto& row) {
  std::string name = row.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace
}  // namespace halfulp::recipes
