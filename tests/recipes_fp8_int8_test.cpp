// FP8, INT8, block FP8, SmoothQuant: the engine is its exact twin; special inputs give the documented
// results.
#include <iostream>
#include <sstream>

#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_corners.hpp"

namespace halfulp::test {
namespace {

using recipes::named_recipe;
using recipes::NamedRecipe;
using recipes::QuantRecipe;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto table :
       {recipes::fp8_int8_recipes(), recipes::block_fp8_recipes(), recipes::smoothquant_recipes()}) {
    for (const NamedRecipe& recipe : table) all.emplace_back(recipe.name);
  }
  return all;
}

TEST(RecipesFp8Int8, EngineIsTheExactTwinOnTheCornersOfEveryRecipe) {
  constexpr std::uint64_t kShares = 4, kShare = 25'000;  // 10^5 elements of each
  const std::vector<std::string> all = names();
  std::atomic<std::uint64_t> elements{0}, blocks{0};
  parallel(all.size() * kShares, [&](std::size_t i) {
    const std::string& name = all[i / kShares];
    const Swept swept = sweep_corners(named_recipe(name), kShare, 1000 + i);
    if (HasFailure()) return;
    EXPECT_GE(swept.elements, kShare) << name;
    EXPECT_GE(swept.blocks, 25u) << name;  // 100 with the other shares
    elements += swept.elements;
    blocks += swept.blocks;
  });
  std::cout << all.size() << " recipes, " << elements << " elements, " << blocks << " blocks\n";
}

TEST(RecipesFp8Int8, EngineIsTheExactTwinOverOtherBlocks) {
  const std::pair<const char*, const char*> variants[] = {
      {"fp8_block/deepgemm", "128x128"},     {"fp8_block/transformer_engine", "32x32"},
      {"fp8_block/vllm_cuda_ue8m0", "16x8"}, {"fp8_static/vllm", "row"},
      {"fp8_static/vllm", "column"},         {"fp8_static/vllm", "4x16"},
      {"fp8_train/torchao", "column"},       {"int8_azp/vllm", "tensor"},
      {"int8/compressed_tensors", "32"},     {"int8_asym/compressed_tensors", "row"}};
  std::uint64_t seed = 1;
  for (const auto& [name, block] : variants) {
    const QuantRecipe recipe = recipes::with_block(named_recipe(name), block);
    EXPECT_GE(sweep_corners(recipe, 20'000, seed++).elements, 20'000u) << name << " " << block;
  }
}

/// Elements whose codes differ between two recipes on tensors aimed at the ties and scale thresholds of the
/// first.
int differences(const char* first, const char* second) {
  const QuantRecipe &a = named_recipe(first), &b = named_recipe(second);
  const std::vector<double> thresholds = scale_thresholds(a, {}, 5);
  int differ = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (const Tensor& plain :
         {stratified(a, 32, 128, seed, kFiniteFillings), with_maxima(a, thresholds, seed)}) {
      const Tensor tensor = aimed_at_ties(a, plain, {}, seed);
      const recipes::Quantized left = recipes::quantize(a, tensor.view()),
                               right = recipes::quantize(b, tensor.view());
      for (std::size_t i = 0; i < left.codes.size(); ++i) differ += left.codes[i] != right.codes[i] ? 1 : 0;
    }
  }
  return differ;
}

TEST(RecipesFp8Int8, TheTensorsTellProducersApart) {
  EXPECT_GT(differences("fp8_per_token/vllm_cuda", "fp8_per_token/vllm_native"), 100);
  EXPECT_GT(differences("fp8_block/vllm_cuda", "fp8_block/transformer_engine_fp32"), 100);
  EXPECT_GT(differences("fp8_block/deepgemm_ue8m0", "fp8_block/deepseek_ue8m0"), 0);
  EXPECT_GT(differences("int8/compressed_tensors", "int8_per_token/vllm"), 100);
  EXPECT_GT(differences("smoothquant/o1", "int8_per_token/vllm"), 100);
}

// ---- documented results ----

