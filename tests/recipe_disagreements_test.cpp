// The disagreements between named behaviours: for each, one input on which they give the stated, different
// results. Rows are numbered as in the table of known disagreements; every number from 1 to 40 is here.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/kv_cache.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/scale_layout.hpp"
#include "recipe_lines.hpp"

namespace halfulp::recipes {
namespace {

using namespace halfulp::test;

const QuantRecipe& of(const char* name, const char* element = "") {
  return *element == 0 ? named_recipe(name) : named_recipe(name, element);
}
/// "SCALE CODE CODE …" in hexadecimal, by engine and twin.
std::string of(const char* name, const char* literals, const Inputs& inputs) {
  return line(of(name), literals, inputs);
}

std::string after_blank(const std::string& text) {
  return text.substr(text.find(' ') + 1);
}
std::string codes(const char* name, const char* literals, const Inputs& inputs = {},
                  const char* element = "") {
  return after_blank(line(of(name, element), literals, inputs));
}
std::string scale(const char* name, const char* literals, const Inputs& inputs = {}) {
  const std::string text = of(name, literals, inputs);
  return text.substr(0, text.find(' '));
}
Inputs in_tensor(double amax) {
  return {{kTensorAmax, {amax}}};
}
std::string short_number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return std::isnan(x) ? "nan" : text;
}
/// Values read back.
std::string values(const QuantRecipe& recipe, const char* literals, const Inputs& inputs = {}) {
  const std::vector<double> x = numbers(literals);
  const TensorView view{1, static_cast<std::int64_t>(x.size()), x};
  std::string text;
  for (const double v : dequantize(recipe, quantize(recipe, view, inputs), inputs))
    text += (text.empty() ? "" : " ") + short_number(v);
  return text;
}
/// The number that a stored code of scale `scale_code` reads back as.
std::string read_code(const QuantRecipe& recipe, std::uint64_t scale_code, std::uint64_t code,
                      const Inputs& inputs = {}) {
  Quantized q;
  q.blocks = blocks_of(recipe, 1, 1);
  q.codes = {code};
  if (recipe.scale.reg >= 0) q.scales = {scale_code};
  EXPECT_TRUE(dequantize_exact(recipe, q, inputs).size() == 1);
  return short_number(dequantize(recipe, q, inputs)[0]);
}
/// A step alone, written out.
std::string step(const char* text, const char* literals) {
  return line(parse_recipe("step", text), literals);
}

std::string to_e4m3(double x, Overflow overflow = Overflow::saturate, const char* via = "f32") {
  const FormatSpec from = find_format(via)->spec;
  const std::uint64_t word = code_of(from, in_format(spec_of("f32"), x));
  return hex(cast(from, word, spec_of("e4m3"), {.overflow = overflow}).code);
}

constexpr char kZeros[] = "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0";

/// Codes of query heads 0 and 1 of 4, two to a kv head, with one scale per `block`.
std::string query_codes(const char* block) {
  const std::vector<double> q = {448, 1, 28, 1, 7, 1, 896, 1};  // heads x channels
  const QuantRecipe recipe = with_block(named_recipe("fp8_affine/torchao"), block);
  const Quantized quantized = quantize(recipe, {4, 2, q});
  EXPECT_EQ(quantized, quantize_exact(recipe, {4, 2, q}));
  return hex(quantized.codes[1]) + " " + hex(quantized.codes[3]);
}

/// How many of 200 tokens stay exact with a residual of 32.
std::string exact_after_200(bool keys) {
  KiviCache cache({.element = "uint2", .group = 32, .residual = 32, .channels = 32});
  for (int i = 0; i < 200; ++i) cache.append(0, std::vector<double>(32, i), std::vector<double>(32, i));
  return std::to_string(keys ? cache.exact_keys(0) : cache.exact_values(0));
}

std::string outliers(bool strict) {
  const std::vector<double> x = {-1, 0, 0.5, 2, 16};
  std::string kept;
  if (strict) {
    const Inputs inputs = {
        {"codebook", {-1, -0.5, 0.5, 1}}, {"outlier_lower", {-1}}, {"outlier_upper", {2}}};
    for (const Kept& k : quantize(of("kvquant/k", "uint2"), {5, 1, x}, inputs).kept)
      kept += std::to_string(k.index) + " ";
    return kept;
  }
  // dense = 1/2: quantiles 1/4 and 3/4 of the five are the elements 0 and 2 themselves.
  const Inputs inputs = {{"codebook", {-1, -0.5, 0.5, 1}}, {"dense", {0.5}}};
  for (const Kept& k : quantize(of("kvquant/v", "uint2"), {1, 5, x}, inputs).kept)
    kept += std::to_string(k.index) + " ";
  return kept;
}

/// Random bytes of 8 elements: 4 bytes of one word, or one word each; then the stochastic codes.
std::string stochastic(bool shared_word) {
  Inputs inputs;
  std::vector<double>& bytes = inputs["random"];
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::uint64_t word = counter_random(7, shared_word ? i / 4 : i);
    bytes.push_back(static_cast<double>(word >> (shared_word ? 8 * (i % 4) : 0) & 0xff));
  }
  return codes("nvfp4/transformer_engine_stochastic", "6 2.5 2.5 2.5 2.5 2.5 2.5 2.5", inputs);
}

