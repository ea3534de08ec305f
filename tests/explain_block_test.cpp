// Explanations of recipes on a block: exact and rounded steps, codes, errors, packed bytes; every recipe
// can be explained.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "halfulp/error.hpp"
#include "halfulp/explain/block.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"

namespace halfulp::explain {
namespace {

using recipes::Inputs;
using recipes::named_recipe;
using recipes::QuantRecipe;

BlockExplanation explained(const QuantRecipe& recipe, const std::vector<double>& row,
                           const Inputs& inputs = {}) {
  return explain_block(recipe, {1, static_cast<std::int64_t>(row.size()), row}, inputs);
}

const ExplainedStep& step_of(const std::vector<ExplainedStep>& steps, const std::string& result) {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const ExplainedStep& s) { return s.result == result; });
  if (found == steps.end()) throw std::out_of_range(result);
  return *found;
}

TEST(ExplainBlock, ShowsExactResultsRoundingsCodesErrorsAndBytes) {
  const BlockExplanation e =
      explained(named_recipe("fp8_static/vllm"), {0.01, -45, 180}, {{"scale", {0x1.124924p-2}}});
  ASSERT_EQ(e.blocks.size(), 1u);
  const ExplainedBlock& block = e.blocks[0];
  EXPECT_EQ(block.place, "row 0, columns 0..2");
  EXPECT_EQ(step_of(block.steps, "scale").value, "0x1.124924p-2 ≈ 0.2678571");  // given
  const ExplainedStep& r = step_of(block.steps, "r");
  EXPECT_EQ(r.operation, "1 / S");
  EXPECT_EQ(r.exact, "16777216/4493897");  // 2^24 / 0x449249
  EXPECT_EQ(r.value, "0x1.dddddep+1 ≈ 3.733333");
  EXPECT_EQ(r.rounded_to, "f32, ties_to_even");
  ASSERT_EQ(block.elements.size(), 3u);
  const ExplainedElement& tie = block.elements[1];
  EXPECT_EQ(tie.input, "-0x1.68p+5 = -45");
  EXPECT_EQ(tie.code, "0xf2");
  EXPECT_EQ(tie.relative, "+4.76 %");  // toward zero: -42.86 for -45
  EXPECT_EQ(step_of(tie.steps, "code").value, "-0x1.4p+7 = -160");
  EXPECT_EQ(block.elements[2].value, "0x1.ep+6 = 120");
  EXPECT_EQ(block.elements[2].error, "-60");
  EXPECT_EQ(block.packed, "12 f2 7e");
  EXPECT_EQ(block.packing, "byte_low_bits");
  EXPECT_EQ(block.scale, "0x3e892492");
  EXPECT_EQ(e.value_rule, "value v * S");
}

TEST(ExplainBlock, PacksAsTheRecipeDoes) {
  const BlockExplanation nibbles = explained(named_recipe("nvfp4/torchao"), {6, 0.5, -3, 6});
  EXPECT_EQ(nibbles.tensor_scale, "0x3b124925");
  EXPECT_EQ(nibbles.blocks[0].packed, "17 7d");  // low_first
  EXPECT_EQ(nibbles.blocks[0].packing, "low_first");
  std::vector<double> keys(32, 0);
  keys[1] = 3;
  const BlockExplanation words = explain_block(named_recipe("kivi/k"), {32, 1, keys}, {});
  EXPECT_EQ(words.blocks[0].packing, "int32_little");
  EXPECT_EQ(words.blocks[0].packed, "0c 00 00 00 00 00 00 00");  // element 1 at bit 2
  std::vector<double> block(32, 0);
  block[0] = -8;
  const BlockExplanation halves = explained(named_recipe("ggml/q4_0"), block);
  EXPECT_EQ(halves.blocks[0].packing, "ggml_half");
  EXPECT_EQ(halves.blocks[0].packed.substr(0, 5), "80 88");  // element 0 low, 16 high; zeros are code 8
}