struct Documented {
  const char* recipe;
  const char* results[6];  ///< of kInputs: stored scale as a multiplier, `:` zero point, codes
};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();
constexpr double kLargest = 0x1.fffffep+127;
const std::vector<double> kInputs[6] = {
    {0, -0.0, 0, 0},           // zeros
    {kNan, 448, -1},           // NaN
    {kInf, -kInf, 1},          // Inf
    {0x1p-130, -0x1p-149, 0},  // subnormal
    {kLargest, -kLargest / 2}, {3},
};

// clang-format off
constexpr Documented kDocumented[] = {
    {"fp8_per_token/vllm_cuda", {"0x1.24924ap-18 00 80 00 00", "0x1p+0 7e 7e b8", "inf 7e 7e 00", "0x1.24924ap-18 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_per_token/vllm_native", {"0x1.24924ap-18 00 80 00 00", "0x1p+0 7e 7e b8", "inf 7e 7e 00", "0x1.24924ap-18 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_per_tensor/vllm", {"0x0p+0 7e 7e 7e 7e", "0x1p+0 7e 7e b8", "inf 7e 7e 00", "0x1.248p-139 7e fe 7e", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_per_tensor/vllm_native", {"0x1.24924ap-18 00 80 00 00", "0x1p+0 7e 7e b8", "inf 7e 7e 00", "0x1.24924ap-18 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_static/vllm", {"0x1p-2 00 80 00 00", "0x1p-2 7e 7e c8", "0x1p-2 7e fe 48", "0x1p-2 00 80 00", "0x1p-2 7e fe", "0x1p-2 54"}},
    {"fp8_channel/compressed_tensors", {"0x1p-23 00 80 00 00", "nan 7f 7f 7f", "inf 7f 7f 00", "0x1p-23 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_current/transformer_engine", {"0x1p+0 00 80 00 00", "0x1p+0 7f 7e b8", "0x1p+0 7e fe 38", "0x1p-128 28 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_train/torchao", {"0x1.41af8ap-49 00 80 00 00", "nan 7f 7f 7f", "inf 7f 7f 00", "0x1.41af8ap-49 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_train/torchao_pow2", {"0x1p-48 00 80 00 00", "nan 7f 7f 7f", "inf 7f 7f 00", "0x1p-48 00 80 00", "0x1p+120 78 f0", "0x1p-7 7c"}},
    {"fp8_affine/torchao", {"0x0p+0 7f 7f 7f 7f", "nan 7f 7f 7f", "inf 7f 7f 00", "0x1.248p-139 7e 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"int8_per_token/vllm", {"0x0p+0 0 0 0 0", "0x1.c3870ep+1 0 127 0", "inf 0 0 0", "0x1.02p-137 127 -128 0", "0x1.020408p+121 127 -64", "0x1.83060cp-6 127"}},
    {"int8_static/vllm", {"0x1p-2 0 0 0 0", "0x1p-2 0 127 -4", "0x1p-2 127 -128 4", "0x1p-2 0 0 0", "0x1p-2 127 -128", "0x1p-2 12"}},
    {"int8_azp/vllm", {"0x0p+0:0 0 0 0 0", "0x1.c2c2c2p+0:-127 -127 127 -128", "inf:0 0 0 0", "0x1.01p-138:-128 127 -128 -128", "inf:-128 -128 -128", "0x0p+0:-2147483648 -1"}},
    {"int8/compressed_tensors", {"0x1p-23 0 0 0 0", "nan 0 0 0", "inf 0 0 0", "0x1p-23 0 0 0", "0x1.0101p+121 127 -64", "0x1.818182p-6 127"}},
    {"int8_asym/compressed_tensors", {"0x1p-23:-128 -128 -128 -128 -128", "nan:0 0 0 0", "inf:0 0 0 0", "0x1p-23:-128 -128 -128 -128", "inf:-128 -128 -128", "0x1.818182p-7:-128 127"}},
    {"int8/pytorch_cpp", {"0x0p+0 0 0 0 0", "0x1.c3870ep+1 0 127 0", "inf 0 0 0", "0x1.02p-137 127 0 0", "0x1.020408p+121 127 -63", "0x1.83060cp-6 127"}},
    {"fp8_block/deepseek", {"0x1.df595ap-23 00 80 00 00", "0x1p+0 7f 7e b8", "inf 7f 7f 00", "0x1.df595ap-23 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_block/deepseek_ue8m0", {"0x1p-22 00 80 00 00", "0x1p+0 7f 7e b8", "nan 7f 7f 00", "0x1p-22 00 80 00", "0x1p+120 78 f0", "0x1p-7 7c"}},
    {"fp8_block/deepgemm", {"0x1.df595ap-23 00 80 00 00", "nan 7f 7f 7f", "inf 7f 7f 00", "0x1.df595ap-23 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_block/deepgemm_ue8m0", {"0x1p-22 00 80 00 00", "0x1p+127 7f 00 80", "0x1p+127 7f ff 00", "0x1p-22 00 80 00", "0x1p+120 78 f0", "0x1p-7 7c"}},
    {"fp8_block/vllm_cuda", {"0x1.f6a246p-43 00 80 00 00", "0x1p+0 7e 7e b8", "inf 7e 7e 00", "0x1.f6a246p-43 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_block/vllm_cuda_ue8m0", {"0x1p-33 00 80 00 00", "0x1p+0 7e 7e b8", "nan 7e 7e 00", "0x1p-33 00 80 00", "0x1p+120 78 f0", "0x1p-7 7c"}},
    {"fp8_block/vllm_native", {"0x1.24924ap-18 00 80 00 00", "0x1p+0 7e 7e b8", "inf 7e 7e 00", "0x1.24924ap-18 00 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"fp8_block/vllm_native_pow2", {"0x1.24924ap-18 00 80 00 00", "0x1p+0 7e 7e b8", "inf 7e 7e 00", "0x1.24924ap-18 00 80 00", "0x1p+120 78 f0", "0x1p-7 7c"}},
    {"fp8_block/transformer_engine", {"0x1p+0 00 80 00 00", "0x1p+0 7e 7e b8", "0x1p+0 7e fe 38", "0x1p-127 20 80 00", "0x1p+120 78 f0", "0x1p-7 7c"}},
    {"fp8_block/transformer_engine_fp32", {"0x1p+0 00 80 00 00", "0x1p+0 7e 7e b8", "0x1p+0 7e fe 38", "0x1p-128 28 80 00", "0x1.249248p+119 7e f6", "0x1.b6db6ep-8 7e"}},
    {"smoothquant/weights", {"0x1p-24 0 0 0 0", "nan 0 0 0", "inf 0 0 0", "0x1p-24 0 0 0", "inf 0 0", "0x1.83p-6 127"}},
    {"smoothquant/o1", {"0x1p-24 0 0 0 0", "nan 0 0 0", "inf 0 0 0", "0x1p-24 0 0 0", "inf 0 0", "0x1.83p-6 127"}},
    {"smoothquant/o2", {"0x1p-24 0 0 0 0", "nan 0 0 0", "inf 0 0 0", "0x1p-24 0 0 0", "inf 0 0", "0x1.83p-6 127"}},
    {"smoothquant/o3", {"0x1p-2 0 0 0 0", "0x1p-2 0 127 -4", "0x1p-2 127 -128 4", "0x1p-2 0 0 0", "0x1p-2 127 -128", "0x1p-2 12"}},
    {"w8a16/marlin", {"0x1p-2 00 80 00 00", "0x1p-2 7f 7e c8", "0x1p-2 7e fe 48", "0x1p-2 00 80 00", "0x1p-2 7e fe", "0x1p-2 54"}},
    {"w8a16/marlin_bf16", {"0x1p-2 00 80 00 00", "0x1p-2 7f 7e c8", "0x1p-2 7e fe 48", "0x1p-2 00 80 00", "0x1p-2 7e fe", "0x1p-2 54"}},
    {"w8a16/marlin_int8", {"0x1p-2 80 80 80 80", "0x1p-2 80 ff 7c", "0x1p-2 ff 00 84", "0x1p-2 80 80 80", "0x1p-2 ff 00", "0x1p-2 8c"}},
};
// clang-format on

/// `MULTIPLIER[:ZERO] CODE …`, integers signed.
std::string result_text(const QuantRecipe& recipe, const recipes::Quantized& q) {
  std::ostringstream text;
  char word[40];
  for (std::size_t i = 0; i < q.scales.size(); ++i) {
    const double scale = number_of(recipe.scale.format, q.scales[i]);
    std::snprintf(word, sizeof word, "%a", scale);
    text << (scale != scale ? "nan" : word);
    if (i < q.zeros.size())
      text << ':' << static_cast<std::int64_t>(number_of(recipe.zero.format, q.zeros[i]));
  }
  for (const std::uint64_t code : q.codes) {
    const bool integer =
        recipe.code.format.encoding == Encoding::twos_complement && recipe.code.format.is_signed;
    std::snprintf(word, sizeof word, " %02llx", static_cast<unsigned long long>(code));
    text << (integer ? " " + std::to_string(static_cast<std::int64_t>(number_of(recipe.code.format, code)))
                     : word);
  }
  return text.str();
}

recipes::Inputs quarter_scale(const QuantRecipe& recipe) {
  recipes::Inputs inputs;
  for (const recipes::Input& input : recipe.inputs) {
    if (input.name == "scale") inputs["scale"] = {0.25};
  }
  return inputs;
}

TEST(RecipesFp8Int8, SpecialInputsGiveTheDocumentedResults) {
  for (const Documented& row : kDocumented) {
    const QuantRecipe& recipe = named_recipe(row.recipe);
    for (std::size_t i = 0; i < std::size(kInputs); ++i) {
      const Tensor tensor = row_of(kInputs[i]);
      EXPECT_EQ(result_text(recipe, recipes::quantize(recipe, tensor.view(), quarter_scale(recipe))),
                row.results[i])
          << row.recipe;
      EXPECT_EQ(result_text(recipe, recipes::quantize_exact(recipe, tensor.view(), quarter_scale(recipe))),
                row.results[i])
          << row.recipe;
    }
  }
  EXPECT_EQ(std::size(kDocumented) + 1,
            names().size());  // smoothquant/factor has neither scale nor element codes
}

TEST(RecipesFp8Int8, EmptyTensorsHaveNoScalesAndNoCodes) {
  for (const std::string& name : names()) {
    const QuantRecipe& recipe = named_recipe(name);
    recipes::Inputs inputs = quarter_scale(recipe);
    if (name == "smoothquant/factor") inputs["wmax"] = {1};
    for (const Tensor& tensor : {filled(0, 0, 0), filled(0, 7, 0), filled(3, 0, 0)}) {
      const recipes::Quantized q = recipes::quantize(recipe, tensor.view(), inputs);
      EXPECT_EQ(q.scales.size() + q.zeros.size() + q.codes.size(), 0u) << name;
      EXPECT_EQ(compare_with_twin(recipe, tensor, inputs), 0u);
    }
  }
}

TEST(RecipesFp8Int8, APartialLastBlockIsQuantizedAsIfItStoodAlone) {
  int checked = 0;
  for (const std::string& name : names()) {
    const QuantRecipe& recipe = named_recipe(name);
    if (recipe.granularity != recipes::Granularity::group) continue;
    const Tensor tensor = stratified(recipe, 1, recipe.columns + 5, 11);
    const Tensor tail = row_of({tensor.values.end() - 5, tensor.values.end()});
    const recipes::Quantized whole = recipes::quantize(recipe, tensor.view()),
                             alone = recipes::quantize(recipe, tail.view());
    ASSERT_EQ(whole.scales.size(), 2u) << name;
    EXPECT_EQ(whole.scales[1], alone.scales[0]) << name;
    EXPECT_TRUE(std::equal(alone.codes.begin(), alone.codes.end(), whole.codes.end() - 5)) << name;
    ++checked;
  }
  EXPECT_EQ(checked, 12);
}

TEST(RecipesFp8Int8, TheSmoothingFactorIsTheSquareRootOfTheRatioInF16WithAFloor) {
  const QuantRecipe& recipe = named_recipe("smoothquant/factor");
  const Tensor activations = row_of({4, 64, 0, 2, 0x1p-14});
  const recipes::Inputs inputs = {{"wmax", {1, 0.25, 1, 0, 4}}};
  const std::vector<double> factors =
      recipes::dequantize(recipe, recipes::quantize(recipe, activations.view(), inputs), inputs);
  // sqrt(2) = 0x1.6ap+0 and sqrt(f16(1e-5)) = sqrt(0x1.5p-17) = 0x1.9ecp-9 in f16; the floor is f16(1e-5).
  EXPECT_EQ(factors, (std::vector<double>{2, 16, 0x1.5p-17,
                                          in_format(spec_of("f16"), 0x1.6ap+0 / 0x1.9ecp-9), 0x1p-8}));
}

TEST(RecipesFp8Int8, SmoothedActivationsTimesSmoothedWeightsKeepTheProduct) {
  // x / s and w * s are exact for powers of two: the product of one column is unchanged.
  const recipes::Inputs smooth = {{"smooth", {4}}};
  const QuantRecipe &activations = named_recipe("smoothquant/o1"),
                    &weights = named_recipe("smoothquant/weights");
  const Tensor x = row_of({508}), w = row_of({0.25});
  const auto read = [&](const QuantRecipe& r, const Tensor& t) {
    return recipes::dequantize(r, recipes::quantize(r, t.view(), smooth), smooth)[0];
  };
  EXPECT_EQ(read(activations, x), 127);
  EXPECT_NEAR(read(weights, w), 1, 0x1p-10);
}

TEST(RecipesFp8Int8, MarlinReadsTheNanBytesAs480) {
  for (const char* name : {"w8a16/marlin", "w8a16/marlin_bf16"}) {
    const QuantRecipe& recipe = named_recipe(name);
    recipes::Quantized stored = recipes::quantize(recipe, filled(1, 256, 0).view());
    for (std::uint64_t code = 0; code < 256; ++code) stored.codes[code] = code;
    const std::vector<double> values = recipes::dequantize(recipe, stored);
    const std::vector<oracle::Value> exact = recipes::dequantize_exact(recipe, stored);
    for (std::uint64_t code = 0; code < 256; ++code) {
      // The shifts themselves: bits moved into the wider format, then times 2^8 or 2^120.
      const bool half = recipe.scale.format == spec_of("f16");
      const std::uint64_t sign = (code & 0x80) << 8, rest = code & 0x7f;
      const double unpacked = half ? number_of(spec_of("f16"), sign | rest << 7) * 0x1p+8
                                   : number_of(spec_of("bf16"), sign | rest << 4) * 0x1p+120;
      EXPECT_EQ(std::bit_cast<std::uint64_t>(values[code]), std::bit_cast<std::uint64_t>(unpacked))
          << name << " " << code;
      EXPECT_TRUE(same_number(values[code], exact[code])) << name << " " << code;
    }
    EXPECT_EQ(values[0x7f], 480);
    EXPECT_EQ(values[0xff], -480);
  }
}

TEST(RecipesFp8Int8, BlocksByWords) {
  const QuantRecipe& recipe = named_recipe("fp8_block/deepgemm");
  const QuantRecipe tiles = recipes::with_block(recipe, "128x64");
  EXPECT_EQ(tiles.granularity, recipes::Granularity::tile);
  EXPECT_EQ(tiles.rows, 128);
  EXPECT_EQ(tiles.columns, 64);
  EXPECT_NE(tiles.text.find("granularity tile 128 64\n"), std::string::npos);
  EXPECT_EQ(recipes::with_block(recipe, "64").columns, 64);
  EXPECT_EQ(recipes::with_block(tiles, "row").granularity, recipes::Granularity::row);
  EXPECT_EQ(recipes::with_block(tiles, "row").columns, 0);
  for (const char* wrong : {"", "0", "x", "8x", "x8", "8x8x8", "-1", "8 ", "rows", "99999999999"}) {
    EXPECT_THROW(recipes::with_block(recipe, wrong), InputError) << wrong;
  }
}

}  // namespace
}  // namespace halfulp::test
