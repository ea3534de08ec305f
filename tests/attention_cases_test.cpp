// Every attention case of tests/data/accumulation.json and block.json through the reference kernel, every stage given.
#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/paged_cache.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::attention {
namespace {

using Json = nlohmann::json;

const Json& cases(const char* file) {
  static std::map<std::string, Json> all;
  Json& json = all[file];
  if (json.is_null()) {
    std::ifstream in(std::filesystem::path(HALFULP_SOURCE_DIR) / "tests/data" / file);
    json = Json::parse(in).at("cases");
  }
  return json;
}

/// A code as hexadecimal text, or an integer of an integer format.
std::uint32_t code(const Json& item) {
  if (item.is_number()) return static_cast<std::uint32_t>(item.get<int>()) & 0xff;
  return static_cast<std::uint32_t>(std::stoull(item.get<std::string>(), nullptr, 16));
}

float number(const Json& item) { return std::bit_cast<float>(code(item)); }

/// Rows of codes, runs `[row, count]` written out; returns how many.
std::size_t rows(const Json& list, std::vector<std::uint32_t>& words) {
  std::size_t count = 0;
  for (const Json& item : list) {
    const bool run = item[0].is_array();
    for (std::size_t i = 0; i < (run ? item[1].get<std::size_t>() : 1); ++i, ++count) {
      for (const Json& each : run ? item[0] : item) words.push_back(code(each));
    }
  }
  return count;
}

struct Case {
  KernelSpec spec;
  Shape shape;
  std::vector<std::uint32_t> q, k, v;
  std::vector<float> logit_scale, v_scale;
  Problem problem() const { return {shape, q, k, v, logit_scale, v_scale, {}}; }
};

Case case_of(const Json& json) {
  const Json &input = json.at("input"), &params = input.at("params");
  Case x;
  for (const Json& each : input.at("q")) x.q.push_back(code(each));
  x.shape.head_dim = x.q.size();
  x.shape.keys = rows(input.at("k"), x.k);
  EXPECT_EQ(rows(input.at("v"), x.v), x.shape.keys);
  x.shape.value_dim = x.v.size() / x.shape.keys;
  std::string text = "reference";
  if (json.at("from") == "int8") text += ",q_format=int8,k_format=int8";
  for (const auto& [key, value] : params.items()) {
    if (key == "logit_scale") x.logit_scale = {number(value)};
    else if (key == "v_scale") x.v_scale = {number(value)};
    else text += "," + key + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  x.spec = parse_spec(text);
  return x;
}

void expect_words(const std::vector<std::uint32_t>& got, const Json& expected, const Json& json, const char* stage) {
  const Json list = expected.is_array() ? expected : Json::array({expected});
  ASSERT_EQ(got.size(), list.size()) << json.at("id") << " " << stage;
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], code(list[i])) << json.at("id") << " " << stage << " " << i << std::hex << " got " << got[i];
}

TEST(AttentionCases, EveryReferenceKernelRowWithEveryStageGiven) {
  int count = 0, stages_seen = 0;
  for (const Json& json : cases("accumulation.json")) {
    if (json.at("op") != "attention" || json.value("dialect", "") != "reference_kernel") continue;
    ++count;
    const Case x = case_of(json);
    const Stages got = run(x.spec, x.problem(), Keep::all);
    for (const auto& [stage, expected] : json.at("expected").items()) {
      ++stages_seen;
      if (stage == "O") expect_words(got.O, expected, json, "O");
      else if (stage == "m") expect_words(got.m_last, expected, json, "m");
      else if (stage == "row_sum") expect_words(got.row_sum, expected, json, "row_sum");
      else if (stage == "P_code") expect_words(got.P_code, expected, json, "P_code");
      else if (stage == "S") expect_words(got.S, expected, json, "S");
      else if (stage == "l") {
        Json flat = Json::array();
        for (const Json& tile : expected) flat.insert(flat.end(), tile.begin(), tile.end());
        expect_words(got.l, flat, json, "l");
      } else {
        ADD_FAILURE() << "unknown stage " << stage;
      }
    }
    if (json.contains("wrong")) {
      for (const Json& wrong : json["wrong"]) EXPECT_NE(got.O.at(0), code(wrong[0])) << json.at("id");
    }
  }
  EXPECT_EQ(count, 25);
  EXPECT_EQ(stages_seen, 97);
}

/// Soft caps: the score alone, and as the maximum of a kernel whose only score it is.
TEST(AttentionCases, SoftCapRows) {
  int count = 0;
  for (const Json& json : cases("accumulation.json")) {
    if (json.at("op") != "attention" || !json.at("input").contains("cap")) continue;
    ++count;
    const float score = number(json["input"]["score"]), cap = number(json["input"]["cap"]);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(cap * tanh_fma(score * (1 / cap))), code(json.at("expected"))) << json.at("id");
    KernelSpec spec = parse_spec("reference,qk_model=exact,q_format=f32,k_format=f32");
    spec.softcap = SoftCap{cap, 1 / cap};
    const std::uint32_t q = std::bit_cast<std::uint32_t>(score), k = std::bit_cast<std::uint32_t>(1.0f), v = 0x38;
    const Stages got = run(spec, {{.keys = 1}, {&q, 1}, {&k, 1}, {&v, 1}, {}, {}, {}}, Keep::all);
    EXPECT_EQ(got.S.at(0), q);
    EXPECT_EQ(got.m_last.at(0), code(json.at("expected"))) << json.at("id");
    EXPECT_EQ(got.O.at(0), 0x3f800000u);
  }
  EXPECT_EQ(count, 2);
}

