// The oracle's step functions against its own cast: every source code of small formats, sampled codes of
// wide ones.
#include "halfulp/oracle/thresholds.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "halfulp/formats.hpp"

namespace {

using namespace halfulp;
using oracle::Interval;
using oracle::SourceOrder;
using oracle::ThresholdTable;
using oracle::ValueClass;

FormatSpec spec(std::string_view name) {
  return find_format(name).value().spec;
}

const std::vector<std::string> kSmall = {
    "e4m3", "e5m2",  "e4m3fnuz", "e3m2", "e2m1",        "e8m0",        "ue4m3",  "ue5m3",
    "int8", "uint4", "nf4",      "hif8", "binary8p3se", "binary6p1uf", "mxint8", "int4_restricted"};

TEST(SourceOrder, GoesThroughEveryCodeThatIsNotNanInOrderOfValue) {
  for (const auto& name : kSmall) {
    SCOPED_TRACE(name);
    const FormatSpec format = spec(name);
    const SourceOrder order(format);
    std::uint64_t numbers = 0;
    for (std::uint64_t code = 0; code < 1ull << format.width; ++code) {
      const bool is_nan = oracle::value_of(format, code).cls == ValueClass::nan;
      ASSERT_EQ(order.position_of(code).has_value(), !is_nan) << code;
      if (is_nan) continue;
      ++numbers;
      EXPECT_EQ(order.code_at(*order.position_of(code)), code);
    }
    ASSERT_EQ(order.size(), numbers);
    for (std::uint64_t i = 1; i < order.size(); ++i) {
      const auto low = order.value_at(i - 1);
      const auto high = order.value_at(i);
      if (low.cls == ValueClass::infinity) {
        EXPECT_TRUE(low.negative && i == 1);
      } else if (high.cls == ValueClass::infinity) {
        EXPECT_TRUE(!high.negative && i + 1 == order.size());
      } else if (low.cls == ValueClass::zero && high.cls == ValueClass::zero) {
        EXPECT_TRUE(low.negative && !high.negative);
      } else {
        EXPECT_LT(low.number(), high.number());
      }
    }
  }
}

TEST(SourceOrder, WideFormatsHaveAsManyNumbersAsTheirDefinitionSays) {
  EXPECT_EQ(SourceOrder(spec("f32")).size(), 2ull * 0x7f800001);
  EXPECT_EQ(SourceOrder(spec("f64")).size(), 2ull * 0x7ff0000000000001);
  EXPECT_EQ(SourceOrder(spec("tf32")).size(), 2ull * ((0x7f800000 >> 13) + 1));
  EXPECT_EQ(SourceOrder(spec("f64")).code_at(0), 0xfff0000000000000);
}

/// Intervals cover the source order without gap or overlap, neighbours differ, and the table answers as
/// `cast` does.
void check(const std::string& from_name, const std::string& to_name, const CastPolicy& policy,
           std::uint64_t random_word) {
  SCOPED_TRACE(from_name + " -> " + to_name + " rounding " +
               std::to_string(static_cast<int>(policy.rounding)) + " overflow " +
               std::to_string(static_cast<int>(policy.overflow)));
  const FormatSpec from = spec(from_name);
  const FormatSpec to = spec(to_name);
  const ThresholdTable table(from, to, policy, random_word);
  const auto& intervals = table.intervals();
  ASSERT_FALSE(intervals.empty());
  EXPECT_EQ(table.start(0), 0u);
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    EXPECT_EQ(table.order().code_at(table.start(i)), intervals[i].first);
    EXPECT_EQ(table.order().code_at(table.start(i + 1) - 1), intervals[i].last);
    if (i == 0) continue;
    EXPECT_FALSE(intervals[i].code == intervals[i - 1].code &&
                 intervals[i].refusal == intervals[i - 1].refusal);
  }
  const std::uint64_t step = from.width <= 10 ? 1 : table.order().size() / 997 + 1;
  for (std::uint64_t position = 0; position < table.order().size(); position += step) {
    const std::uint64_t code = table.order().code_at(position);
    const CastResult want = oracle::cast(from, code, to, policy, random_word);
    const Interval* got = table.lookup(code);
    ASSERT_NE(got, nullptr);
    EXPECT_EQ(got->code, want.code) << std::hex << code;
    EXPECT_EQ(got->refusal, want.refusal) << std::hex << code;
    if (position + step > table.order().size()) break;  // no wrap-around at 2^64
  }
}

