// Every accumulation case of tests/data/accumulation.json, by the twin and by the engine.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::accumulation {
namespace {

using Json = nlohmann::json;

Json read_cases(const std::filesystem::path& path) {
  std::ifstream in(path);
  return Json::parse(in).at("cases");
}

const Json& cases() {
  static const Json all = read_cases(HALFULP_SOURCE_DIR "/tests/data/accumulation.json");
  return all;
}

std::uint32_t code(const Json& text) { return static_cast<std::uint32_t>(std::stoull(text.get<std::string>(), nullptr, 16)); }

/// Codes, runs `[code, count]` written out; tf32 codes are the 19 stored bits.
std::vector<std::uint32_t> words(const Json& list, const FormatSpec& format) {
  std::vector<std::uint32_t> all;
  for (const Json& item : list) {
    const std::uint32_t word = code(item.is_array() ? item[0] : item) << format.storage_shift;
    all.insert(all.end(), item.is_array() ? item[1].get<std::size_t>() : 1, word);
  }
  return all;
}

struct Case {
  std::vector<std::uint32_t> a, b, scale_a, scale_b;
  std::uint32_t c = 0;
  MmaSpec spec;
  Row row() const { return {a, b, c, scale_a, scale_b}; }
};

Case case_of(const Json& json, const std::string& model) {
  const Json& input = json.at("input");
  const std::string from = json.at("from"), order = input.value("scale_order", "");
  Case x;
  x.spec = make_spec({.model = model,
                      .format_a = from,
                      .format_b = from,
                      .output = json.at("to"),
                      .interval = std::stoi(input.value("interval", Json(0)).dump()),
                      .scale_order = order.empty()             ? ScaleOrder::none
                                     : order == "scales_first" ? ScaleOrder::scales_first
                                                               : ScaleOrder::operand_first,
                      .contract = input.value("contract", false)});
  x.a = words(input.at("a"), x.spec.a);
  x.b = words(input.at("b"), x.spec.b);
  if (input.contains("c")) x.c = code(input.at("c"));
  if (input.contains("scale_a")) {
    x.scale_a = words(input.at("scale_a"), scale_format(x.spec));
    x.scale_b = words(input.at("scale_b"), scale_format(x.spec));
  }
  return x;
}

bool is_sum(const Json& json) { return json.at("op") == "mma" || json.at("op") == "gemm"; }

/// The models under which a case is run: its own, or all that take its formats.
std::vector<std::string> models_of(const Json& json) {
  const std::string dialect = json.contains("dialect") && json["dialect"].is_string() ? json["dialect"].get<std::string>() : "any";
  if (dialect != "any") return {dialect};
  std::vector<std::string> names;
  for (const AccumulationModel& model : models()) {
    const std::string inputs = " " + std::string(model.inputs) + " ";
    const bool takes = inputs.find(" " + json.at("from").get<std::string>() + " ") != std::string::npos;
    if (takes && model.scale.format.empty()) names.emplace_back(model.name);
  }
  return names;
}

/// The accepted results: one code, or one for each zero rule.
std::vector<std::uint32_t> accepted(const Json& json) {
  if (json.at("expected").is_array()) return {code(json["expected"][0]), code(json["expected"][1])};
  return {code(json.at("expected"))};
}

/// Multiplies a float32 result by the case's result scale, once.
std::uint32_t with_result_scale(const Json& json, std::uint32_t word) {
  if (!json.at("input").contains("scale_result")) return word;
  static constexpr FormatSpec kF32 = spec_of("f32");
  const auto product = oracle::value_of(kF32, word).number() * oracle::value_of(kF32, code(json["input"]["scale_result"])).number();
  return static_cast<std::uint32_t>(oracle::nearest(oracle::value_from(product), kF32, {}).code);
}

TEST(AccumulationCases, EveryRowIsReproducedByTwinAndEngine) {
  int rows = 0, runs = 0;
  for (const Json& json : cases()) {
    if (!is_sum(json)) continue;
    ++rows;
    const std::vector<std::uint32_t> results = accepted(json);
    for (const std::string& model : models_of(json)) {
      Case x = case_of(json, model);
      for (std::size_t i = 0; i < results.size(); ++i) {
        x.spec.zero_rule = i == 0 ? ZeroRule::a : ZeroRule::b;
        const std::uint32_t twin = with_result_scale(json, dot_exact(x.spec, x.row()));
        EXPECT_EQ(twin, results[i]) << std::hex << twin << " for " << results[i] << ": " << json.at("id") << " " << model;
        EXPECT_EQ(with_result_scale(json, Engine(x.spec).dot(x.row())), results[i]) << json.at("id") << " " << model << ", engine";
        ++runs;
      }
      if (results.size() == 1 && has_zero_rule(x.spec.model)) {  // rule b gives the same wherever the file says nothing
        x.spec.zero_rule = ZeroRule::b;
        EXPECT_EQ(with_result_scale(json, dot_exact(x.spec, x.row())), results[0]) << json.at("id") << " " << model << ", rule b";
      }
    }
  }
  EXPECT_EQ(rows, 128);
  std::printf("cases: %d rows, %d runs\n", rows, runs);
}

TEST(AccumulationCases, TheWrongAnswersOfTheFileAreNotGiven) {
  int wrong = 0;
  for (const Json& json : cases()) {
    if (!is_sum(json) || !json.contains("wrong")) continue;
    for (const Json& entry : json["wrong"]) {
      if (entry[0] == "nan") continue;
      for (const std::uint32_t right : accepted(json)) EXPECT_NE(code(entry[0]), right) << json.at("id");
      ++wrong;
    }
  }
  EXPECT_EQ(wrong, 28);
}

TEST(AccumulationCases, TheCommittedCopyIsTheSharedOne) {
  const std::filesystem::path shared = std::filesystem::path(HALFULP_SOURCE_DIR) / "../shared/data/cases/accumulation.json";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no shared data beside the checkout: nothing to compare with";
  EXPECT_EQ(read_cases(shared), cases());
}

}  // namespace
}  // namespace halfulp::accumulation