/// The rows about caches: scores and values under the cache's scales, and KIVI's window.
TEST(AttentionCases, EveryAttentionRowOfTheBlockFile) {
  const std::uint32_t q = 0xb8;  // -1: t = -S L below a key of score 0
  const KernelSpec spec = parse_spec("reference,offset=0");
  std::set<std::string> seen;
  for (const Json& json : cases("block.json")) {
    if (json.at("op") != "attention") continue;
    const std::string id = json.at("id");
    seen.insert(id);
    const Json& input = json.at("input");
    if (id == "block-F3-1") {
      const float k_scale = input.at("k_scale"), v_scale = input.at("v_scale");
      const std::vector<std::uint32_t> ones = {0x38, 0x38};
      std::vector<std::uint32_t> k, v;
      rows(input.at("k_codes"), k);
      rows(input.at("v_codes"), v);
      const Stages got = run(spec, {{.keys = 1, .head_dim = 2, .value_dim = 2}, ones, k, v, {}, {&v_scale, 1}, {}}, Keep::all);
      EXPECT_EQ(std::bit_cast<float>(got.S[0]) * k_scale, json["expected"]["logits"][0].get<float>());
      for (std::size_t d = 0; d < 2; ++d) EXPECT_EQ(std::bit_cast<float>(got.O[d]), json["expected"]["output"][d].get<float>());
    } else if (id == "block-F5-1" || id == "block-F7-1") {
      const bool scaled = !input.at("k_scale").is_null();
      const float scale = scaled ? std::strtof(input["k_scale"].get<std::string>().c_str(), nullptr) : 1;
      for (std::size_t i = 0; i < input.at("k_codes").size(); ++i) {
        const std::vector<std::uint32_t> k = {0, code(input["k_codes"][i])}, v = {0x38, 0x38};
        const float expected = std::strtof(json["expected"][i].get<std::string>().c_str(), nullptr);
        const float L[] = {scale};
        const Stages got = run(spec, {{.keys = 2}, {&q, 1}, k, v, scaled ? std::span<const float>(L) : std::span<const float>(), {}, {}}, Keep::all);
        if (expected > 0) {
          EXPECT_EQ(std::bit_cast<float>(got.t[1]), -expected) << id;
        }
        EXPECT_EQ(std::bit_cast<float>(got.S[1]) * std::bit_cast<float>(got.L[0]), -expected) << id;
      }
    } else if (id == "block-F11-2") {
      CacheSpec cache_spec;
      cache_spec.layout = "kivi2";
      cache_spec.head_dim = cache_spec.value_dim = 32;
      cache_spec.residual = input.at("residual");
      PagedCache cache(cache_spec, {3, 1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 12});
      const std::size_t tokens = input.at("prefill").get<std::size_t>() + input.at("decode").get<std::size_t>();
      std::vector<double> token(32);
      std::iota(token.begin(), token.end(), 1.0);
      for (std::size_t i = 0; i < tokens; ++i) cache.append(0, token, token);
      std::size_t exact = 0;
      for (std::size_t i = 0; i < tokens; ++i) exact += cache.slot(cache.page_table(0)[i / 16], i % 16).k[0].exact;
      EXPECT_EQ(exact, json["expected"]["key_full_precision_tokens"].get<std::size_t>());
      EXPECT_EQ(tokens - exact, json["expected"]["key_quantized_tokens"].get<std::size_t>());
    } else {
      ADD_FAILURE() << "no check for " << id;
    }
  }
  EXPECT_EQ(seen.size(), 4u);
}

/// An output copied without its scale: op `scale`, about an attention kernel's FP8 output.
TEST(AttentionCases, TheOutputScaleRow) {
  int count = 0;
  for (const Json& json : cases("accumulation.json")) {
    if (json.at("id") != "acc-row33-1") continue;
    ++count;
    const std::uint32_t q = 0x38, v = code(json["input"]["code"]);
    const float scale = number(json["input"]["scale"]);
    EXPECT_EQ(run(parse_spec("reference,out=bf16"), {{.keys = 1}, {&q, 1}, {&q, 1}, {&v, 1}, {}, {&scale, 1}, {}}).O.at(0), code(json.at("expected")));
  }
  EXPECT_EQ(count, 1);
}

TEST(AttentionCases, NoOtherAttentionRowExists) {
  int count = 0;
  for (const Json& json : cases("accumulation.json")) count += json.at("op") == "attention";
  EXPECT_EQ(count, 27);
}

}  // namespace
}  // namespace halfulp::attention
