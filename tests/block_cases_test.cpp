// Every row of tests/data/block.json - block inputs that broke real libraries - that is a cast, a decoding,
// a scale, a step or the quantization of a block: by the engines and by the exact side.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/text.hpp"
#include "recipe_twins.hpp"

namespace halfulp::test {
namespace {

using namespace halfulp::recipes;
using nlohmann::json;

const json& cases() {
  static const json all = [] {
    std::ifstream file(HALFULP_SOURCE_DIR "/tests/data/block.json");
    return json::parse(file).at("cases");
  }();
  return all;
}

bool has(const json& row, const char* key) {
  return row.contains(key) && !row.at(key).is_null();
}
std::uint64_t code_of_text(const std::string& text) {
  return std::stoull(text, nullptr, 16);
}
bool is_code(const std::string& text) {
  return text.substr(0, 2) == "0x" && text.find('p') == std::string::npos;
}
json as_list(const json& value) {
  return value.is_array() ? value : json::array({value});
}

/// A word of the source format, a literal, or a hex-float, as a number.
double number(const std::string& text, const std::string& from = "f32") {
  constexpr CastPolicy exact = {.overflow = Overflow::overflow};
  if (is_code(text)) return number_of(require_format(from).spec, code_of_text(text));
  return number_of(spec_of("f64"), cast(parse_literal(text).value, spec_of("f64"), exact).code);
}

TEST(BlockCases, EveryCastGivesTheExpectedCodeInBothEngines) {
  int casts = 0;
  for (const json& row : cases()) {
    const bool scale = row.at("op") == "scale" && row.contains("rounding");  // a cast into E8M0
    if (row.at("op") != "cast" && !scale) continue;
    CastRequest request{row.at("from"), row.at("to"), "", {}};
    for (const char* key : {"rounding", "overflow", "nan"}) {
      if (has(row, key)) request.options.emplace_back(key, row.at(key));
    }
    const CastPlan plan = make_plan(request);
    const std::string input = row.at("input");
    CastResult engine, truth;
    if (is_code(input)) {
      engine = plan(code_of_text(input));
      truth = oracle::cast(*plan.from, code_of_text(input), plan.to, plan.policy);
    } else {
      engine = plan(parse_literal(input).value);
      truth = oracle::nearest(*oracle::parse_value(input), plan.to, plan.policy);
    }
    EXPECT_EQ(engine.code, code_of_text(row.at("expected"))) << row.dump();
    EXPECT_EQ(truth.code, code_of_text(row.at("expected"))) << row.dump();
    if (has(row, "wrong") && is_code(row.at("wrong"))) {
      EXPECT_NE(engine.code, code_of_text(row.at("wrong"))) << row.dump();
    }
    ++casts;
  }
  EXPECT_EQ(casts, 69 + 8);
}

TEST(BlockCases, EveryDecodeGivesTheExactValueInBothEngines) {
  int decodes = 0;
  for (const json& row : cases()) {
    if (row.at("op") != "decode") continue;
    const FormatSpec spec = require_format(row.at("from").get<std::string>()).spec;
    const std::uint64_t word = code_of_text(row.at("input"));
    const oracle::Value truth = oracle::value_of(spec, word);
    std::string engine;
    append_decimal(engine, unpack(spec, word));
    EXPECT_EQ(engine, oracle::to_string(truth)) << row.dump();
    for (const std::string expected : row.at("expected")) {  // the same number in several writings
      if (expected == "nan") {
        EXPECT_EQ(truth.cls, oracle::ValueClass::nan) << row.dump();
        continue;
      }
      const oracle::Value value = *oracle::parse_value(expected);
      EXPECT_TRUE(value.cls == truth.cls && value.negative == truth.negative &&
                  value.magnitude == truth.magnitude)
          << row.dump();
    }
    ++decodes;
  }
  EXPECT_EQ(decodes, 20);
}

struct Block {
  QuantRecipe recipe;
  Tensor tensor;
  Inputs inputs;
};

/// What a row of a named recipe asks for. Its values are one row, or one column where the recipe groups
/// along columns.
Block block_of(const json& row, const std::string& element) {
  Block block{element.empty() ? named_recipe(row.at("recipe").get<std::string>())
                              : named_recipe(row.at("recipe").get<std::string>(), element),
              {},
              {}};
  std::vector<double> values;
  for (const std::string text : as_list(row.at("input"))) values.push_back(number(text, row.at("from")));
  block.tensor = row_of(std::move(values));
  const auto count = static_cast<int>(block.tensor.values.size());
  if (block.recipe.granularity == Granularity::tile && block.recipe.columns == 1) {
    std::swap(block.tensor.rows, block.tensor.columns);
    block.recipe = with_granularity(block.recipe, Granularity::tile, count, 1);
  } else if (block.recipe.granularity == Granularity::group && row.contains("block")) {
    block.recipe = with_granularity(block.recipe, Granularity::group, 1, row.at("block").get<int>());
  }
  if (has(row, "tensor_amax")) block.inputs[kTensorAmax] = {number(row.at("tensor_amax"))};
  if (has(row, "tensor_scale")) block.inputs["scale"] = {number(row.at("tensor_scale"))};
  return block;
}

std::int64_t integer_code(const json& code, const FormatSpec& format) {
  return code.is_string() ? static_cast<std::int64_t>(code_of_text(code))
                          : code.get<std::int64_t>() & static_cast<std::int64_t>(low_mask(format.width));
}

void check_block(const json& row) {
  const Block block = block_of(row, row.at("to"));
  EXPECT_EQ(compare_with_twin(block.recipe, block.tensor, block.inputs), block.tensor.values.size())
      << row.at("id");
  const Quantized q = quantize(block.recipe, block.tensor.view(), block.inputs);
  if (has(row, "expected_scale")) {
    const json& scale = row.at("expected_scale");
    const FormatSpec& format = block.recipe.scale.format;
    if (scale.contains("code") && format.width == 8) {
      EXPECT_EQ(q.scales.at(0), code_of_text(scale.at("code"))) << row.at("id");
    }
    if (scale.contains("value")) {
      EXPECT_EQ(number_of(format, q.scales.at(0)), number(scale.at("value"))) << row.at("id");
    }
    if (scale.contains("bits")) {
      EXPECT_EQ(q.scales.at(0), code_of_text(scale.at("bits"))) << row.at("id");
    }
  }
  if (has(row, "expected_global")) {
    EXPECT_EQ(number_of(block.recipe.tensor_scale.format, q.tensor_scale.value()),
              number(row.at("expected_global")));
  }
  const char* codes = has(row, "expected_codes") ? "expected_codes"
                      : has(row, "expected")     ? "expected"
                                                 : nullptr;
  for (std::size_t i = 0; codes != nullptr && i < q.codes.size(); ++i) {
    EXPECT_EQ(static_cast<std::int64_t>(q.codes[i]),
              integer_code(row.at(codes)[i], block.recipe.code.format))
        << row.at("id") << " element " << i;
  }
  const std::vector<double> values = dequantize(block.recipe, q, block.inputs);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string expected = row.at("expected_values")[i];
    if (expected == "nan") {
      EXPECT_TRUE(std::isnan(values[i])) << row.at("id") << " element " << i;
    } else {
      EXPECT_EQ(values[i], number(expected)) << row.at("id") << " element " << i;
    }
  }
}

TEST(BlockCases, EveryBlockOfANamedRecipeGivesScaleCodesAndValues) {
  std::map<std::string, int> rows;
  for (const json& row : cases()) {
    const bool steps = row.at("op") == "steps" && row.contains("from") && row.contains("recipe");
    if (row.at("op") != "quantize" && !steps) continue;
    check_block(row);
    ++rows[row.at("recipe")];
  }
  EXPECT_EQ(rows["mxfp4/ocp_floor"] + rows["mxfp4/even"] + rows["mxfp4/ceil"] + rows["mxfp4/rceil"] +
                rows["mxfp8/ocp_floor"],
            9);
  EXPECT_EQ(rows["nvfp4/transformer_engine"] + rows["nvfp4/compressed_tensors"] + rows["nvfp4/torchao"], 9);
  int all = 0;
  for (const auto& each : rows) all += each.second;
  EXPECT_EQ(all, 30);
}

TEST(BlockCases, EveryScaleOfANamedRecipe) {
  int rows = 0;
  for (const json& row : cases()) {
    if (row.at("op") != "scale" || !row.contains("recipe") || row.at("input").is_object()) continue;
    const Block block = block_of(row, has(row, "element") ? row.at("element").get<std::string>() : "");
    const Quantized q = quantize(block.recipe, block.tensor.view(), block.inputs);
    EXPECT_EQ(q, quantize_exact(block.recipe, block.tensor.view(), block.inputs)) << row.at("id");
    EXPECT_EQ(q.scales.at(0), code_of_text(row.at("expected"))) << row.at("id");
    if (has(row, "wrong")) {
      EXPECT_NE(q.scales.at(0), code_of_text(row.at("wrong"))) << row.at("id");
    }
    ++rows;
  }
  EXPECT_EQ(rows, 10);
}

TEST(BlockCases, ScalesAndStepsThatAreStatedWithoutARecipe) {
  const std::map<std::string, std::string> scales = {
      {"448/amax in f64, then f32", "scale f32 448 / a @f64\ncode e4m3 clamp(x * S, 448)\nvalue v\n"},
      {"max(|min|/128, max/127) in f64",
       "scale f32 max(abs(lo) / 128, hi / 127) @f64\ncode int8 x / S\nvalue v * S\n"}};
  const std::map<std::string, std::string> steps = {
      {"divide", "input s\ncode e2m1 x / s\nvalue v * s\n"},
      {"reciprocal", "input s\ncode e2m1 x * (1 / s)\nvalue v * s\n"}};
  int rows = 0;
  for (const json& row : cases()) {
    if (row.contains("recipe") || !row.contains("variant") || row.at("op") == "pack") continue;
    const std::string variant = row.at("variant");
    const bool scale = row.at("op") == "scale";
    const QuantRecipe recipe = parse_recipe(variant, (scale ? scales : steps).at(variant));
    Inputs inputs;
    if (!scale) inputs["s"] = {number(row.at("scale"), row.at("scale_format"))};
    Tensor tensor;
    for (const std::string text : as_list(row.at("input")))
      tensor.values.push_back(
          number(text, row.at("from") == "exact" ? "f32" : row.at("from").get<std::string>()));
    tensor = row_of(tensor.values);
    EXPECT_EQ(compare_with_twin(recipe, tensor, inputs), tensor.values.size());
    const Quantized q = quantize(recipe, tensor.view(), inputs);
    EXPECT_EQ(scale ? q.scales.at(0) : q.codes.at(0), code_of_text(as_list(row.at("expected"))[0]))
        << row.at("id");
    ++rows;
  }
  EXPECT_EQ(rows, 9);
}

TEST(BlockCases, ByteZeroOfAScaleAndTheAmaxOfACalibration) {
  for (const json& row : cases()) {
    if (row.at("op") == "dequantize") {
      const QuantRecipe& recipe = named_recipe(row.at("recipe").get<std::string>());
      Quantized q;
      q.blocks = blocks_of(recipe, 1, 1);
      q.scales = {code_of_text(row.at("input").at("scale"))};
      q.codes = {code_of_text(row.at("input").at("code"))};
      EXPECT_EQ(dequantize(recipe, q).at(0), number(row.at("expected"))) << row.at("id");
      EXPECT_TRUE(same_number(dequantize(recipe, q)[0], dequantize_exact(recipe, q)[0]));
    }
    if (row.at("id") == "block-F17-1") {  // exported: the largest amax of all batches
      double amax = 0;
      for (const double batch : row.at("input").at("batch_amax")) amax = std::max(amax, batch);
      const Quantized q =
          quantize(named_recipe("nvfp4/modelopt"), row_of({1.0}).view(), {{kTensorAmax, {amax}}});
      EXPECT_EQ(q.tensor_scale, code_of_text(row.at("expected")));
    }
  }
}

}  // namespace
}  // namespace halfulp::test
