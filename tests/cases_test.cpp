// Every row of tests/data/scalar.json - inputs that broke real libraries - by the integer engine and by the oracle.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "halfulp/oracle/nearest.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/text.hpp"

namespace halfulp {
namespace {

using nlohmann::json;

json read_cases(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return json::parse(file);
}

const json& cases() {
  static const json all = read_cases(std::filesystem::path(HALFULP_SOURCE_DIR) / "tests/data/scalar.json");
  return all;
}

bool is_code(const std::string& text) { return text.substr(0, 2) == "0x" && text.find('p') == std::string::npos; }

std::vector<std::string> alternatives(const json& expected) {
  return expected.is_array() ? expected.get<std::vector<std::string>>() : std::vector<std::string>{expected};
}

CastRequest request_of(const json& row) {
  CastRequest request{row.at("from"), row.at("to"), row.at("dialect").is_null() ? "" : row.at("dialect"), {}};
  const auto option = [&](const char* key, const char* name) {
    if (row.contains(key) && !row.at(key).is_null()) request.options.emplace_back(name, row.at(key));
  };
  option("rounding", "rounding");
  option("overflow", "overflow");
  option("nan", "nan");
  option("via", "via");
  option("negative", "negative");
  option("zero", "zero");
  option("directed_overflow", "directed-overflow");
  if (row.contains("sr")) {
    request.options.emplace_back("sr-variant", row.at("sr").at("variant"));
    request.options.emplace_back("sr-bits", std::to_string(row.at("sr").at("bits").get<int>()));
    char word[24];
    std::snprintf(word, sizeof word, "%llx", row.at("sr").at("r").get<unsigned long long>());
    request.options.emplace_back("sr-random", word);
  }
  return request;
}

bool accepted(const json& row, const FormatSpec& to, const CastResult& result) {
  if (result.refusal != Refusal::none) return false;
  for (const std::string& expected : alternatives(row.at("expected"))) {
    const bool nan = unpack(to, result.code).number_class == NumberClass::nan;
    if (expected == "nan" ? nan : std::stoull(expected, nullptr, 16) == result.code) return true;
  }
  return false;
}

std::string shown(const CastResult& r) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%llx refusal %d", static_cast<unsigned long long>(r.code), static_cast<int>(r.refusal));
  return text;
}

TEST(ScalarCases, EveryCastGivesTheExpectedCodeInBothEngines) {
  int casts = 0;
  for (const json& row : cases()) {
    if (row.at("op") != "cast") continue;
    const CastPlan plan = make_plan(request_of(row));
    const std::string input = row.at("input");
    CastResult engine, truth;
    if (is_code(input)) {
      const std::uint64_t word = std::stoull(input, nullptr, 16);
      engine = plan(word);
      truth = oracle::cast(*plan.from, word, plan.to, plan.policy, plan.random_word(0));
    } else {
      engine = plan(parse_literal(input).value);
      truth = oracle::nearest(*oracle::parse_value(input), plan.to, plan.policy, plan.random_word(0));
    }
    EXPECT_TRUE(accepted(row, plan.to, engine)) << row.dump() << "\n engine " << shown(engine);
    EXPECT_TRUE(accepted(row, plan.to, truth)) << row.dump() << "\n oracle " << shown(truth);
    ++casts;
  }
  EXPECT_EQ(casts, 233);
}

TEST(ScalarCases, EveryDecodeGivesTheExactValueInBothEngines) {
  int decodes = 0;
  for (const json& row : cases()) {
    if (row.at("op") != "decode") continue;
    const FormatSpec spec = require_format(row.at("from").get<std::string>()).spec;
    const std::uint64_t word = std::stoull(row.at("input").get<std::string>(), nullptr, 16);
    std::string engine;
    append_decimal(engine, unpack(spec, word));
    EXPECT_EQ(engine, row.at("expected")) << row.dump();
    EXPECT_EQ(oracle::to_string(oracle::value_of(spec, word)), row.at("expected")) << row.dump();
    ++decodes;
  }
  EXPECT_EQ(decodes, 8);
}

TEST(ScalarCases, WhatFaultyLibrariesReturnedIsNotAccepted) {
  int wrong = 0;
  for (const json& row : cases()) {
    if (row.at("op") != "cast") continue;
    const FormatSpec to = require_format(row.at("to").get<std::string>()).spec;
    for (const std::string code : row.at("wrong")) {
      EXPECT_FALSE(accepted(row, to, {.code = std::stoull(code, nullptr, 16)})) << row.dump();
      ++wrong;
    }
  }
  EXPECT_GT(wrong, 100);
}

TEST(ScalarCases, TheCommittedCopyIsTheSharedOne) {
  const std::filesystem::path shared = std::filesystem::path(HALFULP_SOURCE_DIR) / "../shared/data/cases/scalar.json";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no shared data beside the checkout: nothing to compare with";
  EXPECT_EQ(read_cases(shared), cases());
}

}  // namespace
}  // namespace halfulp