TEST(ExplainBlock, ShowsWhatTheStepsStartFrom) {
  const BlockExplanation rotated = explained(named_recipe("quarot/k"), {1, 0, 0, 0});
  for (const ExplainedElement& element : rotated.blocks[0].elements) {
    const ExplainedStep& x = step_of(element.steps, "x");  // transformed
    EXPECT_EQ(x.value, "0x1p-1 = 0.5");
    EXPECT_NE(x.operation.find("hadamard"), std::string::npos);
    EXPECT_TRUE(element.error.empty());  // values are those of the rotated key
  }
  const BlockExplanation random =
      explained(named_recipe("nvfp4/transformer_engine_stochastic"), {6, 2.5}, {{"random", {0, 128}}});
  EXPECT_EQ(step_of(random.blocks[0].elements[1].steps, "random").value, "0x1p+7 = 128");
  EXPECT_EQ(random.blocks[0].elements[1].code, "0x5");
  const BlockExplanation given = explained(named_recipe("sage/int8_qk"), {3, 1}, {{"mean", {1, 1}}});
  EXPECT_EQ(step_of(given.blocks[0].elements[0].steps, "mean").value, "0x1p+0 = 1");
}

TEST(ExplainBlock, NamesOtherAdmissibleResults) {
  const BlockExplanation e = explained(named_recipe("fp8_block/vllm_cuda_ue8m0"), {1, 0.3});
  EXPECT_EQ(step_of(e.blocks[0].steps, "p").admissible, "0x1.fffffep-9 0x1.000002p-8");
  const BlockExplanation exact = explained(named_recipe("fp8_block/deepgemm"), {1, 0.3});
  for (const ExplainedStep& step : exact.blocks[0].steps) EXPECT_TRUE(step.admissible.empty());
}

TEST(ExplainBlock, EveryRecipe) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::string_view name : recipes::recipe_names()) {
    const QuantRecipe& recipe = named_recipe(name);
    Inputs inputs;
    for (const recipes::Input& input : recipe.inputs) {
      if (input.per == recipes::PerInput::table) {
        for (std::int64_t i = 0; i < input.entries; ++i)
          inputs[input.name].push_back(static_cast<double>(i) - 7.5);
      } else if (input.default_literal.empty()) {
        inputs[input.name] = {1};
      }
    }
    const auto rows = static_cast<std::int64_t>(std::max(1, std::min(recipe.rows, 16)));
    std::vector<double> values(static_cast<std::size_t>(16 * rows), 0.5);
    values[0] = 3;
    values[1] = recipe.transform_reg < 0 ? inf : 1;
    const BlockExplanation e = explain_block(recipe, {rows, 16, values}, inputs);
    const recipes::Quantized q = recipes::quantize(recipe, {rows, 16, values}, inputs);
    ASSERT_EQ(e.blocks.size(), static_cast<std::size_t>(q.blocks.count())) << name;
    std::size_t elements = 0;
    for (const ExplainedBlock& block : e.blocks) {
      elements += block.elements.size();
      EXPECT_EQ(block.scale.empty(), q.scales.empty()) << name;
      for (const ExplainedElement& element : block.elements) {
        EXPECT_FALSE(element.steps.empty()) << name;
        EXPECT_FALSE(element.code.empty() || element.value.empty()) << name;
      }
    }
    EXPECT_EQ(elements, values.size()) << name;
    const std::string text = to_text(e), html = to_html(e);
    EXPECT_NE(text.find(std::string(name)), std::string::npos);
    EXPECT_EQ(html.find("<script"), std::string::npos) << name;
    EXPECT_EQ(html.find("http"), std::string::npos) << name;
    EXPECT_TRUE(html.ends_with("</main>\n</body></html>\n")) << name;
  }
}

TEST(ExplainBlock, Refusals) {
  const QuantRecipe& recipe = named_recipe("mxfp8/rceil");
  EXPECT_THROW(explained(recipe, {}), InputError);
  EXPECT_THROW(explained(recipe, std::vector<double>(static_cast<std::size_t>(kMostExplained) + 1, 1)),
               InputError);
  EXPECT_THROW(explained(named_recipe("fp8_static/vllm"), {1}), InputError);  // no scale
}

}  // namespace
}  // namespace halfulp::explain
