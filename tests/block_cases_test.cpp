// Every row of tests/data/block.json - block inputs that broke real libraries - that is a cast, a decoding,
// a scale, a step, or the quantization of a block or tensor: by the engines and by the exact side. Rows
// that pack: packing_test.cpp, which refuses a row it does not know. Attention and mma are other parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "block_cases.hpp"
#include "halfulp/error.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/text.hpp"

namespace halfulp::test {
namespace {

using namespace halfulp::recipes;

const json& cases() {
  static const json all = [] {
    std::ifstream file(HALFULP_SOURCE_DIR "/tests/data/block.json");
    return json::parse(file).at("cases");
  }();
  return all;
}

void check_cast(const json& row) {
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
  EXPECT_EQ(engine.code, code_of_text(row.at("expected")));
  EXPECT_EQ(truth.code, code_of_text(row.at("expected")));
  if (has(row, "wrong") && is_code(row.at("wrong"))) {
    EXPECT_NE(engine.code, code_of_text(row.at("wrong")));
  }
}

void check_decode(const json& row) {
  const FormatSpec spec = require_format(row.at("from").get<std::string>()).spec;
  const std::uint64_t word = code_of_text(row.at("input"));
  const oracle::Value truth = oracle::value_of(spec, word);
  std::string engine;
  append_decimal(engine, unpack(spec, word));
  EXPECT_EQ(engine, oracle::to_string(truth));
  ASSERT_FALSE(row.at("expected").empty());
  for (const std::string expected : row.at("expected")) {  // the same number in several writings
    if (expected == "nan") {
      EXPECT_EQ(truth.cls, oracle::ValueClass::nan);
      continue;
    }
    const oracle::Value value = *oracle::parse_value(expected);
    EXPECT_TRUE(value.cls == truth.cls && value.negative == truth.negative &&
                value.magnitude == truth.magnitude);
  }
}

void check_named_block(const json& row) {
  const Block block = block_of(row, row.at("to"));
  EXPECT_EQ(compare_with_twin(block.recipe, block.tensor, block.inputs), block.tensor.values.size());
  const Quantized q = quantize(block.recipe, block.tensor.view(), block.inputs);
  if (has(row, "expected_scale")) {
    const json& scale = row.at("expected_scale");
    const FormatSpec& format = block.recipe.scale.format;
    if (scale.contains("code") && format.width == 8) {
      EXPECT_EQ(q.scales.at(0), code_of_text(scale.at("code")));
    }
    if (scale.contains("value")) {
      EXPECT_EQ(number_of(format, q.scales.at(0)), number(scale.at("value")));
    }
    if (scale.contains("bits")) {
      EXPECT_EQ(q.scales.at(0), code_of_text(scale.at("bits")));
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
        << "element " << i;
  }
  const std::vector<double> values = dequantize(block.recipe, q, block.inputs);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string expected = row.at("expected_values")[i];
    if (expected == "nan") {
      EXPECT_TRUE(std::isnan(values[i])) << "element " << i;
    } else {
      EXPECT_EQ(values[i], number(expected)) << "element " << i;
    }
  }
}

/// One value in a tensor of another: scales and codes of every tile.
void check_tensor(const json& row) {
  const QuantRecipe recipe = with_granularity(named_recipe(row.at("recipe").get<std::string>()),
                                              Granularity::tile, row.at("block")[0], row.at("block")[1]);
  const json& input = row.at("input");
  Tensor tensor = filled(input.at("shape")[0], input.at("shape")[1], number(input.at("fill")));
  std::vector<std::uint64_t> expected(tensor.values.size(),
                                      code_of_text(row.at("expected_codes").at("fill")));
  const auto place = [&](const json& entry) {
    return static_cast<std::size_t>(entry[0].get<std::int64_t>() * tensor.columns +
                                    entry[1].get<std::int64_t>());
  };
  for (const json& entry : input.at("set")) tensor.values[place(entry)] = number(entry[2]);
  for (const json& entry : row.at("expected_codes").at("set"))
    expected[place(entry)] = code_of_text(entry[2]);
  const Quantized q = quantize(recipe, tensor.view());
  EXPECT_EQ(q, quantize_exact(recipe, tensor.view()));
  EXPECT_EQ(q.codes, expected);
  EXPECT_EQ(std::count(q.codes.begin(), q.codes.end(), 0x7fu), row.at("nan_codes").get<std::ptrdiff_t>());
  std::size_t next = 0;
  for (const json& line : row.at("expected_scale")) {
    for (const std::string scale : line)
      EXPECT_EQ(number_of(recipe.scale.format, q.scales.at(next++)), number(scale));
  }
  EXPECT_EQ(next, q.scales.size());
}

void check_named_scale(const json& row) {
  const Block block = block_of(row, has(row, "element") ? row.at("element").get<std::string>() : "");
  const Quantized q = quantize(block.recipe, block.tensor.view(), block.inputs);
  EXPECT_EQ(q, quantize_exact(block.recipe, block.tensor.view(), block.inputs));
  EXPECT_EQ(q.scales.at(0), code_of_text(row.at("expected")));
  if (has(row, "wrong")) {
    EXPECT_NE(q.scales.at(0), code_of_text(row.at("wrong")));
  }
}

/// A scale or step that is stated without a recipe.
void check_variant(const json& row) {
  static const std::map<std::string, std::string> texts = {
      {"448/amax in f64, then f32", "scale f32 448 / a @f64\ncode e4m3 clamp(x * S, 448)\nvalue v\n"},
      {"max(|min|/128, max/127) in f64",
       "scale f32 max(abs(lo) / 128, hi / 127) @f64\ncode int8 x / S\nvalue v * S\n"},
      {"divide", "input s\ncode e2m1 x / s\nvalue v * s\n"},
      {"reciprocal", "input s\ncode e2m1 x * (1 / s)\nvalue v * s\n"}};
  const std::string variant = row.at("variant");
  const QuantRecipe recipe = parse_recipe(variant, texts.at(variant));
  Inputs inputs;
  if (!recipe.inputs.empty()) inputs["s"] = {number(row.at("scale"), row.at("scale_format"))};
  std::vector<double> values;
  for (const std::string text : as_list(row.at("input")))
    values.push_back(number(text, row.at("from") == "exact" ? "f32" : row.at("from").get<std::string>()));
  const Tensor tensor = row_of(values);
  EXPECT_EQ(compare_with_twin(recipe, tensor, inputs), tensor.values.size());
  const Quantized q = quantize(recipe, tensor.view(), inputs);
  EXPECT_EQ(recipe.scale.reg >= 0 ? q.scales.at(0) : q.codes.at(0),
            code_of_text(as_list(row.at("expected"))[0]));
}

/// Rows of `groups` tensors that share one grid of block scales: the block that holds a row.
void check_shared_scales(const json& row) {
  const json& input = row.at("input");
  const std::int64_t length = input.at("block"), rows = input.at("rows_per_group"),
                     first = rows * input.at("group").get<std::int64_t>();
  const QuantRecipe recipe = with_granularity(named_recipe("fp8_block/deepseek"), Granularity::tile,
                                              static_cast<int>(length), 128);
  const Blocks blocks = blocks_of(recipe, first + rows, 128);
  for (std::size_t i = 0; i < input.at("row_in_group").size(); ++i) {
    const std::int64_t at = first + input.at("row_in_group")[i].get<std::int64_t>(),
                       block = row.at("expected")[i];
    EXPECT_TRUE(blocks[block].row <= at && at < blocks[block].row + blocks[block].rows) << at;
  }
  EXPECT_GT(first + rows, row.at("wrong").at("rows_covered").get<std::int64_t>());
  EXPECT_EQ(blocks.count(), (first + rows + length - 1) / length);
}

/// The squared norm of the rotation's first column, over the padded length; the unpadded one is refused.
void check_rotation(const json& row) {
  QuantRecipe recipe = parse_recipe(
      "rotation", "granularity row\ntransform hadamard(x) * (1 / sqrt(count(x)))\ncode f32 x\nvalue v\n");
  Tensor x = filled(1, row.at("input").at("padded"), 0);
  x.values[0] = 1;
  EXPECT_EQ(compare_with_twin(recipe, x), x.values.size());
  double norm = 0;
  for (const double y : dequantize(recipe, quantize(recipe, x.view()))) norm += y * y;
  EXPECT_NEAR(norm, std::stod(row.at("expected").at("squared_norm_gain").get<std::string>()), 0x1p-20);
  EXPECT_THROW(quantize(named_recipe(row.at("recipe").get<std::string>()),
                        filled(1, row.at("input").at("head_dim"), 1).view()),
               InputError);
}

/// The amax of a calibration is the largest of its batches.
void check_calibration(const json& row) {
  double amax = 0;
  for (const double batch : row.at("input").at("batch_amax")) amax = std::max(amax, batch);
  const Quantized q = quantize(named_recipe(row.at("recipe").get<std::string>()), row_of({1.0}).view(),
                               {{kTensorAmax, {amax}}});
  EXPECT_EQ(q.tensor_scale, code_of_text(row.at("expected")));
}

void check_outliers(const json& row) {
  const json& input = row.at("input");
  const QuantRecipe& recipe = named_recipe(row.at("recipe").get<std::string>(), "uint2");
  std::vector<double> values;
  for (const std::string text : input.at("channel")) values.push_back(number(text));
  const double low = number(input.at("low")), high = number(input.at("high"));
  const TensorView column{static_cast<std::int64_t>(values.size()), 1, values};
  const Inputs inputs = {
      {"codebook", {-1, -0.5, 0.5, 1}}, {"outlier_lower", {low}}, {"outlier_upper", {high}}};
  const Quantized q = quantize(recipe, column, inputs);
  EXPECT_EQ(q, quantize_exact(recipe, column, inputs));
  std::vector<std::int64_t> strict, inclusive;
  for (const Kept& kept : q.kept) strict.push_back(kept.index);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] <= low || values[i] >= high) inclusive.push_back(static_cast<std::int64_t>(i));
  }
  const auto expect = [](const std::vector<std::int64_t>& got, const json& expected) {
    if (expected.is_array()) {
      EXPECT_EQ(got, expected.get<std::vector<std::int64_t>>());
    } else {
      EXPECT_EQ(got.size(), expected.get<std::size_t>());
    }
  };
  expect(strict, row.at("expected").at("outliers_strict"));
  if (has(row, "wrong"))
    expect(inclusive, row.at("wrong").at("outliers_inclusive"));
  else
    expect(inclusive, row.at("expected").at("outliers_inclusive"));
}

