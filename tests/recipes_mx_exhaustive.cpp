// MX recipes: ten million elements of each recipe and element by engine and twin; every mantissa of the
// round-up rule.
#include <gtest/gtest.h>

#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_sweep.hpp"

namespace halfulp::recipes {
namespace {

using namespace halfulp::test;

using Named = std::pair<std::string, std::string>;

std::vector<Named> all_recipes() {
  std::vector<Named> all;
  for (const NamedRecipe& entry : mx_recipes()) {
    for (const std::string& element : recipe_elements(entry.name)) all.emplace_back(entry.name, element);
  }
  return all;
}

class MxExhaustive : public testing::TestWithParam<Named> {};

TEST_P(MxExhaustive, TenMillionElementsAgreeWithTheTwin) {
  const QuantRecipe& recipe = named_recipe(GetParam().first, GetParam().second);
  EXPECT_GE(sweep_in_parallel(recipe, 10000000), 10000000u);
}

INSTANTIATE_TEST_SUITE_P(Recipes, MxExhaustive, testing::ValuesIn(all_recipes()), [](const auto& row) {
  std::string name = row.param.first + "_" + row.param.second;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

TEST(MxExhaustive, RoundUpByProductAndByQuotientAgreeForEveryMantissaAndElement) {
  const std::tuple<const char*, const char*, const char*> rows[] = {{"mxfp8/rceil", "e4m3", "448"},
                                                                    {"mxfp8/rceil", "e5m2", "57344"},
                                                                    {"mxfp6/rceil", "e2m3", "7.5"},
                                                                    {"mxfp6/rceil", "e3m2", "28"},
                                                                    {"mxfp4/rceil", "e2m1", "6"}};
  for (const auto& [name, element, largest] : rows) {
    const QuantRecipe& product = named_recipe(name, element);
    const QuantRecipe quotient =
        parse_recipe("quotient", "granularity group 32\nscale e8m0:toward_positive,zero=min a / " +
                                     std::string(largest) + "\ncode e4m3 x\nvalue v\n");
    std::vector<std::function<void()>> jobs;
    for (std::uint32_t part = 0; part < 128; ++part) {
      jobs.emplace_back([&, part] {
        Tensor tensor = filled(1 << 16, 1, 0);
        for (std::uint32_t i = 0; i < 1u << 16; ++i)
          tensor.values[i] = std::bit_cast<float>(0x3f800000u + (part << 16) + i);
        EXPECT_EQ(quantize(product, tensor.view()).scales, quantize(quotient, tensor.view()).scales);
      });
    }
    in_parallel(jobs);
  }
}

}  // namespace
}  // namespace halfulp::recipes
