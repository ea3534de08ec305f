// Witnesses of recipes and differences of casts: every pair of the disagreement table, equal pairs, exact counts.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "halfulp/recipes/cast_difference.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/quantize_exact.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/recipes/same_steps.hpp"
#include "halfulp/recipes/witness.hpp"
#include "recipe_twins.hpp"

namespace halfulp::test {
namespace {

using recipes::CastDifference;
using recipes::CastSearch;
using recipes::named_recipe;
using recipes::QuantRecipe;

struct NamedPair {
  const char *row, *a, *b, *to_a = "", *to_b = "";
  bool specials = true;  ///< false: the pair must also part in ordinary blocks, without zeros and special blocks
};
constexpr auto kPairs = std::to_array<NamedPair>({
    {"1", "fp8_per_token/vllm_cuda", "fp8_per_token/vllm_native", "", "", false},
    {"2", "fp8_per_tensor/vllm", "fp8_train/torchao", "", "", false},
    {"3", "int8_per_token/vllm", "int_sym/quarot", "", "int8", false},
    {"4", "int_sym/quarot", "int8/compressed_tensors", "int8", "", false},
    {"5", "int8_static/vllm", "int8_azp/vllm", "", "", false},
    {"6", "fp8_per_token/vllm_cuda", "fp8_channel/compressed_tensors"},
    {"6", "fp8_block/vllm_cuda", "fp8_affine/torchao"},
    {"7", "fp8_block/vllm_native", "fp8_block/deepseek"},
    {"8", "mxfp8/ocp_floor", "mxfp8/rceil", "", "", false},
    {"9", "mxfp8/rceil", "mxfp8/rceil_torchao"},
    {"10", "mxfp8/ocp_floor", "mxfp8/even", "", "", false},
    {"10", "mxfp8/ocp_floor", "mxfp8/ceil", "e5m2", "e5m2", false},
    {"10", "mxfp8/even", "mxfp8/rceil", "", "", false},
    {"10", "mxfp8/ceil", "mxfp8/rceil", "", "", false},
    {"13", "mxfp4/even", "mxfp4/vllm"},
    {"13", "mxfp8/rceil", "mxfp8/flashinfer"},
    {"14", "mxfp4/compressed_tensors", "mxfp4/even", "", "", false},
    {"15", "nvfp4/transformer_engine", "nvfp4/vllm", "", "", false},
    {"15", "nvfp4/transformer_engine", "nvfp4/compressed_tensors", "", "", false},
    {"15", "nvfp4/transformer_engine", "nvfp4/torchao", "", "", false},
    {"16", "nvfp4/vllm", "nvfp4/compressed_tensors", "", "", false},
    {"17", "nvfp4/compressed_tensors", "nvfp4/modelopt"},
    {"17", "nvfp4/transformer_engine", "nvfp4/modelopt"},
    {"18", "nvfp4/vllm", "nvfp4/flashinfer"},
    {"20", "nvfp4/four_over_six", "nvfp4/four_over_six_448", "", "", false},
    {"21", "nvfp4/sage3", "nvfp4/cudnn", "", "", false},
    {"22", "nvfp4/four_over_six", "nvfp4/four_over_six_precomputed"},
    {"23", "mxfp4/deepgemm", "mxfp4/rceil", "", "", false},
    {"23", "mxfp4/ocp_floor", "mx/microxcaling", "", "e2m1", false},
    {"24", "nvfp4/modelopt", "nvfp4/vllm", "", "", false},
    {"25", "mxfp8/ocp_floor", "mx/microxcaling", "", "", false},
    {"33", "kivi/v", "int_asym/zero_point", "", "uint2", false},
});

QuantRecipe recipe_of(const char* name, const std::string& to) { return to.empty() ? named_recipe(name) : named_recipe(name, to); }

recipes::RecipeAnswer exact_answer(const QuantRecipe& recipe, const recipes::Specimen& specimen) {
  recipes::RecipeAnswer answer = recipes::answer_of(recipe, specimen);
  const recipes::Inputs inputs = recipes::inputs_of(recipe, specimen);
  const recipes::Quantized truth = recipes::quantize_exact(recipe, specimen.view(), inputs);
  EXPECT_EQ(answer.quantized, truth) << recipe.name;
  const auto values = recipes::dequantize_exact(recipe, truth, inputs);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_TRUE(same_number(answer.values.at(i), values[i])) << recipe.name;
  answer.quantized = truth;
  return answer;
}

TEST(Witness, EveryPair) {
  for (const NamedPair& pair : kPairs) {
    const QuantRecipe a = recipe_of(pair.a, pair.to_a), b = recipe_of(pair.b, pair.to_b);
    for (const bool simple : {true, false}) {
      if (!simple && pair.specials) continue;
      recipes::WitnessOptions options;
      options.simple = simple;
      options.documented = false;
      const auto search = recipes::find_witness(a, b, options);
      ASSERT_TRUE(search.witness.has_value()) << "row " << pair.row << ": " << pair.a << ", " << pair.b;
      const recipes::Specimen& specimen = search.witness->specimen;
      EXPECT_TRUE(recipes::answers_differ(a, exact_answer(a, specimen), b, exact_answer(b, specimen))) << pair.row;
      EXPECT_FALSE(search.witness->parting.role.empty());
      EXPECT_NE(recipes::inputs_of(a, specimen).contains(recipes::kTensorAmax) && a.A < 0, true);
    }
  }
}

TEST(Witness, EqualPairs) {
  const std::array<std::array<const char*, 2>, 3> pairs = {{{"mxfp8/rceil", "mxfp8/transformer_engine"},
                                                          {"nvfp4/vllm", "nvfp4/vllm"},
                                                          {"kvquant/v", "kvquant/v"}}};
  for (const auto& [a, b] : pairs) {
    recipes::WitnessOptions options;
    options.most = 4000;
    const auto search = recipes::find_witness(named_recipe(a), named_recipe(b), options);
    EXPECT_FALSE(search.witness.has_value()) << a << ", " << b;
    for (const std::uint64_t tried : search.tried) EXPECT_GT(tried, 0u);
  }
}

TEST(Witness, OtherBlocks) {
  const QuantRecipe& a = named_recipe("mxfp8/rceil");
  const auto search = recipes::find_witness(a, recipes::with_block(a, "16"));
  ASSERT_TRUE(search.witness.has_value());
  EXPECT_GT(search.witness->specimen.values.size(), 16u);
  EXPECT_EQ(search.witness->parting.role, "scale");
}

TEST(Witness, BlocksAlone) {
  const std::array<std::array<const char*, 2>, 3> pairs = {{{"int8_per_token/vllm", "tensor"},
                                                            {"fp8_block/deepseek", "128x128"},
                                                            {"mxfp8/ocp_floor", "2x32"}}};
  for (const auto& [name, block] : pairs) {
    const QuantRecipe& a = named_recipe(name);
    const QuantRecipe b = recipes::with_block(a, block);
    const auto search = recipes::find_witness(a, b);
    ASSERT_TRUE(search.witness.has_value()) << name;
    const recipes::Specimen& specimen = search.witness->specimen;
    EXPECT_TRUE(recipes::answers_differ(a, exact_answer(a, specimen), b, exact_answer(b, specimen))) << name;
    EXPECT_LE(specimen.values.size(), 4u) << name;
    for (const double x : specimen.values) EXPECT_NE(x, 0) << name;  // a block of zeros would tell less
    EXPECT_EQ(search.witness->parting.role, "scale") << name;
  }
}

TEST(Witness, SameSteps) {
  EXPECT_TRUE(recipes::same_steps(named_recipe("mxfp8/rceil"), named_recipe("mxfp8/transformer_engine")));  // other facts
  EXPECT_TRUE(recipes::same_steps(named_recipe("mxfp8/rceil"), recipes::with_block(named_recipe("mxfp8/rceil"), "32")));
  EXPECT_FALSE(recipes::same_steps(named_recipe("mxfp8/rceil"), recipes::with_block(named_recipe("mxfp8/rceil"), "16")));
  EXPECT_FALSE(recipes::same_steps(named_recipe("mxfp8/rceil"), named_recipe("mxfp8/rceil", "e5m2")));
  EXPECT_FALSE(recipes::same_steps(named_recipe("mxfp8/rceil"), named_recipe("mxfp8/ocp_floor")));
  EXPECT_FALSE(recipes::same_steps(named_recipe("smoothquant/o1"), named_recipe("smoothquant/o2")));
  const auto names = recipes::recipe_names();
  recipes::WitnessOptions few;
  few.most = 100;
  for (const std::string_view a : names) {
    for (const std::string_view b : names) {
      if (a >= b || !recipes::same_steps(named_recipe(a), named_recipe(b))) continue;
      EXPECT_FALSE(recipes::find_witness(named_recipe(a), named_recipe(b), few).witness.has_value()) << a << " " << b;
    }
  }
}

TEST(Witness, OtherCodesBeforeOtherValues) {
  const recipes::QuantRecipe &a = named_recipe("nvfp4/vllm"), &b = named_recipe("nvfp4/flashinfer");
  const auto search = recipes::find_witness(a, b);
  ASSERT_TRUE(search.witness.has_value());
  EXPECT_EQ(recipes::difference_of(a, search.witness->a, b, search.witness->b), recipes::Difference::stored) << search.witness->parting.role;
}

TEST(Witness, SmallAndNamed) {
  const auto search = recipes::find_witness(named_recipe("fp8_per_token/vllm_cuda"), named_recipe("fp8_per_token/vllm_native"));
  ASSERT_TRUE(search.witness.has_value());
  EXPECT_LE(search.witness->specimen.values.size(), 2u);
  EXPECT_EQ(search.witness->parting.role, "element before the cast");
  EXPECT_NE(search.witness->parting.step_a, search.witness->parting.step_b);
}

CastPlan plan(const char* spec) { return make_plan(parse_cast_spec(spec)); }

TEST(CastDifference, CountsAreThoseOfEveryCode) {
  const std::array<std::array<const char*, 2>, 6> pairs = {{
      {"cast:f16:e4m3@torch_2_11", "cast:f16:e4m3@torch_2_12"},
      {"cast:f16:e5m2", "cast:f16:e5m2,rounding=toward_zero"},
      {"cast:f16:e4m3", "cast:f16:e4m3,rounding=ties_to_away,overflow=overflow"},
      {"cast:f16:e4m3", "cast:f16:e5m2"},
      {"cast:f16:e4m3@cuda_satfinite", "cast:f16:e4m3@ocp_sat"},
      {"cast:f16:e8m0@torch_2_11", "cast:f16:e8m0@ml_dtypes"},
  }};
  for (const auto& [spec_a, spec_b] : pairs) {
    const CastPlan a = plan(spec_a), b = plan(spec_b);
    const CastDifference d = recipes::compare_casts(a, b);
    std::uint64_t differing = 0, differing_nan = 0;
    double least = INFINITY;
    for (std::uint64_t code = 0; code < 65536; ++code) {
      const CastResult x = a(code), y = b(code);
      const double value_x = number_of(a.to, x.code), value_y = number_of(b.to, y.code);
      const bool same = x.refusal == y.refusal && (a.to_name == b.to_name ? x.code == y.code
                                                                         : value_x == value_y || (std::isnan(value_x) && std::isnan(value_y)));
      if (same) continue;
      const double value = number_of(*a.from, code);
      if (std::isnan(value)) ++differing_nan;
      else ++differing, least = std::fmin(least, std::fabs(value));
    }
    EXPECT_EQ(d.differing, differing) << spec_a << " " << spec_b;
    EXPECT_EQ(d.differing_nan, differing_nan);
    EXPECT_EQ(d.compared + d.compared_nan, 65536u);
    EXPECT_TRUE(d.complete);
    EXPECT_EQ(d.found, differing + differing_nan > 0);
    if (differing > 0) { EXPECT_EQ(std::fabs(number_of(*a.from, d.word)), least); }
  }
}

TEST(CastDifference, WalkOfBinary32) {
  const CastDifference d = recipes::compare_casts(plan("cast:f32:e4m3@torch_2_11"), plan("cast:f32:e4m3@torch_2_12"));
  EXPECT_EQ(d.word, 0x43e80001u);  // just above 464
  EXPECT_EQ(d.differing, 2u * (0x7f800000u - 0x43e80000u));
  EXPECT_EQ(d.compared + d.compared_nan, std::uint64_t{1} << 32);
  EXPECT_TRUE(d.complete);
  const CastDifference none = recipes::compare_casts(plan("cast:f32:e5m2@torch_2_11"), plan("cast:f32:e5m2@torch_2_12"));
  EXPECT_FALSE(none.found);
  EXPECT_TRUE(none.complete);
  EXPECT_FALSE(recipes::compare_casts(plan("cast:f64:f32"), plan("cast:f64:f32"), CastSearch::walk, 1000).complete);
}

}  // namespace
}  // namespace halfulp::test
