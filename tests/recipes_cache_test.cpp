// Recipes of caches, integers and GGML blocks: engines agree; documented results of special inputs;
// disagreements.
#include <cmath>
#include <map>

#include "cache_special.hpp"
#include "recipe_corners.hpp"

namespace halfulp::test {
namespace {

using recipes::named_recipe;
using recipes::QuantRecipe;

TEST(RecipesCache,
     EnginesAgree) {  // with partial blocks, NaN, Inf, subnormal and huge numbers, elements on ties
  std::map<std::string_view, std::vector<Sweep>> sweeps;
  for (const Sweep& sweep : kCacheSweeps) sweeps[sweep.name].push_back(sweep);
  std::vector<std::string_view> names;
  for (const auto& entry : sweeps) names.push_back(entry.first);
  std::vector<Compared> totals(names.size());
  parallel(names.size(), [&](std::size_t i) {
    for (std::uint64_t seed = 1; totals[i].elements < 100'000 || totals[i].blocks < 100; ++seed) {
      for (const Sweep& sweep : sweeps[names[i]]) {
        const Compared added = compare_once(sweep, seed);
        totals[i].elements += added.elements;
        totals[i].blocks += added.blocks;
      }
      if (HasFailure() || seed > 200) return;
    }
  });
  std::map<std::string_view, Compared> done;
  for (std::size_t i = 0; i < names.size(); ++i) done[names[i]] = totals[i];
  for (const auto& [name, total] : done) {
    EXPECT_GE(total.elements, 100'000u) << name;
    EXPECT_GE(total.blocks, 100u) << name;
  }
  for (const recipes::NamedRecipe& recipe : recipes::cache_recipes())
    EXPECT_TRUE(done.contains(recipe.name)) << recipe.name;
}

TEST(RecipesCache, Marks) {
  for (const recipes::NamedRecipe& recipe : recipes::cache_recipes()) {
    EXPECT_FALSE(recipe.mark.empty()) << recipe.name;
    EXPECT_FALSE(named_recipe(recipe.name).facts.empty()) << recipe.name;
  }
}

TEST(RecipesCache, EmptyTensorsAndPartialBlocks) {
  for (const recipes::NamedRecipe& entry : recipes::cache_recipes()) {
    const QuantRecipe& recipe = named_recipe(entry.name);
    SCOPED_TRACE(entry.name);
    for (const auto& [rows, columns] : {std::pair{0, 4}, std::pair{4, 0}, std::pair{0, 0}}) {
      recipes::Inputs inputs;
      for (const recipes::Input& input : recipe.inputs) {
        if (input.per == recipes::PerInput::table)
          inputs[input.name].resize(static_cast<std::size_t>(input.entries));
        else if (input.default_literal.empty())
          inputs[input.name] = {1};
      }
      const recipes::TensorView empty{rows, columns, {}};
      const recipes::Quantized q = recipes::quantize(recipe, empty, inputs);
      EXPECT_EQ(q, recipes::quantize_exact(recipe, empty, inputs));
      EXPECT_TRUE(q.codes.empty());
      EXPECT_TRUE(recipes::dequantize(recipe, q, inputs).empty());
    }
    // A partial block is a block of the elements it has: quantized alone it gives the same.
    if (recipe.granularity != recipes::Granularity::group || recipe.A >= 0) continue;
    const auto n = static_cast<std::size_t>(recipe.columns);
    Tensor tensor = stratified(recipe, 1, recipe.columns + 5, 7, kFiniteFillings);
    const recipes::Quantized whole = recipes::quantize(recipe, tensor.view());
    const Tensor part =
        row_of(std::vector<double>(tensor.values.begin() + recipe.columns, tensor.values.end()));
    const recipes::Quantized alone = recipes::quantize(recipe, part.view());
    EXPECT_EQ(whole.scales.at(1), alone.scales.at(0));
    EXPECT_TRUE(std::equal(alone.codes.begin(), alone.codes.end(),
                           whole.codes.begin() + static_cast<std::ptrdiff_t>(n)));
  }
}

TEST(RecipesCache, Refusals) {
  const std::vector<double> three = {1, 2, 3};
  const recipes::TensorView view{1, 3, three};
  EXPECT_THROW(recipes::quantize(named_recipe("quarot/k"), view),
               InputError);  // not a power of two: never padded silently
  EXPECT_THROW(recipes::quantize(named_recipe("kvquant/v"), view), InputError);  // no codebook
  EXPECT_THROW(recipes::quantize(named_recipe("kvquant/v"), view, {{"codebook", {1, 2}}}), InputError);
  EXPECT_THROW(named_recipe("kivi/k", "e4m3"), InputError);
  EXPECT_THROW(named_recipe("ggml/q4_0", "uint8"), InputError);
}

// ---- disagreements ----

std::vector<double> read_back(const QuantRecipe& recipe, const Tensor& tensor,
                              const recipes::Inputs& inputs = {}) {
  return recipes::dequantize(recipe, recipes::quantize(recipe, tensor.view(), inputs), inputs);
}

TEST(Disagreements, ReadOfTheCacheThroughHalf) {
  const recipes::Inputs scale = {{"scale", {0x1.8ef606p-3}}};
  recipes::Quantized q = recipes::quantize(named_recipe("kv_fp8/vllm"), row_of({0}).view(), scale);
  q.codes = {0x01};
  EXPECT_EQ(recipes::dequantize(named_recipe("kv_fp8/vllm"), q, scale)[0], 0x1.8ep-12);
  EXPECT_EQ(recipes::dequantize(named_recipe("kv_fp8/vllm_packed"), q, scale)[0], 0x1.9p-12);
}

TEST(Disagreements, ScaleOfTheFirstBatch) {
  const Tensor batch = row_of({200, -1, 0.5});
  const auto scale = [&](std::string_view name) {
    return number_of(spec_of("f32"), recipes::quantize(named_recipe(name), batch.view()).scales.at(0));
  };
  EXPECT_EQ(scale("kv_fp8/vllm_calculated"), 1.0);
  EXPECT_EQ(scale("kv_fp8/vllm_calculated_v"), 2.0);
  EXPECT_EQ(scale("fp8_per_tensor/vllm"), in_format(spec_of("f32"), 200.0 / 448));
}

TEST(Disagreements, RealMinimumOrZeroPoint) {
  const QuantRecipe& real = named_recipe("kivi/v");
  const QuantRecipe& integer = named_recipe("int_asym/zero_point", "uint2");
  const Tensor far = row_of({9, 10, 11, 12}), near = row_of({0.4, -0.3, 0.2, 0.5});
  EXPECT_EQ(read_back(real, far), far.values);
  EXPECT_EQ(read_back(integer, far), (std::vector<double>{8, 8, 12, 12}));
  EXPECT_NEAR(read_back(real, near)[3], 0.5, 0.0005);
  EXPECT_NEAR(read_back(integer, near)[3], 0.53333, 0.00001);
}

TEST(Disagreements,
     AxisOfTheKeys) {  // a key group runs down a channel; along the token it sees other extremes
  const Tensor k{2, 2, {1, 100, 2, 300}};
  EXPECT_EQ(recipes::quantize(named_recipe("kivi/k"), k.view()).codes,
            (std::vector<std::uint64_t>{0, 0, 3, 3}));
  EXPECT_EQ(recipes::quantize(named_recipe("kivi/v"), k.view()).codes,
            (std::vector<std::uint64_t>{0, 3, 0, 3}));
}

TEST(RecipesCache, QuantilesOfSignedZerosKeepTheOrderInWhichTheyStand) {
  for (const char* name : {"kvquant/k_calibrated", "kvquant/v"}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Random random(seed);
      Tensor zeros{64, 40, std::vector<double>(64 * 40)};
      for (double& value : zeros.values) value = random.below(2) == 0 ? 0.0 : -0.0;
      for (int i = 0; i < 30; ++i) zeros.values[random.below(zeros.values.size())] = random.normal();
      compare_with_twin(named_recipe(name), zeros, {{"codebook", random_codebook(16, random)}, {"dense", {0.9}}});
      if (HasFailure()) return;
    }
  }
}

TEST(Disagreements, ValueEqualToAThreshold) {
  recipes::Inputs inputs = {
      {"codebook", {-1, -0.5, 0.5, 1}}, {"outlier_lower", {-1}}, {"outlier_upper", {2}}};
  const QuantRecipe& strict = named_recipe("kvquant/k", "uint2");
  const Tensor channel{5, 1, {-1, 0, 0.5, 2, 16}};
  const recipes::Quantized q = recipes::quantize(strict, channel.view(), inputs);
  ASSERT_EQ(q.kept.size(), 1u);
  EXPECT_EQ(q.kept[0].index, 4);
  // Inclusive, at run time: quantile 1/2 on either side of [-1, 0, 1] is the element 0 itself.
  inputs = {{"codebook", {-1, -0.5, 0.5, 1}}, {"dense", {0}}};
  EXPECT_EQ(
      recipes::quantize(named_recipe("kvquant/v", "uint2"), row_of({-1, 0, 1}).view(), inputs).kept.size(),
      3u);
  // A channel of one value between equal thresholds has no strict outlier, and eight inclusive ones.
  inputs = {{"codebook", {-1, -0.5, 0.5, 1}}, {"outlier_lower", {1}}, {"outlier_upper", {1}}};
  EXPECT_TRUE(recipes::quantize(strict, filled(8, 1, 1).view(), inputs).kept.empty());
  inputs = {{"codebook", {-1, -0.5, 0.5, 1}}};
  EXPECT_EQ(
      recipes::quantize(named_recipe("kvquant/v", "uint2"), filled(1, 8, 1).view(), inputs).kept.size(),
      8u);
}

TEST(Disagreements,
     HalfAwayBySumAndTruncation) {  // the largest float below 1/2: its sum with 1/2 rounds to 1
  const Tensor x = row_of({127, 0x1.fffffep-2, 2.5, -2.5});
  const auto codes = [&](std::string_view name) {
    return recipes::quantize(named_recipe(name), x.view()).codes;
  };
  EXPECT_EQ(codes("sage/int8_qk"), (std::vector<std::uint64_t>{127, 0, 2, 0xfe}));
  EXPECT_EQ(codes("sage/int8_qk_triton"), (std::vector<std::uint64_t>{127, 1, 3, 0xfd}));
}

TEST(Disagreements, CacheOfNvfp4IsTheRecipe) {  // G = 1/k_scale
  Random random(11);
  const Tensor x = stratified(named_recipe("nvfp4_kv/vllm"), 10, 64, 5, kFiniteFillings);
  for (const double k_scale : {1.0, 0.25, 0x1.8p-7}) {
    const recipes::Quantized cache =
        recipes::quantize(named_recipe("nvfp4_kv/vllm"), x.view(), {{"k_scale", {k_scale}}});
    const double g = in_format(spec_of("f32"), 1 / k_scale);
    const recipes::Quantized plain =
        recipes::quantize(named_recipe("nvfp4/vllm"), x.view(), {{recipes::kTensorScale, {g}}});
    EXPECT_EQ(cache.codes, plain.codes);
    EXPECT_EQ(cache.scales, plain.scales);
  }
}

// ---- rows of block.json that name these recipes ----

TEST(CacheCases, ConstantGroup) {  // block-C15-3
  const double x = 0x1.47ae14p-7;
  const recipes::Quantized q =
      recipes::quantize(named_recipe("int_asym/zero_point"), filled(1, 32, x).view());
  EXPECT_EQ(q.scales.at(0), 0x38247b86u);
  EXPECT_EQ(q.codes, std::vector<std::uint64_t>(32, 255));
  EXPECT_EQ(read_back(named_recipe("int_asym/zero_point"), filled(1, 32, x)), std::vector<double>(32, x));
}

TEST(CacheCases, GroupOf96) {  // block-E9-1: no padding enters minimum and maximum
  Tensor x = filled(1, 96, 0);
  for (std::size_t i = 0; i < 96; ++i)
    x.values[i] = in_format(spec_of("f32"), 5 + 3.0 * static_cast<double>(i) / 95);
  const QuantRecipe recipe = recipes::with_block(named_recipe("int_asym/zero_point_group"), "96");
  const recipes::Quantized q = recipes::quantize(recipe, x.view());
  EXPECT_EQ(q.scales.at(0), 0x3e4ccccdu);
  EXPECT_EQ(q.codes.front(), 0u);
  EXPECT_EQ(q.codes.back(), 15u);
}

TEST(CacheCases, GroupOfFourTokens) {  // block-F11-1
  const Tensor x{4, 1, {1, 0x1.4ccp+0, 2, 0x1.668p-1}};
  const recipes::Quantized q = recipes::quantize(named_recipe("kivi/k"), x.view());
  EXPECT_EQ(number_of(spec_of("f16"), q.scales.at(0)), 0x1.bbcp-2);
  EXPECT_EQ(q.codes, (std::vector<std::uint64_t>{1, 1, 3, 0}));
  EXPECT_EQ(read_back(named_recipe("kivi/k"), x),
            (std::vector<double>{0x1.224p+0, 0x1.224p+0, 2, 0x1.668p-1}));
}

TEST(CacheCases, RotationKeepsTheNorm) {  // block-F15-1: 1/sqrt of the padded length; 2^-k and 2^-k/sqrt(2)
  for (const std::int64_t d : {1, 2, 4, 8, 64, 128, 256}) {
    QuantRecipe recipe = named_recipe("quarot/k");
    recipe.steps.clear();  // keep the rotation alone
    recipes::Step keep;
    keep.op = recipes::Op::cast;
    keep.scope = recipes::Scope::element;
    keep.result = recipe.code.reg;
    keep.operands = {recipe.x};
    recipe.code.format = keep.target = spec_of("f32");
    keep.policy.overflow = Overflow::overflow;
    recipe.steps.push_back(keep);
    recipe.scale.reg = recipe.zero.reg = -1;
    Tensor x = filled(1, d, 0);
    x.values[0] = 1;
    double norm = 0;
    for (const std::uint64_t code : recipes::quantize(recipe, x.view()).codes)
      norm += std::pow(number_of(spec_of("f32"), code), 2);
    EXPECT_NEAR(norm, 1, 0.001) << d;
  }
}

}  // namespace
}  // namespace halfulp::test