std::vector<CastPolicy> policies() {
  std::vector<CastPolicy> result;
  for (const Rounding rounding :
       {Rounding::ties_to_even, Rounding::ties_to_away, Rounding::toward_zero, Rounding::toward_positive,
        Rounding::toward_negative, Rounding::to_odd, Rounding::stochastic}) {
    for (const Overflow overflow : {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow}) {
      CastPolicy policy = {
          .rounding = rounding, .overflow = overflow, .sr_variant = Stochastic::B, .sr_bits = 5};
      result.push_back(policy);
      policy.negative = Negative::abs;
      policy.zero = ZeroInto::nan;
      policy.nan_none = NanNone::nan_to_zero;
      policy.flush = Flush::in;
      policy.directed_overflow = DirectedOverflow::literal;
      result.push_back(policy);
      policy.negative = Negative::nan;
      policy.flush = Flush::out;
      policy.overflow_test = OverflowTest::before_rounding;
      policy.low_binade = LowBinade::upward;
      policy.inf_none = InfNone::error;
      result.push_back(policy);
    }
  }
  return result;
}

TEST(Thresholds, AnswerAsTheCastForEveryCodeOfSmallSources) {
  for (const auto& policy : policies()) {
    for (const auto& from : kSmall) {
      for (const char* to : {"e4m3", "e2m1", "e8m0", "uint2", "nf4", "hif8", "binary6p2se", "int4"})
        check(from, to, policy, 19);
    }
  }
}

TEST(Thresholds, AnswerAsTheCastForSampledCodesOfWideSources) {
  for (const auto& policy : policies()) {
    for (const char* to : {"e4m3", "e8m0", "e2m1", "int8"}) {
      for (const char* from : {"f32", "f64", "tf32", "bf16"}) check(from, to, policy, 7);
    }
  }
}

TEST(Thresholds, KnowTheTiesOfE2m1) {
  struct Row {
    std::uint64_t code, first, last;
    bool tie;
  };
  // The positive half of f32 -> e2m1, ties_to_even: thresholds at 0.25 0.75 1.25 1.75 2.5 3.5 5.
  const std::vector<Row> rows = {{0, 0x00000000, 0x3e800000, true}, {1, 0x3e800001, 0x3f3fffff, true},
                                 {2, 0x3f400000, 0x3fa00000, true}, {3, 0x3fa00001, 0x3fdfffff, true},
                                 {4, 0x3fe00000, 0x40200000, true}, {5, 0x40200001, 0x405fffff, true},
                                 {6, 0x40600000, 0x40a00000, true}, {7, 0x40a00001, 0x7f800000, false}};
  const auto all = oracle::thresholds(spec("f32"), spec("e2m1"), {});
  ASSERT_EQ(all.size(), 16u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Interval want = {rows[i].first, rows[i].last, rows[i].code, rows[i].tie, Refusal::none};
    EXPECT_EQ(all[8 + i], want) << i;
  }
}

TEST(Thresholds, ATieIsReportedOnlyWhereTheMiddleIsASourceValue) {
  // The midpoints 0.5, 1.5 and 2.5 of uint2 are values of e4m3.
  const auto exact = oracle::thresholds(spec("e4m3"), spec("uint2"), {.negative = Negative::zero});
  ASSERT_EQ(exact.size(), 4u);
  EXPECT_TRUE(exact[0].upper_is_tie && exact[1].upper_is_tie && exact[2].upper_is_tie);
  // int4 has no halves, so no tie of uint2 is a source value; and directed roundings know no ties.
  for (const Interval& interval :
       oracle::thresholds(spec("int4"), spec("uint2"), {.negative = Negative::zero})) {
    EXPECT_FALSE(interval.upper_is_tie);
  }
  for (const Interval& interval :
       oracle::thresholds(spec("f32"), spec("e2m1"), {.rounding = Rounding::toward_zero})) {
    EXPECT_FALSE(interval.upper_is_tie);
  }
}

TEST(Thresholds, NanSourcesHaveNoInterval) {
  const ThresholdTable table(spec("f32"), spec("e4m3"), {});
  EXPECT_EQ(table.lookup(0x7fc00000), nullptr);
  EXPECT_EQ(table.lookup(0xff800001), nullptr);
  ASSERT_NE(table.lookup(0x7f800000), nullptr);
  EXPECT_EQ(table.lookup(0x7f800000)->code, 0x7eu);
}

}  // namespace
