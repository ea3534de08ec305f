// FP8 and INT8 recipes on inputs where two producers disagree, and on the worked examples.
#include <gtest/gtest.h>

#include <cmath>

#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/value.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_twins.hpp"

namespace halfulp::test {
namespace {

using recipes::Inputs;
using recipes::named_recipe;
using recipes::Quantized;
using recipes::QuantRecipe;

/// The engine's result, after comparison with the twin.
Quantized quantized(const QuantRecipe& recipe, const Tensor& tensor, const Inputs& inputs = {}) {
  EXPECT_EQ(compare_with_twin(recipe, tensor, inputs), tensor.values.size()) << recipe.name;
  return recipes::quantize(recipe, tensor.view(), inputs);
}
Quantized quantized(const char* name, std::vector<double> values, const Inputs& inputs = {}) {
  return quantized(named_recipe(name), row_of(std::move(values)), inputs);
}
std::vector<std::uint64_t> codes(const char* name, std::vector<double> values, const Inputs& inputs = {}) {
  return quantized(name, std::move(values), inputs).codes;
}
double scale_of(const char* name, std::vector<double> values, const Inputs& inputs = {}) {
  return number_of(named_recipe(name).scale.format,
                   quantized(name, std::move(values), inputs).scales.at(0));
}
std::vector<double> values_of(const char* name, std::vector<double> values, const Inputs& inputs = {}) {
  return recipes::dequantize(named_recipe(name), quantized(name, std::move(values), inputs), inputs);
}
using Codes = std::vector<std::uint64_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();

TEST(RecipesFp8Int8Cases, TheTrainingFactorIsMadeInBinary64) {
  // amax bits, factor bits; where given, what one binary32 division by a rounded reciprocal would give.
  const std::uint64_t rows[][2] = {{0x404ccccd, 0x430c0000},
                                   {0x3dcccccd, 0x458c0000},
                                   {0x3fd00000, 0x4389d89e},
                                   {0x3f800000, 0x43e00000},
                                   {0x3f840000, 0x43d9364e}};
  for (const auto& [amax, factor] : rows) {
    const double stored = scale_of("fp8_train/torchao", {number_of(spec_of("f32"), amax)});
    EXPECT_EQ(stored, static_cast<double>(static_cast<float>(1 / number_of(spec_of("f32"), factor))));
  }
}

TEST(RecipesFp8Int8Cases, ThePytorchScaleReachesBothEnds) {
  EXPECT_EQ(scale_of("int8/pytorch_cpp", {-127, 127}), 1);
  EXPECT_EQ(scale_of("int8/pytorch_cpp", {-128, 100}), 1);
}

// ---- two producers, one input, two results ----

TEST(RecipesFp8Int8Disagree, DivideOrMultiplyByTheReciprocal) {
  EXPECT_EQ(codes("fp8_per_token/vllm_cuda", {1.625, 0.01904296875}), (Codes{0x7e, 0x4a}));
  EXPECT_EQ(codes("fp8_per_token/vllm_native", {1.625, 0.01904296875}), (Codes{0x7e, 0x4b}));
}

TEST(RecipesFp8Int8Disagree, ScaleOrInverseScale) {
  EXPECT_EQ(codes("fp8_block/vllm_cuda", {3.875, 0.04541015625}), (Codes{0x7e, 0x4b}));
  EXPECT_EQ(codes("fp8_block/transformer_engine_fp32", {3.875, 0.04541015625}), (Codes{0x7e, 0x4a}));
}

TEST(RecipesFp8Int8Disagree, TheInt8FactorIs127OverAmaxOrTheDivisionByTheStoredScale) {
  EXPECT_EQ(codes("int8_per_token/vllm", {0.5625, 0.28125}), (Codes{127, 64}));
  const double stored = scale_of("int8_per_token/vllm", {0.5625, 0.28125});
  EXPECT_EQ(codes("int8_static/vllm", {0.5625, 0.28125}, {{"scale", {stored}}}), (Codes{127, 63}));
}

TEST(RecipesFp8Int8Disagree, TheInt8RangeIsSymmetricOrFull) {
  EXPECT_EQ(scale_of("int8_per_token/vllm", {-127, 127}), 1);
  EXPECT_EQ(codes("int8_per_token/vllm", {-127, 127}), (Codes{0x81, 127}));
  EXPECT_EQ(scale_of("int8/compressed_tensors", {-127, 127}), 0x1.fdfdfep-1);  // 0.99607843
  EXPECT_EQ(codes("int8/compressed_tensors", {-127, 127}), (Codes{0x80, 127}));
}

TEST(RecipesFp8Int8Disagree, StaticInt8DividesAndZeroPointInt8Multiplies) {
  const double s = 0x1.f2p-5, x = 0x1.90bcp+1;
  EXPECT_EQ(codes("int8_static/vllm", {x}, {{"scale", {s}}}), Codes{52});
  // A range of exactly 255 s from -128 s: zero point 0.
  const Quantized q = quantized("int8_azp/vllm", {-128 * s, 127 * s, x});
  EXPECT_EQ(number_of(spec_of("f32"), q.scales.at(0)), s);
  EXPECT_EQ(q.zeros.at(0), 0u);
  EXPECT_EQ(q.codes, (Codes{0x80, 127, 51}));
}

TEST(RecipesFp8Int8Disagree, TheScaleOfAZeroBlock) {
  const std::vector<double> zeros(128, 0);
  EXPECT_EQ(scale_of("fp8_per_token/vllm_cuda", zeros), 0x1.24924ap-18);
  EXPECT_EQ(scale_of("fp8_block/deepseek", zeros), 0x1.df595ap-23);
  EXPECT_EQ(scale_of("fp8_block/vllm_cuda", zeros), 0x1.f6a246p-43);
  EXPECT_EQ(scale_of("fp8_channel/compressed_tensors", zeros), 0x1p-23);
  EXPECT_EQ(scale_of("fp8_block/transformer_engine", zeros), 1);
  EXPECT_EQ(scale_of("fp8_affine/torchao", zeros), 0);
  EXPECT_EQ(codes("fp8_affine/torchao", zeros), Codes(128, 0x7f));
  EXPECT_EQ(codes("fp8_per_tensor/vllm", zeros), Codes(128, 0x7e));
  EXPECT_EQ(quantized("fp8_block/deepgemm_ue8m0", zeros).scales, Codes{105});
  EXPECT_EQ(quantized("fp8_block/vllm_cuda_ue8m0", zeros).scales, Codes{94});
}

TEST(RecipesFp8Int8Disagree, ANanElement) {
  EXPECT_EQ(codes("fp8_per_token/vllm_cuda", {kNan, 448}), (Codes{0x7e, 0x7e}));
  EXPECT_EQ(codes("fp8_block/deepseek", {kNan, 448}), (Codes{0x7f, 0x7e}));
  EXPECT_EQ(codes("fp8_block/deepgemm", {kNan, 448}), (Codes{0x7f, 0x7f}));
  EXPECT_EQ(codes("int8_per_token/vllm", {kNan, 127}), (Codes{0, 127}));
}

TEST(RecipesFp8Int8Disagree, AnInfiniteElementInABlock) {
  EXPECT_EQ(scale_of("fp8_block/transformer_engine", {kInf, 1}), 1);
  EXPECT_EQ(scale_of("fp8_block/deepseek", {kInf, 1}), kInf);
  EXPECT_EQ(quantized("fp8_block/deepgemm_ue8m0", {kInf, 1}).scales, Codes{254});
}

TEST(RecipesFp8Int8Disagree, ThePowerOfTwoByAFloatLogarithmOrByBits) {
  // An amax whose scale is the float just above 2^-6.
  const double amax = 448 * 0x1.000002p-6;
  EXPECT_EQ(static_cast<double>(static_cast<float>(amax) / 448.0f), 0x1.000002p-6);
  EXPECT_EQ(quantized("fp8_block/deepseek_ue8m0", {amax}).scales, Codes{127 - 6});
  EXPECT_EQ(quantized("fp8_block/deepgemm_ue8m0", {amax}).scales, Codes{127 - 5});
  int frexp_exponent = 0;  // a round-up by frexp doubles an exact power of two; both producers keep it
  EXPECT_EQ((std::frexp(0x1p-6, &frexp_exponent), frexp_exponent), -5);
  EXPECT_EQ(quantized("fp8_block/deepseek_ue8m0", {7}).scales, Codes{127 - 6});
  EXPECT_EQ(quantized("fp8_block/deepgemm_ue8m0", {7}).scales, Codes{127 - 6});
}

TEST(RecipesFp8Int8Disagree, TheLogarithmDiffersFromTheBitsOn90Of248ScalesJustAbovePowersOfTwo) {
  int differ = 0, all = 0;
  for (int e = -30; e <= 0; ++e) {
    for (std::uint64_t ulps = 1; ulps <= 8; ++ulps, ++all) {
      const double s = number_of(spec_of("f32"), code_of(spec_of("f32"), std::ldexp(1.0, e)) + ulps);
      const double log = static_cast<double>(static_cast<float>(std::log2(s)));
      differ += std::ceil(log) != e + 1 ? 1 : 0;
    }
  }
  EXPECT_EQ(all, 248);
  EXPECT_EQ(differ, 90);
}

TEST(RecipesFp8Int8Disagree, OverflowAndRoundingTwice) {
  const FormatSpec f32 = spec_of("f32"), bf16 = spec_of("bf16"), e4m3 = spec_of("e4m3");
  const CastPolicy overflow = {.overflow = Overflow::overflow};
  const auto both = [&](double x, const CastPolicy& policy) {
    const std::uint64_t code = cast(f32, code_of(f32, x), e4m3, policy).code;
    EXPECT_EQ(code, oracle::cast(f32, code_of(f32, x), e4m3, policy, 0).code);
    return code;
  };
  EXPECT_EQ(both(465, {}), 0x7eu);
  EXPECT_EQ(both(465, overflow), 0x7fu);
  EXPECT_EQ(both(464, overflow), 0x7eu);
  const double x = 1.0625 + 0x1p-10;
  EXPECT_EQ(both(x, {}), 0x39u);
  EXPECT_EQ(both(in_format(bf16, x), {}), 0x38u);
}

TEST(RecipesFp8Int8Disagree, TheOrderOfTheTwoScalesOfABlockProduct) {
  const float dot = 0x1.764aep+13f, a = 0x1.c92492p-3f, b = 0x1.524924p-4f;
  const float first = dot * a, scales = a * b;
  EXPECT_EQ(first * b, 0x1.b99b98p+7f);
  EXPECT_EQ(scales * dot, 0x1.b99b9ap+7f);
}

// ---- worked examples ----

std::vector<double> in_f32(std::vector<double> values) {
  for (double& value : values) value = in_format(spec_of("f32"), value);
  return values;
}

TEST(RecipesFp8Int8Examples, DynamicScalesPerToken) {
  for (const char* name : {"fp8_per_token/vllm_cuda", "fp8_per_token/vllm_native"}) {
    const Tensor tensor = {2, 3, in_f32({0.01, -0.8, 3.2, 2, -45, 180})};
    const Quantized q = quantized(named_recipe(name), tensor);
    EXPECT_EQ(q.codes, (Codes{0x3b, 0xee, 0x7e, 0x4a, 0xee, 0x7e})) << name;
    EXPECT_EQ(number_of(spec_of("f32"), q.scales.at(0)), 0x1.d41d42p-8);
    EXPECT_EQ(number_of(spec_of("f32"), q.scales.at(1)), 0x1.9b6db6p-2);
    EXPECT_EQ(recipes::dequantize(named_recipe(name), q),
              (std::vector<double>{0x1.41d41ep-7, -0x1.99999ap-1, 0x1.99999ap+1, 0x1.012492p+1, -45, 180}));
  }
}

TEST(RecipesFp8Int8Examples, OneStaticScale) {
  const Inputs scale = {{"scale", {0x1.124924p-2}}};
  const std::vector<double> x = in_f32({0.01, -0.8, 3.2, 2, -45, 180});
  EXPECT_EQ(codes("fp8_static/vllm", x, scale), (Codes{0x12, 0xc4, 0x54, 0x4f, 0xf2, 0x7e}));
  EXPECT_EQ(values_of("fp8_static/vllm", x, scale),
            (std::vector<double>{0x1.56db6cp-7, -0x1.9b6db6p-1, 0x1.9b6db6p+1, 0x1.012492p+1,
                                 -0x1.56db6cp+5, 120}));
}

TEST(RecipesFp8Int8Examples, ScaleOne) {
  const double above = number_of(spec_of("f32"), code_of(spec_of("f32"), 0x1p-10) + 1);
  const std::vector<double> x = in_f32({0.001, 0x1p-10, above, 3 * 0x1p-10, 448, 464, 465, 500});
  EXPECT_EQ(codes("fp8_static/vllm", x, {{"scale", {1}}}),
            (Codes{0x01, 0x00, 0x01, 0x02, 0x7e, 0x7e, 0x7e, 0x7e}));
}

}  // namespace
}  // namespace halfulp::test