void check_dequantize(const json& row) {
  const QuantRecipe& recipe = named_recipe(row.at("recipe").get<std::string>());
  Quantized q;
  q.blocks = blocks_of(recipe, 1, 1);
  q.scales = {code_of_text(row.at("input").at("scale"))};
  q.codes = {code_of_text(row.at("input").at("code"))};
  EXPECT_EQ(dequantize(recipe, q).at(0), number(row.at("expected")));
  EXPECT_TRUE(same_number(dequantize(recipe, q)[0], dequantize_exact(recipe, q)[0]));
}

using Check = void (*)(const json&);

/// The check of a row, or null for rows of other test programs.
Check check_of(const json& row) {
  const std::string op = row.at("op");
  const bool named = row.contains("recipe"), object = row.contains("input") && row.at("input").is_object();
  if (op == "cast" || (op == "scale" && row.contains("rounding"))) return check_cast;  // a cast into E8M0
  if (op == "decode") return check_decode;
  if (op == "quantize") return check_named_block;
  if (op == "quantize_tensor") return check_tensor;
  if (op == "dequantize") return check_dequantize;
  if (op == "steps" && named) return object ? check_outliers : check_named_block;
  if (op == "scale" && named) {
    if (!object) return check_named_scale;
    return row.at("recipe") == "quarot/k" ? check_rotation : check_calibration;
  }
  if (op == "scale" || op == "steps") return row.contains("variant") ? check_variant : check_shared_scales;
  return nullptr;
}

TEST(BlockCases, EveryRow) {
  std::map<std::string, int> run, left;
  for (const json& row : cases()) {
    SCOPED_TRACE(row.at("id").get<std::string>() + ": " + row.dump().substr(0, 400));
    const Check check = check_of(row);
    ++(check == nullptr ? left : run)[row.at("op")];
    if (check != nullptr) check(row);
  }
  const std::map<std::string, int> expected = {{"cast", 69},           {"decode", 20}, {"quantize", 29},
                                               {"quantize_tensor", 1}, {"scale", 28},  {"steps", 5},
                                               {"dequantize", 1}};
  EXPECT_EQ(run, expected);
  EXPECT_EQ(left, (std::map<std::string, int>{{"pack", 5}, {"attention", 4}, {"mma", 2}}));
  EXPECT_EQ(cases().size(), 164u);
}

}  // namespace
}  // namespace halfulp::test
