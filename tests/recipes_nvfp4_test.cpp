// NVFP4 recipes: engine against twin, documented results on special values, disagreements between
// producers.
#include <gtest/gtest.h>

#include "halfulp/error.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_lines.hpp"
#include "recipe_sweep.hpp"

namespace halfulp::recipes {
namespace {

using namespace halfulp::test;

Inputs with_amax(double amax) {
  return {{kTensorAmax, {amax}}};
}

/// The line of a block in a tensor of that amax, where the recipe has a tensor scale.
std::string in_tensor(std::string_view name, const std::string& literals, double amax) {
  const QuantRecipe& recipe = named_recipe(name);
  Inputs inputs = recipe.A >= 0 ? with_amax(amax) : Inputs{};
  for (const Input& input : recipe.inputs) inputs[input.name] = {0};
  return line(recipe, literals, inputs);
}

TEST(Nvfp4Recipes, EveryProducerAgreesWithItsTwin) {
  std::vector<std::function<void()>> jobs;
  for (const NamedRecipe& entry : nvfp4_recipes()) {
    const QuantRecipe* recipe = &named_recipe(entry.name);
    jobs.emplace_back([recipe] { EXPECT_GE(sweep(*recipe, 100000, 77), 100000u) << recipe->name; });
  }
  ASSERT_EQ(jobs.size(), 19u);
  in_parallel(jobs);
}

// clang-format off
struct Row { const char *name, *zeros, *nan, *infinity, *underflow, *above, *six, *small; };
constexpr const char* kInputs[] = {"0 -0", "1 nan -2", "1 inf -2", "2^-30 0 -2^-30", "24 1", "6 3 -0.5", "0.4"};
/// Each as SCALE CODE CODE …, in a tensor whose amax is given as 6 (the third and the fifth block exceed it).
constexpr Row kSpecials[] = {
  {"nvfp4/transformer_engine",            "00 0 8", "71 5 7 f", "7e 2 7 c", "00 7 0 f", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4_2d/transformer_engine",         "00 0 8", "71 5 7 f", "7e 2 7 c", "00 7 0 f", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/transformer_engine_fast",       "00 0 8", "71 5 7 f", "7e 2 7 c", "00 7 0 f", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/transformer_engine_stochastic", "00 0 8", "71 5 7 f", "7e 2 7 c", "00 7 0 f", "7e 7 2", "7e 7 5 9", "5f 6"},
  {"nvfp4/four_over_six",                 "00 0 8", "6b 5 7 f", "7e 1 7 a", "00 7 0 f", "7e 7 1", "78 7 5 9", "5d 6"},
  {"nvfp4/four_over_six_448",             "00 0 8", "71 5 7 f", "7e 2 7 c", "00 7 0 f", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/four_over_six_squared",         "00 0 8", "6b 5 7 f", "7e 1 7 a", "00 7 0 f", "7e 7 1", "78 7 5 9", "5d 6"},
  {"nvfp4/four_over_six_448_squared",     "00 0 8", "71 5 7 f", "7e 2 7 c", "00 7 0 f", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/four_over_six_precomputed",     "00 0 8", "6b 5 7 f", "7e 1 7 a", "00 7 0 f", "7e 7 1", "78 7 5 9", "5d 6"},
  {"nvfp4/flashinfer",                    "00 0 8", "71 5 7 f", "7e 2 7 c", "00 7 7 f", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/vllm",                          "00 0 8", "71 5 7 f", "7e 2 7 c", "00 0 0 8", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/torchao",                       "08 0 8", "7f 7 7 7", "7e 2 7 c", "08 0 0 8", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/compressed_tensors",            "20 0 8", "7f 7 7 7", "7e 2 7 c", "20 0 0 8", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/compressed_tensors_torch",      "20 0 0", "7f 7 7 7", "7e 2 7 c", "20 0 0 8", "7e 7 2", "7e 7 5 9", "5f 7"},
  {"nvfp4/modelopt",                      "38 0 0", "7f 7 7 7", "7f 7 7 7", "00 7 7 f", "7f 7 7", "7e 7 5 9", "5f 7"},
  {"nvfp4/sage3",                         "00 0 8", "2b 5 7 f", "7e 0 7 8", "00 0 0 8", "48 7 0", "38 7 5 9", "19 7"},
  {"nvfp4/cudnn",                         "00 0 8", "2b 5 7 f", "7e 0 7 8", "01 0 0 8", "48 7 0", "38 7 5 9", "19 7"},
};
// clang-format on

TEST(Nvfp4Recipes, SpecialValuesGiveTheDocumentedResults) {
  ASSERT_EQ(std::size(kSpecials), nvfp4_recipes().size() - 2);  // the others take whole blocks
  for (const Row& row : kSpecials) {
    const char* expected[] = {row.zeros, row.nan, row.infinity, row.underflow,
                              row.above, row.six, row.small};
    for (std::size_t i = 0; i < std::size(expected); ++i)
      EXPECT_EQ(in_tensor(row.name, kInputs[i], 6), expected[i]) << row.name << ": " << kInputs[i];
  }
}

TEST(Nvfp4Recipes, TensorScales) {
  const auto scale = [](const char* name, const char* literals) {
    const Quantized q = quantize(named_recipe(name), row_of(numbers(literals)).view());
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*q.tensor_scale)));
  };
  constexpr double inf = std::numeric_limits<double>::infinity(), most = 0x1.fffffep+127;
  EXPECT_EQ(scale("nvfp4/transformer_engine", "6 1"), 448);  // 2688 / A
  EXPECT_EQ(scale("nvfp4/transformer_engine", "0 -0"), 1);
  EXPECT_EQ(scale("nvfp4/transformer_engine", "2^-140"), most);
  EXPECT_EQ(scale("nvfp4/transformer_engine", "inf"), 1);
  EXPECT_EQ(scale("nvfp4/four_over_six", "6 1"), 256);  // 6 * 256 / A
  EXPECT_EQ(scale("nvfp4/four_over_six_448", "6 1"), 448);
  EXPECT_EQ(scale("nvfp4/compressed_tensors", "0"), inf);
  EXPECT_EQ(scale("nvfp4/torchao", "5376"), 2);  // A / 2688
  EXPECT_EQ(scale("nvfp4/modelopt", "5376"), 2);
  EXPECT_FALSE(quantize(named_recipe("nvfp4/sage3"), row_of({1.0}).view()).tensor_scale.has_value());
  // a given scale replaces the stored one, and everything made from it
  const Quantized given =
      quantize(named_recipe("nvfp4/vllm"), row_of({6.0}).view(), {{kTensorScale, {64}}});
  EXPECT_EQ(*given.tensor_scale, std::bit_cast<std::uint32_t>(64.0f));
  EXPECT_EQ(given.scales[0], 0x68u);
  EXPECT_EQ(dequantize(named_recipe("nvfp4/vllm"), given)[0], 6.0);
  EXPECT_THROW(quantize(named_recipe("nvfp4/sage3"), row_of({1.0}).view(), {{kTensorScale, {64}}}),
               InputError);
}

TEST(Nvfp4Recipes, ValuesOfTransformerEngineNeedTheAmax) {
  const QuantRecipe& recipe = named_recipe("nvfp4/transformer_engine");
  Quantized q = quantize(recipe, row_of({6.0, 0.5}).view());
  EXPECT_EQ(q.tensor_amax, 6.0);
  q.tensor_amax.reset();
  EXPECT_THROW(dequantize(recipe, q), InputError);
  EXPECT_EQ(dequantize(recipe, q, with_amax(6))[0], 6.0);
}

TEST(Nvfp4Recipes, EmptyAndPartialBlocks) {
  for (const NamedRecipe& entry : nvfp4_recipes()) {
    const QuantRecipe& recipe = named_recipe(entry.name);
    Inputs inputs;
    for (const Input& input : recipe.inputs) inputs[input.name] = {0};
    const Tensor empty = filled(0, 16, 0), odd = filled(1, 17, 1);
    EXPECT_TRUE(quantize(recipe, empty.view(), inputs).scales.empty()) << entry.name;
    if (!takes_whole_blocks(recipe)) {
      EXPECT_EQ(compare_with_twin(recipe, odd, inputs), 17u) << entry.name;
      EXPECT_EQ(quantize(recipe, odd.view(), inputs).scales.size(), 2u) << entry.name;
    }
    EXPECT_FALSE(recipe.facts.empty());
    EXPECT_FALSE(entry.mark.empty());
  }
}

TEST(Nvfp4Recipes, OneScalePerTile) {
  const QuantRecipe& tile = named_recipe("nvfp4_2d/transformer_engine");
  Tensor x = filled(16, 16, 0);
  x.values[0] = 6;
  x.values[1] = 0.4f;
  const Quantized q = quantize(tile, x.view());
  EXPECT_EQ(q.scales, std::vector<std::uint64_t>{0x7e});
  EXPECT_EQ(q.codes[1], 1u);
  std::swap(x.values[1], x.values[16]);  // the transpose has the same amax, scale and codes
  EXPECT_EQ(quantize(tile, x.view()).scales, q.scales);
  EXPECT_EQ(quantize(tile, x.view()).codes[16], 1u);
  const QuantRecipe& row = named_recipe("nvfp4/transformer_engine");
  const Quantized column = quantize(row, row_of({0.4f, 0}).view(), with_amax(6));
  EXPECT_EQ(column.scales[0], 0x5fu);
  EXPECT_EQ(dequantize(row, column)[0], 0x1.9b6db6p-2);
}

TEST(Nvfp4Recipes, TilesSumTheirRowsAsATree) {
  const QuantRecipe sum =
      parse_recipe("sum", "granularity tile 16 16\nscale f32 tree_sum(x)\ncode e4m3 x\nvalue v\n");
  Tensor x = filled(16, 16, 0);
  x.values[0] = 0x1p24;  // rows 0 and 8 meet first, then 1 and 9; one after the other gives 2^24
  x.values[16] = x.values[8 * 16] = x.values[9 * 16] = 1;
  EXPECT_EQ(number_of(spec_of("f32"), quantize(sum, x.view()).scales[0]), 0x1p24 + 2);
  x.values[1] = 1;  // within a row in order: lost
  EXPECT_EQ(number_of(spec_of("f32"), quantize(sum, x.view()).scales[0]), 0x1p24 + 2);
  EXPECT_EQ(compare_with_twin(sum, x), 256u);
  EXPECT_THROW(quantize(sum, filled(16, 15, 1).view()), InputError);
  Tensor block = filled(16, 16, 0);  // one row alone: as the recipe of rows
  block.values[0] = 6;
  block.values[1] = 0.4f;
  const Quantized tile = quantize(named_recipe("nvfp4_2d/four_over_six"), block.view());
  const Quantized row = quantize(named_recipe("nvfp4/four_over_six"), block.view());
  EXPECT_EQ(tile.scales[0], row.scales[0]);
  EXPECT_EQ(tile.codes, row.codes);
}

TEST(Nvfp4Recipes, HadamardOption) {
  const QuantRecipe& recipe = named_recipe("nvfp4/transformer_engine_hadamard");
  constexpr int signs[16] = {1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1};
  for (std::size_t i = 0; i < 16; ++i) {
    Tensor x = filled(1, 16, 0);
    x.values[i] = 4;
    const Quantized q = quantize(recipe, x.view());
    EXPECT_EQ(q.tensor_amax, 1.0);  // taken after the transform: 4 * 0.25
    for (std::size_t j = 0; j < 16; ++j) {
      const bool negative = (std::popcount(i & j) % 2 != 0) != (signs[i] < 0);
      EXPECT_EQ(q.codes[j], negative ? 0xfu : 0x7u) << i << " " << j;
    }
  }
  EXPECT_THROW(quantize(recipe, filled(1, 12, 1).view()), InputError);
}

TEST(Nvfp4Recipes, StochasticFallback) {
  const QuantRecipe& recipe = named_recipe("nvfp4/transformer_engine_stochastic");
  const auto code = [&](double x, double byte) {
    return quantize(recipe, row_of({6.0, x}).view(), {{"random", {0, byte}}}).codes[1];
  };
  EXPECT_EQ(code(2.5, 127), 4u);  // step 1 from 2 on: 2.5 + 127/256 < 3
  EXPECT_EQ(code(2.5, 128), 5u);
  EXPECT_EQ(code(-2.5, 128), 0xdu);
  EXPECT_EQ(code(1.75, 0), 3u);
  EXPECT_EQ(code(1.75, 255), 4u);  // 2.248 lies where the step is 1
  EXPECT_EQ(code(5, 127), 6u);
  EXPECT_EQ(code(5, 128), 7u);
  EXPECT_EQ(code(6, 255), 7u);  // no further than 6
  EXPECT_EQ(code(-0.0, 255), 8u);
}

// ---- disagreements: one input, two named behaviours, two results ----

TEST(Nvfp4Recipes, OrderOfTheScaleProduct) {
  const auto scale = [](const char* name, const char* a, double amax) {
    return in_tensor(name, a, amax).substr(0, 2);
  };
  const char *first = "0.047607421875", *second = "0.01519775390625";
  EXPECT_EQ(scale("nvfp4/transformer_engine", first, 4.0625), "4b");
  for (const char* name : {"nvfp4/compressed_tensors", "nvfp4/flashinfer", "nvfp4/vllm", "nvfp4/torchao"})
    EXPECT_EQ(scale(name, first, 4.0625), "4a") << name;
  for (const char* name : {"nvfp4/transformer_engine", "nvfp4/compressed_tensors", "nvfp4/flashinfer"})
    EXPECT_EQ(scale(name, second, 1.296875), "4b") << name;
  EXPECT_EQ(scale("nvfp4/torchao", second, 1.296875), "4a");
}

TEST(Nvfp4Recipes, DivideOrReciprocal) {  // scale 0x07
  EXPECT_EQ(in_tensor("nvfp4/cudnn", "0.08203125 0x1.87fffep-6", 0), "07 7 3");
  EXPECT_EQ(in_tensor("nvfp4/sage3", "0.08203125 0x1.87fffep-6", 0), "07 7 4");
}

TEST(Nvfp4Recipes, ZeroBlockOfATensorThatIsNotZero) {
  const std::pair<const char*, const char*> scales[] = {{"nvfp4/transformer_engine", "00"},
                                                        {"nvfp4/torchao", "08"},
                                                        {"nvfp4/compressed_tensors", "20"},
                                                        {"nvfp4/modelopt", "38"}};
  for (const auto& [name, scale] : scales) {
    Tensor tensor = filled(2, 16, 0);
    tensor.values[0] = 3;
    EXPECT_EQ(hex(quantize(named_recipe(name), tensor.view()).scales[1]), scale) << name;
  }
}

TEST(Nvfp4Recipes, ScaleThatUnderflows) {
  const double amax = 3670016;  // 2^22 * 0.875
  EXPECT_EQ(in_tensor("nvfp4/transformer_engine", "7.9 0 -1", amax), "00 7 0 f");
  EXPECT_EQ(in_tensor("nvfp4/vllm", "7.9 0 -1", amax), "00 0 0 8");
  EXPECT_EQ(in_tensor("nvfp4/flashinfer", "7.9 0 -1", amax), "00 7 7 f");
  EXPECT_EQ(in_tensor("nvfp4/modelopt", "7.9 0 -1", amax), "00 7 7 f");
  EXPECT_EQ(in_tensor("nvfp4/torchao", "7.9 0 -1", amax), "08 1 0 8");
  EXPECT_EQ(in_tensor("nvfp4/compressed_tensors", "7.9 0 -1", amax), "20 0 0 8");
  EXPECT_EQ(in_tensor("nvfp4/transformer_engine", "8 0 -1", amax).substr(0, 2),
            "00");  // a tie: to the even code
  EXPECT_EQ(in_tensor("nvfp4/transformer_engine", "8.1 0 -1", amax).substr(0, 2), "01");
}

TEST(Nvfp4Recipes, BoundsScaleRoundingErrorsAndOverflow) {
  EXPECT_EQ(in_tensor("nvfp4/transformer_engine", "6", 6), "7e 7");
  EXPECT_EQ(in_tensor("nvfp4/four_over_six", "6", 6), "78 7");
  EXPECT_EQ(in_tensor("nvfp4/sage3", "6.3", 0).substr(0, 2), "38");  // 1.05: nearest
  EXPECT_EQ(in_tensor("nvfp4/cudnn", "6.3", 0).substr(0, 2), "39");  // up
  // errors summed in the producer's order tie, and keep 6; with a quotient made first the second is smaller
  EXPECT_EQ(in_tensor("nvfp4/four_over_six", "0x1.f2eeeap+4", 0x1.51e6e2p+5), "74 7");
  EXPECT_EQ(in_tensor("nvfp4/four_over_six_precomputed", "0x1.f2eeeap+4", 0x1.51e6e2p+5), "79 6");
  // a scale of 465: NaN, or clamped
  EXPECT_EQ(in_tensor("nvfp4/modelopt", "465", 448).substr(0, 2), "7f");
  EXPECT_EQ(in_tensor("nvfp4/compressed_tensors", "465", 448).substr(0, 2), "7e");
  // -0
  EXPECT_EQ(in_tensor("nvfp4/modelopt", "6 -0", 6), "7e 7 0");
  EXPECT_EQ(in_tensor("nvfp4/transformer_engine", "6 -0", 6), "7e 7 8");
}

}  // namespace
}  // namespace halfulp::recipes