/// Bytes 0 and 16 (rows 0 and 1) of a buffer of one row of scales in 128x4, and the scale read back from
/// it.
std::string padded_scales(std::uint8_t fill) {
  const ScaleGrid grid{ScaleLayout::tile_128x4, 1, 4};
  std::vector<std::uint8_t> row = {0x38, 0x40, 0x30, 0x48}, buffer(grid.stored()), back(4);
  store_scales<std::uint8_t>(grid, row, buffer, fill);
  load_scales<std::uint8_t>(grid, buffer, back);
  EXPECT_EQ(back, row);  // a reader does not see the padding
  return hex(buffer[0]) + " " + hex(buffer[16]);
}

struct Behaviour {
  std::string name, result, expected;
};
struct Row {
  int number;
  std::vector<Behaviour> behaviours;
};

// clang-format off
std::vector<Row> recipes_rows() {
  const double s = 0x1.f2p-5;
  const std::string azp_ends = short_number(-128 * s) + " " + short_number(127 * s) + " 0x1.90bcp+1";
  std::string bf16_amax(recipe_entry("mxfp8/ocp_floor").text);
  bf16_amax.replace(bf16_amax.find("pow2_floor(a)"), 13, "pow2_floor(to(bf16 a))");
  const char *first = "0.047607421875", *second = "0.01519775390625", *underflow = "7.9 0 -1";
  const Inputs given = {{"scale", {s}}}, a1 = in_tensor(4.0625), a2 = in_tensor(1.296875), a6 = in_tensor(6), huge = in_tensor(3670016),
               tie = in_tensor(0x1.51e6e2p+5);
  return {
      {1, {{"x / t", codes("fp8_per_token/vllm_cuda", "1.625 0.01904296875"), "7e 4a"},
           {"x * (1 / t)", codes("fp8_per_token/vllm_native", "1.625 0.01904296875"), "7e 4b"}}},
      {2, {{"x / (a / 448)", codes("fp8_block/vllm_cuda", "3.875 0.04541015625"), "7e 4b"},
           {"x * (448 / a)", codes("fp8_block/transformer_engine_fp32", "3.875 0.04541015625"), "7e 4a"}}},
      {3, {{"x * (127 / a)", codes("int8_per_token/vllm", "0.5625 0.28125"), "7f 40"},
           {"x / (a / 127)", codes("int_sym/quarot", "0.5625 0.28125", {}, "int8"), "7f 3f"}}},
      {4, {{"a / 127", of("int8_per_token/vllm", "-127 127", {}), "3f800000 81 7f"},
           {"a / 127.5", of("int8/compressed_tensors", "-127 127", {}), "3f7efeff 80 7f"}}},
      {5, {{"static: x / s", codes("int8_static/vllm", "0x1.90bcp+1", given), "34"},
           {"zero point: x * (1 / s)", codes("int8_azp/vllm", azp_ends.c_str()), "80 7f 33"}}},
      {6, {{"1 / (448 * 512)", scale("fp8_per_token/vllm_cuda", kZeros), "36924925"},
           {"1e-4 / 448", scale("fp8_block/deepseek", kZeros), "346facad"},
           {"1e-10 / 448", scale("fp8_block/vllm_cuda", kZeros), "2a7b5123"},
           {"2^-23", scale("fp8_channel/compressed_tensors", kZeros), "34000000"},
           {"1", scale("fp8_block/transformer_engine", kZeros), "3f800000"},
           {"none: 0 / 0", of("fp8_affine/torchao", "0 0", {}), "00 7f 7f"}}},
      {7, {{"clamp first", codes("fp8_per_token/vllm_cuda", "nan 448"), "7e 7e"},
           {"clamp first, int8", codes("int8_per_token/vllm", "nan 127"), "00 7f"},
           {"no clamp", codes("fp8_block/deepseek", "nan 448"), "7f 7e"}}},
      {8, {{"the block", of("mxfp8/ocp_floor", "nan 1", {}), "ff 7f 7f"}, {"the element", of("mxfp8/rceil", "nan 1", {}), "77 7f 78"}}},
      {9, {{"0xFF", scale("mxfp8/rceil_torchao", "inf 1"), "ff"},
           {"0xFE", scale("mxfp8/transformer_engine", "inf 1"), "fe"},
           {"block FP8, kernel", scale("fp8_block/transformer_engine", "inf 1"), "3f800000"},
           {"block FP8, quotient", scale("fp8_block/deepseek", "inf 1"), "7f800000"}}},
      {10, {{"floor", of("mxfp4/ocp_floor", "7", {}), "7f 7"},
            {"even", of("mxfp4/even", "7", {}), "80 6"},
            {"floor, 957", of("mxfp8/ocp_floor", "957", {}), "80 7e"},
            {"even, 957", of("mxfp8/even", "957", {}), "80 7e"},
            {"ceil, 957", of("mxfp8/ceil", "957", {}), "81 77"},
            {"rceil, 957", of("mxfp8/rceil", "957", {}), "81 77"}}},
      {11, {{"ceil of a float log2", scale("fp8_block/deepseek_ue8m0", "0x1.c00002p+2"), "79"},
            {"bits", scale("fp8_block/deepgemm_ue8m0", "0x1.c00002p+2"), "7a"}}},
      {12, {{"frexp", step("amax drop\nscale e8m0 2 * pow2_floor(a / 448)\ncode e4m3 x\nvalue v\n", "7"), "7a 4e"},
            {"ceil", step("amax drop\nscale e8m0 pow2_ceil(a / 448)\ncode e4m3 x\nvalue v\n", "7"), "79 4e"},
            {"ceil, by name", scale("fp8_block/deepgemm_ue8m0", "7"), "79"}}},
      {13, {{"2^-127", read_code(of("mxfp4/even"), 0, 2), "0x1p-127"},
            {"0", read_code(of("mxfp4/vllm"), 0, 2), "0x0p+0"},
            {"factor 2^127", codes("mxfp4/rceil", "2^-127"), "2"},
            {"factor 1", codes("mxfp4/flashinfer", "2^-127"), "0"}}},
      {14, {{"bf16", line(parse_recipe("amax through bf16", bf16_amax), "511.5"), "80 78"},
            {"f32", of("mxfp8/ocp_floor", "511.5", {}), "7f 7e"},
            {"bf16, by name", scale("mxfp4/compressed_tensors", "6.999"), "80"},
            {"f32, by name", scale("mxfp4/vllm", "6.999"), "7f"}}},
      {15, {{"a * (G * fl(1/6))", scale("nvfp4/transformer_engine", first, a1), "4b"},
            {"G * (a / 6)", scale("nvfp4/compressed_tensors", first, a1), "4a"},
            {"G * (a * fl(1/6))", scale("nvfp4/flashinfer", first, a1), "4a"},
            {"(a / 6) / g", scale("nvfp4/torchao", first, a1), "4a"},
            {"a * (G * fl(1/6)), 1.296875", scale("nvfp4/transformer_engine", second, a2), "4b"},
            {"G * (a / 6), 1.296875", scale("nvfp4/compressed_tensors", second, a2), "4b"},
            {"G * (a * fl(1/6)), 1.296875", scale("nvfp4/vllm", second, a2), "4b"},
            {"(a / 6) / g, 1.296875", scale("nvfp4/torchao", second, a2), "4a"}}},
      {16, {{"v / s", of("nvfp4/cudnn", "0.08203125 0x1.87fffep-6", {}), "07 7 3"},
            {"v * fl(1/s)", of("nvfp4/sage3", "0.08203125 0x1.87fffep-6", {}), "07 7 4"}}},
      {17, {{"transformer_engine", scale("nvfp4/transformer_engine", kZeros, a6), "00"},
            {"torchao", scale("nvfp4/torchao", kZeros, a6), "08"},
            {"compressed_tensors", scale("nvfp4/compressed_tensors", kZeros, a6), "20"},
            {"modelopt", scale("nvfp4/modelopt", kZeros, a6), "38"}}},
      {18, {{"transformer_engine", of("nvfp4/transformer_engine", underflow, huge), "00 7 0 f"},
            {"vllm", of("nvfp4/vllm", underflow, huge), "00 0 0 8"},
            {"modelopt", of("nvfp4/modelopt", underflow, huge), "00 7 7 f"},
            {"torchao", of("nvfp4/torchao", underflow, huge), "08 1 0 8"},
            {"compressed_tensors", of("nvfp4/compressed_tensors", underflow, huge), "20 0 0 8"}}},
      {20, {{"448", scale("nvfp4/four_over_six_448", "6", a6), "7e"}, {"256", scale("nvfp4/four_over_six", "6", a6), "78"}}},
      {21, {{"nearest", scale("nvfp4/sage3", "6.3"), "38"}, {"up", scale("nvfp4/cudnn", "6.3"), "39"}}},
      {22, {{"strict", of("nvfp4/four_over_six", "0x1.f2eeeap+4", tie), "74 7"},
            {"precomputed", of("nvfp4/four_over_six_precomputed", "0x1.f2eeeap+4", tie), "79 6"}}},
      {23, {{"to even", codes("mxfp4/ocp_floor", "6 0.75 2.5"), "7 2 4"},
            {"toward zero", codes("mxfp4/deepgemm", "6 0.75 2.5"), "7 1 4"},
            {"away", codes("mx/microxcaling", "6 0.75 2.5", {}, "e2m1"), "7 2 5"}}},
      {24, {{"code 8", codes("nvfp4/transformer_engine", "6 -0", a6), "7 8"},
            {"modelopt", codes("nvfp4/modelopt", "6 -0", a6), "7 0"},
            {"deepgemm", codes("mxfp4/deepgemm", "6 -0"), "7 0"}}},
      {25, {{"to even", codes("mxfp8/ocp_floor", "256 1.0625"), "78 38"},
            {"away, microxcaling", codes("mx/microxcaling", "256 1.0625"), "78 39"},
            {"to even, int8", codes("sage/int8_qk", "127 2.5"), "7f 02"},
            {"away, int8", codes("sage/int8_qk_triton", "127 2.5"), "7f 03"}}},
      {33, {{"real minimum", values(of("kivi/v"), "9 10 11 12"), "0x1.2p+3 0x1.4p+3 0x1.6p+3 0x1.8p+3"},
            {"zero point", values(of("int_asym/zero_point", "uint2"), "9 10 11 12"), "0x1p+3 0x1p+3 0x1.8p+3 0x1.8p+3"}}},
  };
}
// clang-format on

