// Explanations of single casts: hand-checked rows of the worked examples, and what every explanation must satisfy.
#include <gtest/gtest.h>

#include "halfulp/explain/render.hpp"
#include "halfulp/explain/value.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::explain {
namespace {

ValueExplanation explained(const std::string& text, const std::string& format, const CastPolicy& policy = {},
                           const std::string& scale = "") {
  std::optional<oracle::Exact> s;
  if (!scale.empty()) s = oracle::parse_exact(scale);
  return explain_value(text, "exact", *oracle::parse_value(text), s, *find_format(format), policy);
}

TEST(ExplainValue, GivesNeighboursErrorAndIntervalOfASubnormal) {
  const ValueExplanation e = explained("0.01", "e4m3");
  EXPECT_EQ(e.code, "0x05");
  EXPECT_EQ(e.value_class, "subnormal");
  EXPECT_EQ(e.formula, "(-1)^0 × 2^(1 - 7) × 5/8");
  EXPECT_EQ(e.value.fraction, "5/512");
  EXPECT_EQ(e.value.hex_float, "0x1.4p-7");
  EXPECT_EQ(e.error, "-0.000234375");
  EXPECT_EQ(e.relative_error, "-2.34375");
  EXPECT_EQ(e.near->code, "0x05");
  EXPECT_EQ(e.far->code, "0x06");
  EXPECT_EQ(e.near->distance, "3/25");
  EXPECT_EQ(e.gap, "0.001953125");
  EXPECT_EQ(e.line_position, 4);
  EXPECT_EQ(e.interval->low, "0.0087890625");    // 4.5 / 512: the tie goes to the even code 0x04
  EXPECT_EQ(e.interval->high, "0.0107421875");   // 5.5 / 512: to 0x06
  EXPECT_FALSE(e.interval->low_closed);
  EXPECT_FALSE(e.interval->high_closed);
}

TEST(ExplainValue, DividesByTheScaleAndFindsTheTieOfTheStaticScaleLesson) {
  const ValueExplanation e = explained("-45", "e4m3", {}, "15/56");
  EXPECT_EQ(e.x.decimal, "-168");
  EXPECT_EQ(e.code, "0xf2");
  EXPECT_EQ(e.value.decimal, "-160");
  EXPECT_EQ(e.rescaled->fraction, "-300/7");
  EXPECT_EQ(e.flags, "inexact,tie");
  EXPECT_NE(e.rule.find("half way"), std::string::npos);
  EXPECT_NE(e.rule.find("even code, 0xf2"), std::string::npos);
}

struct IntervalRow {
  const char* format;
  const char* value;
  CastPolicy policy;
  const char* code;
  const char* interval;
};

TEST(ExplainValue, GivesOpenAndClosedEndsAsTheRoundingSays) {
  const IntervalRow rows[] = {
      {"e4m3", "448", {}, "0x7e", "[432, inf)"},  // saturating: everything above as well
      {"e4m3", "448", {.overflow = Overflow::overflow}, "0x7e", "[432, 464]"},
      {"e4m3", "448", {.rounding = Rounding::toward_zero, .overflow = Overflow::overflow}, "0x7e", "[448, inf)"},
      {"e4m3", "1", {.rounding = Rounding::toward_zero}, "0x38", "[1, 1.125)"},
      {"e4m3", "1", {.rounding = Rounding::toward_positive}, "0x38", "(0.9375, 1]"},
      {"e4m3", "-1", {.rounding = Rounding::toward_negative}, "0xb8", "[-1, -0.9375)"},
      {"e4m3", "1", {.rounding = Rounding::ties_to_away}, "0x38", "[0.96875, 1.0625)"},
      {"e4m3", "1.125", {.rounding = Rounding::to_odd}, "0x39", "(1, 1.25)"},
      {"e4m3", "1", {.rounding = Rounding::to_odd}, "0x38", "[1, 1]"},
      {"e2m1", "-6", {}, "0xf", "(-inf, -5)"},
      {"int8", "-128", {}, "0x80", "(-inf, -127.5]"},
      {"e8m0", "1", {}, "0x7f", "(0.75, 1.5)"},
      {"nf4", "1", {}, "0xf", "(0.8614784181118011474609375, inf)"},
  };
  for (const IntervalRow& row : rows) {
    const ValueExplanation e = explained(row.value, row.format, row.policy);
    ASSERT_TRUE(e.interval) << row.format << " " << row.value;
    const std::string interval = (e.interval->low_closed ? "[" : "(") + e.interval->low + ", " + e.interval->high +
                                 (e.interval->high_closed ? "]" : ")");
    EXPECT_EQ(e.code, row.code) << row.format << " " << row.value;
    EXPECT_EQ(interval, row.interval) << row.format << " " << row.value;
  }
}

TEST(ExplainValue, NamesTheRuleForEveryKindOfDecision) {
  struct Row {
    const char *format, *value, *word;
    CastPolicy policy;
  };
  const Row rows[] = {{"e4m3", "nan", "NaN stays a NaN", {}},
                      {"e2m1", "nan", "no rule is named", {}},
                      {"e4m3", "inf", "Inf follows the overflow rule", {}},
                      {"e4m3", "500", "overflow gives NaN", {.overflow = Overflow::overflow}},
                      {"e5m2", "1e9", "overflow gives Inf", {.overflow = Overflow::overflow}},
                      {"e4m3", "500", "saturate gives the largest finite", {}},
                      {"e4m3", "2", "nothing is rounded", {}},
                      {"e8m0", "0", "no zero", {}},
                      {"e8m0", "1e-45", "below the smallest number", {}},
                      {"ue4m3", "-1", "no sign", {}},
                      {"e4m3", "0.1", "nearer", {}},
                      {"e4m3", "0.1", "in that direction", {.rounding = Rounding::toward_positive}},
                      {"e4m3", "0.1", "odd code", {.rounding = Rounding::to_odd}},
                      {"e4m3", "0.002", "flush", {.flush = Flush::out}}};
  for (const Row& row : rows) {
    EXPECT_NE(explained(row.value, row.format, row.policy).rule.find(row.word), std::string::npos)
        << row.format << " " << row.value << ": " << explained(row.value, row.format, row.policy).rule;
  }
}

TEST(ExplainValue, ShowsNoIntervalWhereAFlushDecided) {
  EXPECT_FALSE(explained("0.01", "e4m3", {.flush = Flush::out}).interval);
  EXPECT_TRUE(explained("1", "e4m3", {.flush = Flush::out}).interval);
}

TEST(ExplainValue, NamesTheDialectsRuleOfTheLowestBinade) {
  const CastPolicy upward = {.low_binade = LowBinade::upward};
  EXPECT_NE(explained("0x1.4p-127", "e8m0", upward).rule.find("upward gives 0x01"), std::string::npos);
  EXPECT_EQ(explained("0x1.4p-3", "e8m0", upward).rule.find("upward"), std::string::npos);
}

TEST(ExplainValue, SpeaksOfTheMagnitudeOfANegativeIntoAnUnsignedFormat) {
  EXPECT_EQ(explained("-1", "ue4m3", {.negative = Negative::abs}).rule, "|x| is a number of ue4m3: nothing is rounded");
}

TEST(ExplainValue, NamesTheRandomWordOfStochasticRounding) {
  const CastPolicy policy = {.rounding = Rounding::stochastic, .sr_bits = 8};
  const ValueExplanation e = explain_value("1.01", "exact", *oracle::parse_value("1.01"), {}, *find_format("e4m3"), policy, 37);
  EXPECT_NE(e.rule.find("r = 37 of 8 random bits takes 0x38"), std::string::npos) << e.rule;
}

TEST(ExplainValue, AlternativesAndSiblingsAreTheOraclesAnswers) {
  for (const char* text : {"0.3", "449", "-1e-9", "7", "inf"}) {
    for (const Format& format : kFormats) {
      const CastPolicy policy = {.rounding = Rounding::ties_to_away, .negative = Negative::abs};
      const ValueExplanation e = explained(text, std::string(format.name), policy);
      EXPECT_EQ(e.alternatives.size(), format.spec.encoding == Encoding::hifloat8 ? 6u : 18u);
      for (const Reading& reading : e.siblings) EXPECT_NE(reading.format, format.name);
      EXPECT_FALSE(e.rule.empty());
      EXPECT_FALSE(to_text(e, true).empty());
    }
  }
  const ValueExplanation e = explained("449", "e4m3", {.overflow = Overflow::overflow});
  EXPECT_EQ(e.alternatives[0].code, "0x7e");
  EXPECT_EQ(e.alternatives.back().rounding, "to_odd");
}

TEST(ExplainHtml, IsOneSelfContainedPage) {
  const std::string html = to_html(explained("0.01", "e4m3"));
  for (const char* part : {"<!doctype html>", "lang=\"en\"", "prefers-color-scheme: dark", "@media print", "<svg", "0x05"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part;
  }
  for (const char* outside : {"http:", "https:", "src=", "url(", "<script", "@import"}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  ValueExplanation e = explained("1", "e4m3");
  e.input = "<b>&\"";
  EXPECT_NE(to_html(e).find("&lt;b&gt;&amp;&quot;"), std::string::npos);
}

}  // namespace
}  // namespace halfulp::explain
