// MX recipes: engine against twin, documented results on special values, rules, disagreements.
#include <gtest/gtest.h>

#include "halfulp/error.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_lines.hpp"
#include "recipe_sweep.hpp"

namespace halfulp::recipes {
namespace {

using namespace halfulp::test;

TEST(MxRecipes, EveryRuleProducerAndElementAgreesWithItsTwin) {
  std::vector<std::function<void()>> jobs;
  for (const NamedRecipe& entry : mx_recipes()) {
    for (const std::string& element : recipe_elements(entry.name)) {
      const QuantRecipe* recipe = &named_recipe(entry.name, element);
      const std::uint64_t elements = recipe == &named_recipe(entry.name) ? 100000 : 20000;
      jobs.emplace_back(
          [=] { EXPECT_GE(sweep(*recipe, elements, 20250), elements) << recipe->name << " " << element; });
    }
  }
  ASSERT_EQ(jobs.size(), 58u);
  in_parallel(jobs);
}

// clang-format off
struct Row { const char *name, *element, *zeros, *nan, *infinity, *only_nan, *subnormal, *huge, *tiny, *seven; };
constexpr const char* kInputs[] = {"0 -0", "1 nan -2", "1 inf -2", "nan", "2^-149 -2^-140 0", "0x1.fffffep127 1", "2^-130", "7"};
/// Each as SCALE CODE CODE …
constexpr Row kSpecials[] = {
  {"mxfp8/ocp_floor", "e4m3", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 80 00", "f6 7e 00", "00 20", "79 7e"},
  {"mxfp8/ocp_floor", "e5m2", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 88 00", "ef 7b 00", "00 30", "72 7b"},
  {"mxfp8/even",      "e4m3", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 80 00", "f7 78 00", "00 20", "79 7e"},
  {"mxfp8/even",      "e5m2", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 88 00", "f0 78 00", "00 30", "72 7b"},
  {"mxfp8/ceil",      "e4m3", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 80 00", "f7 78 00", "00 20", "7a 76"},
  {"mxfp8/ceil",      "e5m2", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 88 00", "f0 78 00", "00 30", "73 77"},
  {"mxfp8/rceil",     "e4m3", "00 00 80", "78 70 7f f8", "fe 00 7e 80", "00 7f", "00 00 80 00", "f7 78 00", "00 20", "79 7e"},
  {"mxfp8/rceil",     "e5m2", "00 00 80", "71 74 7f f8", "fe 00 7b 80", "00 7f", "00 00 88 00", "f0 78 00", "00 30", "72 7b"},
  {"mxfp6/ocp_floor", "e2m3", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fc 1f 00", "00 01", "7f 1e"},
  {"mxfp6/ocp_floor", "e3m2", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fa 1f 00", "00 02", "7d 1f"},
  {"mxfp6/even",      "e2m3", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fd 18 00", "00 01", "7f 1e"},
  {"mxfp6/even",      "e3m2", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fb 1c 00", "00 02", "7d 1f"},
  {"mxfp6/ceil",      "e2m3", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fd 18 00", "00 01", "80 16"},
  {"mxfp6/ceil",      "e3m2", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fb 1c 00", "00 02", "7e 1b"},
  {"mxfp6/rceil",     "e2m3", "00 00 20", "7e 10 1f 38", "fe 00 1f 20", "00 1f", "00 00 20 00", "fd 18 00", "00 01", "7f 1e"},
  {"mxfp6/rceil",     "e3m2", "00 00 20", "7c 18 1f 3c", "fe 00 1f 20", "00 1f", "00 00 20 00", "fb 1c 00", "00 02", "7d 1f"},
  {"mxfp4/ocp_floor", "e2m1", "00 0 8",   "ff 7 7 7",    "ff 7 7 7",    "ff 7",  "00 0 8 0",    "fc 7 0",   "00 0",  "7f 7"},
  {"mxfp4/even",      "e2m1", "00 0 8",   "ff 7 7 7",    "ff 7 7 7",    "ff 7",  "00 0 8 0",    "fd 6 0",   "00 0",  "80 6"},
  {"mxfp4/ceil",      "e2m1", "00 0 8",   "ff 7 7 7",    "ff 7 7 7",    "ff 7",  "00 0 8 0",    "fd 6 0",   "00 0",  "80 6"},
  {"mxfp4/rceil",     "e2m1", "00 0 8",   "7e 4 7 e",    "fe 0 7 8",    "00 7",  "00 0 8 0",    "fd 6 0",   "00 0",  "80 6"},
  {"mxint8/ocp_floor", "mxint8", "00 00 00", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 00 00", "fe 7f 00", "00 08", "81 70"},
  {"mxfp8/transformer_engine", "e4m3", "00 00 80", "78 70 7f f8", "fe 00 7e 80", "00 7f", "00 00 80 00", "f7 78 00", "00 20", "79 7e"},
  {"mxfp8/transformer_engine", "e5m2", "00 00 80", "71 74 7f f8", "fe 00 7b 80", "00 7f", "00 00 88 00", "f0 78 00", "00 30", "72 7b"},
  {"mxfp8/rceil_torchao", "e4m3", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 80 00", "f7 78 00", "00 20", "79 7e"},
  {"mxfp8/rceil_torchao", "e5m2", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 88 00", "f0 78 00", "00 30", "72 7b"},
  {"mxfp8/cudnn",      "e4m3", "00 00 80", "78 70 7f f8", "fe 00 7e 80", "00 7f", "00 00 80 00", "f7 78 00", "00 20", "79 7e"},
  {"mxfp8/cudnn",      "e5m2", "00 00 80", "71 74 7f f8", "fe 00 7b 80", "00 7f", "00 00 88 00", "f0 78 00", "00 30", "72 7b"},
  {"mxfp8/flashinfer", "e4m3", "00 00 80", "78 70 7f f8", "fe 00 7f 80", "00 7f", "00 00 80 00", "f7 78 00", "00 00", "79 7e"},
  {"mxfp4/flashinfer", "e2m1", "00 0 8", "7e 4 7 e", "fe 0 7 8", "00 7", "00 0 8 0", "fd 6 0", "00 0", "80 6"},
  {"mxfp4/vllm",       "e2m1", "00 0 8", "7e 4 7 e", "fd 0 7 8", "00 7", "00 0 8 0", "fd 6 0", "00 0", "80 6"},
  {"mxfp4/compressed_tensors", "e2m1", "00 0 8", "ff 0 7 8", "ff 0 7 8", "ff 7", "00 0 8 0", "ff 0 0", "00 0", "80 6"},
  {"mxfp4/deepgemm",   "e2m1", "70 0 0", "fe 0 7 0", "fe 0 7 0", "fe 7", "70 0 0 0", "fd 6 0", "70 0", "80 5"},
  {"mx/microxcaling",  "e4m3", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 80 00", "f7 78 00", "00 20", "79 7e"},
  {"mx/microxcaling",  "e5m2", "00 00 80", "ff 7f 7f 7f", "ff 7f 7f 7f", "ff 7f", "00 00 88 00", "f0 78 00", "00 30", "72 7b"},
  {"mx/microxcaling",  "e3m2", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fb 1c 00", "00 02", "7d 1f"},
  {"mx/microxcaling",  "e2m3", "00 00 20", "ff 1f 1f 1f", "ff 1f 1f 1f", "ff 1f", "00 00 20 00", "fd 18 00", "00 01", "7f 1e"},
  {"mx/microxcaling",  "e2m1", "00 0 8", "ff 7 7 7", "ff 7 7 7", "ff 7", "00 0 8 0", "fd 6 0", "00 0", "7f 7"},
};
// clang-format on

TEST(MxRecipes, SpecialValuesGiveTheDocumentedResults) {
  ASSERT_EQ(std::size(kSpecials), 37u);
  for (const Row& row : kSpecials) {
    const QuantRecipe& recipe = named_recipe(row.name, row.element);
    const char* expected[] = {row.zeros,     row.nan,  row.infinity, row.only_nan,
                              row.subnormal, row.huge, row.tiny,     row.seven};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
      EXPECT_EQ(line(recipe, kInputs[i]), expected[i])
          << row.name << " " << row.element << ": " << kInputs[i];
    }
  }
}

TEST(MxRecipes, EmptyTensorsHaveNoBlocksAndPartialBlocksStandAlone) {
  for (const NamedRecipe& entry : mx_recipes()) {
    const QuantRecipe& recipe = named_recipe(entry.name);
    for (const auto& [rows, columns] : {std::pair{0, 0}, {0, 32}, {3, 0}}) {
      const Tensor empty = filled(rows, columns, 0);
      EXPECT_TRUE(quantize(recipe, empty.view()).scales.empty()) << entry.name;
      EXPECT_EQ(compare_with_twin(recipe, empty), 0u);
    }
    Tensor tensor = filled(2, 33, 1);
    tensor.values[32] = 3;
    tensor.values[65] = -0.1f;
    const Quantized q = quantize(recipe, tensor.view());
    ASSERT_EQ(q.scales.size(), 4u);
    for (const std::size_t last : {32u, 65u}) {
      const Quantized alone = quantize(recipe, row_of({tensor.values[last]}).view());
      EXPECT_EQ(q.scales[last == 32 ? 1 : 3], alone.scales[0]) << entry.name;
      EXPECT_EQ(q.codes[last], alone.codes[0]) << entry.name;
    }
  }
}

TEST(MxRecipes, RulesDifferOnTheStatedMaxima) {
  const auto result = [](const std::string& name, const char* literal) {
    const QuantRecipe& recipe = named_recipe(name);
    const Quantized q = quantize(recipe, row_of(numbers(literal)).view());
    return std::pair(static_cast<int>(q.scales[0]) - 127, dequantize(recipe, q)[0]);
  };
  using Pair = std::pair<int, double>;
  EXPECT_EQ(result("mxfp4/ocp_floor", "7"), Pair(0, 6));
  EXPECT_EQ(result("mxfp8/ocp_floor", "496"), Pair(0, 448));
  EXPECT_EQ(result("mxfp8/ocp_floor", "957"), Pair(1, 896));
  for (const std::string rule : {"even", "ceil", "rceil"}) {
    EXPECT_EQ(result("mxfp4/" + rule, "7"), Pair(1, 8)) << rule;
    EXPECT_EQ(result("mxfp8/" + rule, "496"), Pair(1, 512)) << rule;
    EXPECT_EQ(result("mxfp8/" + rule, "957"), rule == "even" ? Pair(1, 896) : Pair(2, 960)) << rule;
  }
  // `even` goes up from 1.75 (E2M1) and 1.9375 (E4M3) on, inclusive
  EXPECT_EQ(line(named_recipe("mxfp4/even"), "7"), "80 6");
  EXPECT_EQ(line(named_recipe("mxfp4/even"), "0x1.bffffep2"), "7f 7");
  EXPECT_EQ(line(named_recipe("mxfp8/even"), "0x1.fp8"), "80 78");
  EXPECT_EQ(line(named_recipe("mxfp8/even"), "0x1.effffep8"), "7f 7e");
}

TEST(MxRecipes, RoundUpIsTheSameByProductAndByQuotient) {  // every mantissa: recipes_mx_exhaustive.cpp
  Tensor tensor = filled(0, 1, 0);
  for (std::uint32_t mantissa = 0; mantissa < 1u << 23; mantissa += 61) {
    tensor.values.push_back(std::bit_cast<float>(0x3f800000u | mantissa));
    ++tensor.rows;
  }
  for (const char* element : {"e4m3", "e5m2"}) {
    EXPECT_EQ(quantize(named_recipe("mxfp8/rceil", element), tensor.view()).scales,
              quantize(named_recipe("mxfp8/cudnn", element), tensor.view()).scales);
  }
}

TEST(MxRecipes, ElementsOverride) {
  EXPECT_EQ(recipe_elements("mxfp6/rceil"), (std::vector<std::string>{"e2m3", "e3m2"}));
  EXPECT_EQ(recipe_elements("nvfp4/vllm"), std::vector<std::string>{"e2m1"});
  EXPECT_EQ(named_recipe("mxfp8/rceil", "F8_E5M2").code.format_name, "e5m2");
  EXPECT_EQ(&named_recipe("mxfp8/rceil", "e4m3fn"), &named_recipe("mxfp8/rceil"));
  EXPECT_NE(recipe_text("mxfp8/rceil", "e5m2").find("0x1.24924ap-16"), std::string::npos);
  EXPECT_THROW(named_recipe("mxfp8/rceil", "e2m1"), InputError);
  EXPECT_THROW(named_recipe("mxfp4/rceil", "nonsense"), InputError);
  for (const NamedRecipe& entry : mx_recipes()) {
    for (const std::string& element : recipe_elements(entry.name)) {
      const QuantRecipe& recipe = named_recipe(entry.name, element);
      EXPECT_EQ(recipe.code.format_name, element) << entry.name;
      EXPECT_EQ(recipe.text.find('$'), std::string::npos) << recipe.text;
      EXPECT_FALSE(recipe.facts.empty()) << entry.name;
    }
    EXPECT_FALSE(entry.mark.empty());
  }
}

// ---- disagreements: one input, two named behaviours, two results ----

TEST(MxRecipes, Disagreements) {
  const auto of = [](const char* name, const char* literals) { return line(named_recipe(name), literals); };
  // NaN in a block: the whole block, or the element alone
  EXPECT_EQ(of("mxfp8/ocp_floor", "nan 1"), "ff 7f 7f");
  EXPECT_EQ(of("mxfp8/rceil", "nan 1"), "77 7f 78");
  // Inf in a block
  EXPECT_EQ(of("mxfp8/rceil_torchao", "inf 1").substr(0, 2), "ff");
  EXPECT_EQ(of("mxfp8/transformer_engine", "inf 1").substr(0, 2), "fe");
  // byte 0: factor 2^127, 1 or 0
  EXPECT_EQ(of("mxfp4/rceil", "2^-127"), "00 2");
  EXPECT_EQ(of("mxfp4/flashinfer", "2^-127"), "00 0");
  EXPECT_EQ(of("mxfp8/flashinfer", "2^-127"), "00 00");
  EXPECT_EQ(of("mxfp8/rceil", "2^-127"), "00 38");
  // byte 0 on the way back: 2^-127 or 0
  const Quantized q = quantize(named_recipe("mxfp4/vllm"), row_of({0x1p-127}).view());
  EXPECT_EQ(dequantize(named_recipe("mxfp4/vllm"), q)[0], 0.0);
  EXPECT_EQ(dequantize(named_recipe("mxfp4/even"), q)[0], 0x1p-127);
  // amax through bf16
  EXPECT_EQ(of("mxfp4/vllm", "6.999").substr(0, 2), "7f");
  EXPECT_EQ(of("mxfp4/compressed_tensors", "6.999").substr(0, 2), "80");
  std::string text(recipe_entry("mxfp8/ocp_floor").text);
  text.replace(text.find("pow2_floor(a)"), 13, "pow2_floor(to(bf16 a))");
  EXPECT_EQ(line(parse_recipe("amax through bf16", text), "511.5").substr(0, 2), "80");
  EXPECT_EQ(of("mxfp8/ocp_floor", "511.5").substr(0, 2), "7f");
  // E2M1 ties: to even, toward zero, away; -0
  EXPECT_EQ(of("mxfp4/ocp_floor", "6 0.75 2.5 -0"), "7f 7 2 4 8");
  EXPECT_EQ(of("mxfp4/deepgemm", "6 0.75 2.5 -0"), "7f 7 1 4 0");
  EXPECT_EQ(line(named_recipe("mx/microxcaling", "e2m1"), "6 0.75 2.5 -0"), "7f 7 2 5 8");
  EXPECT_EQ(of("mxfp8/ocp_floor", "256 1.0625"), "7f 78 38");
  EXPECT_EQ(of("mx/microxcaling", "256 1.0625"), "7f 78 39");
}

}  // namespace
}  // namespace halfulp::recipes
