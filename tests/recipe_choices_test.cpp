// Steps with several admissible results, and the two copies of a matrix.
#include <gtest/gtest.h>

#include <bit>

#include "halfulp/recipes/admissible.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/recipes/two_copies.hpp"
#include "recipe_lines.hpp"
#include "recipe_twins.hpp"

namespace halfulp::recipes {
namespace {

using namespace halfulp::test;

Step approximate(Op op) {
  Step step;
  step.op = op;
  return step;
}

TEST(AdmissibleChoices, ResultsWithinOneUlpOfTheExactOne) {
  Random random(5);
  for (int i = 0; i < 20000; ++i) {
    const float x =
        std::bit_cast<float>(static_cast<std::uint32_t>(0x20000000u + random.below(0x3f000000u)));
    const std::vector<double> results = admissible_results(approximate(Op::reciprocal_approx), x);
    ASSERT_GE(results.size(), 2u);
    bool nearest = false;
    for (const double r : results) {
      // |r - 1/x| <= ulp, without a division: |r x - 1| <= ulp |x|, exact in binary64 up to its last bit
      const double ulp = std::ldexp(1.0, std::ilogb(1.0 / x) - 23);
      EXPECT_LE(std::fabs(std::fma(r, x, -1.0)), ulp * x) << std::hexfloat << x;
      nearest = nearest || r == static_cast<double>(1.0f / x);
    }
    EXPECT_TRUE(nearest);
  }
  EXPECT_EQ(admissible_results(approximate(Op::reciprocal_approx), 4),
            (std::vector<double>{0x1.fffffep-3, 0.25, 0x1.000002p-2}));
  EXPECT_EQ(admissible_results(approximate(Op::reciprocal_approx), 6),
            (std::vector<double>{0x1.555554p-3, 0x1.555556p-3}));
  EXPECT_EQ(admissible_results(approximate(Op::reciprocal_approx), 0x1p-127),
            std::vector<double>{HUGE_VAL});  // subnormal in
  EXPECT_EQ(admissible_results(approximate(Op::reciprocal_approx), 0x1p+127),
            std::vector<double>{0});  // subnormal out
  EXPECT_EQ(admissible_results(approximate(Op::log2), 8),
            (std::vector<double>{0x1.7ffffep+1, 3, 0x1.800002p+1}));
  EXPECT_EQ(admissible_results(approximate(Op::exp2), HUGE_VAL), std::vector<double>{HUGE_VAL});
}

TEST(AdmissibleChoices, BothEnginesMakeTheSameChoices) {
  for (const char* name : {"nvfp4/flashinfer", "mxfp8/flashinfer", "mxfp4/flashinfer", "mx/microxcaling"}) {
    const std::vector<QuantRecipe> variants = admissible_variants(named_recipe(name));
    EXPECT_EQ(variants.size(), std::string_view(name) == "nvfp4/flashinfer"   ? 27u
                               : std::string_view(name) == "mxfp4/flashinfer" ? 3u
                                                                              : 9u)
        << name;
    for (const QuantRecipe& variant : variants) {
      const Tensor tensor = aimed_at_ties(variant, stratified(variant, 2, 96, 9, kFiniteFillings), {}, 10);
      EXPECT_EQ(compare_with_twin(variant, tensor), 192u) << name;
    }
  }
  EXPECT_EQ(admissible_variants(named_recipe("nvfp4/transformer_engine")).size(), 1u);
}

TEST(AdmissibleChoices, LinesThatCouldDiffer) {
  const QuantRecipe& recipe = named_recipe("nvfp4/vllm");
  Tensor tensor = filled(4, 16, 0);
  tensor.values[0] = 6;  // A, factor 1 exactly: codes of 0.3 and 3.9 are far from any tie
  tensor.values[1] = 0.3;
  tensor.values[16] = 5.9;  // scale and codes far from ties
  tensor.values[17] = 0.1;
  tensor.values[32] = 6;  // 2.5 is a tie
  tensor.values[33] = 2.5;
  const std::vector<bool> differ = lines_that_could_differ(recipe, tensor.view());
  EXPECT_EQ(differ, (std::vector<bool>{false, false, true, false}));
  for (const NamedRecipe& entry : nvfp4_recipes()) {
    const QuantRecipe& each = named_recipe(entry.name);
    if (!each.exact_steps() || !each.inputs.empty() || each.rows > 1) continue;
    EXPECT_EQ(lines_that_could_differ(each, tensor.view()),
              std::vector<bool>(static_cast<std::size_t>(blocks_of(each, 4, 16).count()), false));
  }
}

TEST(AdmissibleChoices, AJudgeAcceptsEveryChoiceAndNothingElse) {
  const QuantRecipe& recipe = named_recipe("nvfp4/flashinfer");
  const Tensor tensor = aimed_at_ties(recipe, stratified(recipe, 8, 64, 3, kFiniteFillings), {}, 4);
  const std::vector<bool> differ = lines_that_could_differ(recipe, tensor.view());
  for (const QuantRecipe& variant : admissible_variants(recipe)) {
    const std::vector<bool> right =
        lines_that_are_admissible(recipe, tensor.view(), quantize(variant, tensor.view()));
    EXPECT_EQ(std::count(right.begin(), right.end(), false), 0);
  }
  Quantized wrong = quantize(recipe, tensor.view());
  for (std::uint64_t& code : wrong.codes) code ^= 1;
  const std::vector<bool> right = lines_that_are_admissible(recipe, tensor.view(), wrong);
  EXPECT_EQ(std::count(right.begin(), right.end(), true), 0);
  EXPECT_GT(std::count(differ.begin(), differ.end(), true), 4);
  EXPECT_GT(std::count(differ.begin(), differ.end(), false), 0);
}

TEST(TwoCopies, ATransposedCopyIsMadeFromTheOriginal) {
  for (const char* name : {"mxfp8/ocp_floor", "mxfp8/rceil", "mxfp8/transformer_engine"}) {
    const QuantRecipe& recipe = named_recipe(name);
    Tensor x = filled(32, 32, 0);
    x.values[0] = 448;
    x.values[1] = 0x1.2p-8;
    const TwoCopies both = quantize_both_ways(recipe, x.view());
    EXPECT_EQ(both.rows.scales[0], 0x7fu);
    EXPECT_EQ(both.rows.codes[1], 0x02u);
    EXPECT_EQ(dequantize(recipe, both.rows)[1], 0x1p-8);
    EXPECT_EQ(both.columns.scales[1], 0x6fu);
    EXPECT_EQ(both.columns.codes[32], 0x79u);
    EXPECT_EQ(dequantize(recipe, both.columns)[32], 0x1.2p-8);
    const std::vector<Requantized> changed = changed_by_requantizing(recipe, x.view());
    ASSERT_EQ(changed.size(), 1u);
    EXPECT_EQ(std::pair(changed[0].row, changed[0].column), std::pair(std::int64_t{0}, std::int64_t{1}));
    EXPECT_EQ(changed[0].scale_from_rows, 0x6fu);
    EXPECT_EQ(changed[0].code_from_original, 0x79u);
    EXPECT_EQ(changed[0].code_from_rows, 0x78u);
    EXPECT_EQ(changed[0].value_from_original, 0x1.2p-8);
    EXPECT_EQ(changed[0].value_from_rows, 0x1p-8);
  }
}

TEST(TwoCopies, ACopyIsTheRecipeOnTheTransposeAndTilesNeedNone) {
  const QuantRecipe& rows = named_recipe("mxfp8/rceil");
  const Tensor x = stratified(rows, 64, 96, 8, kFiniteFillings);
  const Tensor turned{96, 64, transposed(x.view())};
  EXPECT_EQ(quantize_both_ways(rows, x.view()).columns, quantize(rows, turned.view()));
  EXPECT_EQ(transposed(turned.view()), x.values);
  EXPECT_FALSE(changed_by_requantizing(rows, x.view()).empty());
  const QuantRecipe& tiles = named_recipe("nvfp4_2d/transformer_engine");
  const Tensor y = stratified(tiles, 32, 48, 8, 2);
  const TwoCopies both = quantize_both_ways(tiles, y.view());
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t c = 0; c < 3; ++c) {
      EXPECT_EQ(both.rows.scales[static_cast<std::size_t>(3 * r + c)],
                both.columns.scales[static_cast<std::size_t>(2 * c + r)]);
    }
  }
}

}  // namespace
}  // namespace halfulp::recipes