// clang-format off
std::vector<Row> step_rows() {
  const std::vector<double> keys = {1, 100, 2, 300};  // tokens x channels
  const auto key_codes = [&](const char* name) {
    std::string text;
    for (const std::uint64_t code : quantize(named_recipe(name), {2, 2, keys}).codes) text += hex(code) + " ";
    return text;
  };
  const auto tensor_scale = [](const char* name) {
    const std::vector<double> x = {5376};
    return short_number(number_of(spec_of("f32"), quantize(named_recipe(name), {1, 1, x}).tensor_scale.value()));
  };
  const Inputs read_scale = {{"scale", {0x1.8ef606p-3}}};
  const std::uint64_t read_word = code_of(spec_of("f32"), 0x1.8ef606p-3), one = code_of(spec_of("f32"), 1), one_f16 = code_of(spec_of("f16"), 1);
  const double p = in_format(spec_of("f32"), 0.9 * 0x1p-10);
  const float dot = 0x1.764aep+13f, a = 0x1.c92492p-3f, b = 0x1.524924p-4f;
  const float dot_a = dot * a, a_b = a * b;
  return {
      {19, {{"2688 / A", tensor_scale("nvfp4/compressed_tensors"), "0x1p-1"}, {"A / 2688", tensor_scale("nvfp4/modelopt"), "0x1p+1"}}},
      {26, {{"NaN above 464", to_e4m3(465, Overflow::overflow), "7f"}, {"448", to_e4m3(465), "7e"}}},
      {27, {{"direct", to_e4m3(1.0625 + 0x1p-10), "39"}, {"through bf16", to_e4m3(1.0625 + 0x1p-10, Overflow::saturate, "bf16"), "38"}}},
      {28, {{"direct", read_code(of("kv_fp8/vllm"), read_word, 1, read_scale), "0x1.8ep-12"},
            {"through half", read_code(of("kv_fp8/vllm_packed"), read_word, 1, read_scale), "0x1.9p-12"}}},
      {29, {{"1", to_e4m3(p), "00"}, {"2^8", to_e4m3(p * 256), "26"}, {"448", to_e4m3(p * 448), "2d"}}},
      {30, {{"per kv head", query_codes("2x2"), "38 38"}, {"per query head", query_codes("row"), "38 58"}, {"per tensor", query_codes("tensor"), "30 30"}}},
      {31, {{"a / 448", scale("fp8_per_tensor/vllm", "200"), "3ee49249"},
            {"a / 200", scale("kv_fp8/vllm_calculated", "200"), "3f800000"},
            {"a / 100", scale("kv_fp8/vllm_calculated_v", "200"), "40000000"}}},
      {32, {{"(dot * a) * b", short_number(dot_a * b), "0x1.b99b98p+7"}, {"(a * b) * dot", short_number(a_b * dot), "0x1.b99b9ap+7"}}},
      {34, {{"per channel", key_codes("kivi/k"), "00 00 03 03 "}, {"along the last axis", key_codes("kivi/v"), "00 03 00 03 "}}},
      {35, {{"all R at once", exact_after_200(true), "8"}, {"one token", exact_after_200(false), "32"}}},
      {36, {{"strict", outliers(true), "4 "}, {"inclusive", outliers(false), "0 1 3 4 "}}},
      {37, {{"NaN", read_code(of("fp8_static/vllm"), one, 0x7f, {{"scale", {1}}}), "nan"}, {"480", read_code(of("w8a16/marlin"), one_f16, 0x7f), "0x1.ep+8"}}},
      {38, {{"ignored", short_number(number_of(spec_of("ue4m3"), 0xb8 & low_mask(spec_of("ue4m3").width))), "0x1p+0"},
            {"read as e4m3", short_number(number_of(spec_of("e4m3"), 0xb8)), "-0x1p+0"}}},
      {39, {{"4 values share a word", stochastic(true), ""}, {"8 bits of a word each", stochastic(false), ""}}},
      {40, {{"0", padded_scales(0), "38 00"}, {"127", padded_scales(127), "38 7f"}}},
  };
}
// clang-format on

TEST(RecipeDisagreements, EveryRowGivesTheStatedAndDifferentResults) {
  std::vector<Row> rows = recipes_rows();
  for (Row& row : step_rows()) rows.push_back(std::move(row));
  std::vector<int> seen;
  for (const Row& row : rows) {
    seen.push_back(row.number);
    bool differ = false;
    for (const Behaviour& behaviour : row.behaviours) {
      if (row.number != 39) {  // random words: that they differ is the statement
        EXPECT_EQ(behaviour.result, behaviour.expected) << "row " << row.number << ", " << behaviour.name;
      }
      differ = differ || behaviour.result != row.behaviours[0].result;
    }
    EXPECT_TRUE(differ) << "row " << row.number;
  }
  std::sort(seen.begin(), seen.end());
  std::vector<int> all(40);
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(seen, all);
}

}  // namespace
}  // namespace halfulp::recipes
