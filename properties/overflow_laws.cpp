// Overflow: judged after rounding; what is too large becomes what the policy names. IEEE 754-2019 7.4, OCP
// OFP8 v1.0 5.2.
#include <gtest/gtest.h>

#include <bit>

#include "halfulp/oracle/limits.hpp"
#include "law.hpp"

namespace halfulp::laws {
namespace {

using oracle::Exact;

/// Targets whose grid can be continued by adding exponents (or integer bits).
bool is_extensible(const FormatSpec& spec) {
  if (spec.encoding == Encoding::twos_complement) return spec.width <= 8;  // room for more above
  return is_floating(spec) && spec.exponent_bits <= 13 && spec.width <= 20;
}

/// The rounding with an unbounded exponent: the same cast into the target with more room above.
oracle::Value unbounded(const CastCase& c) {
  const FormatSpec wider = with_more_exponents(c.to.spec);
  return oracle::value_of(wider, cast(c.from.spec, c.word, wider, c.policy, c.random).code);
}

const oracle::Limits::Number& end_of(const CastCase& c, bool negative) {
  const oracle::Limits& ends = oracle::limits_of(c.to.spec);
  return negative && ends.lowest ? *ends.lowest : ends.largest;
}

TEST(Overflow, SaturationClampsTheUnboundedRounding) {
  for_all({.target = is_extensible, .overflows = {Overflow::saturate}}, [](const CastCase& c) {
    if (source_value(c).cls != oracle::ValueClass::finite) skip();
    const oracle::Value free = unbounded(c);
    const CastResult got = result_of(c);
    const auto& end = end_of(c, free.negative);
    if (free.magnitude > end.value) {
      require(got.code == end.code, "what is too large becomes the largest:", {got.code, end.code});
    } else {
      require(target_value(c, got).number() == free.number(), "what fits is not touched:", {got.code});
    }
  });
}

TEST(Overflow, IsFlaggedExactlyWhenTheRoundedMagnitudeIsTooLarge) {
  for_all({.target = is_extensible, .focus = Focus::tops}, [](const CastCase& c) {
    if (source_value(c).cls != oracle::ValueClass::finite) skip();
    CastCase saturating = c;
    saturating.policy.overflow = Overflow::saturate;
    const oracle::Value free = unbounded(saturating);
    const bool too_large = free.magnitude > end_of(c, free.negative).value;
    require(((result_of(c).flags & kOverflow) != 0) == too_large,
            "the overflow flag follows the rounded magnitude:", {result_of(c).code});
  });
}

TEST(Overflow, OverflowRulesAgreeWhereverNothingOverflows) {
  for_all({.sources = Sources::any}, [](const CastCase& c) {
    if (source_value(c).cls != oracle::ValueClass::finite) skip();
    const CastResult got = result_of(c);
    if ((got.flags & kOverflow) != 0) skip();
    for (const Overflow rule : {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow}) {
      CastPolicy policy = c.policy;
      policy.overflow = rule;
      require(cast(c.from.spec, c.word, c.to.spec, policy, c.random) == got,
              "the rule matters only on overflow:", {got.code});
    }
  });
}

TEST(Overflow, GivesInfElseNanElseTheLargestUnlessItSaturatesOrRoundsInward) {
  for_all({.sources = Sources::any, .focus = Focus::tops}, [](const CastCase& c) {
    const CastResult got = result_of(c);
    if ((got.flags & kOverflow) == 0) skip();
    const bool negative = source_value(c).negative && c.to.spec.is_signed;
    const oracle::Value value = target_value(c, got);
    const bool up = c.policy.rounding == Rounding::toward_positive;
    const bool down = c.policy.rounding == Rounding::toward_negative;
    const bool inward = c.policy.rounding == Rounding::toward_zero ||
                        c.policy.rounding == Rounding::to_odd || (up && negative) || (down && !negative);
    const bool keeps_number = c.policy.overflow != Overflow::overflow || inward || !c.to.spec.has_nan();
    require((got.flags & kInexact) != 0, "an overflow is inexact:", {got.flags});
    if (keeps_number) {
      require(got.code == end_of(c, negative).code, "the largest number of the sign:", {got.code});
    } else {
      const auto expected =
          c.to.spec.has_infinity() ? oracle::ValueClass::infinity : oracle::ValueClass::nan;
      require(value.cls == expected, "Inf, or NaN where there is none:", {got.code});
      const bool has_sign = c.to.spec.has_infinity() || c.to.spec.zeros == Zeros::plus_and_minus;
      require(!has_sign || value.negative == negative, "the sign is kept:", {got.code});
    }
  });
}

TEST(Overflow, TheLiteralReadingOverflowsInwardRoundingsToo) {
  for_all({.sources = Sources::any, .focus = Focus::tops, .overflows = {Overflow::overflow}},
          [](const CastCase& c) {
            CastPolicy literal = c.policy;
            literal.directed_overflow = DirectedOverflow::literal;
            const CastResult got = cast(c.from.spec, c.word, c.to.spec, literal, c.random);
            const CastResult clamped = result_of(c);
            require(got.flags == clamped.flags, "the reading changes no flag:", {got.flags, clamped.flags});
            if ((got.flags & kOverflow) == 0) {
              require(got == clamped, "the reading matters only on overflow:", {got.code, clamped.code});
            } else {
              require(target_value(c, got).is_finite() != c.to.spec.has_nan(),
                      "every overflow leaves the numbers:", {got.code});
            }
          });
}

TEST(Overflow, JudgedBeforeRoundingEverySourceAboveTheLargestOverflows) {
  for_all({.focus = Focus::tops}, [](const CastCase& c) {
    const oracle::Value x = source_value(c);
    if (x.cls != oracle::ValueClass::finite) skip();
    CastPolicy early = c.policy;
    early.overflow_test = OverflowTest::before_rounding;
    const CastResult got = cast(c.from.spec, c.word, c.to.spec, early, c.random);
    const bool above = x.magnitude > end_of(c, x.negative && c.to.spec.is_signed).value;
    if (above && c.policy.overflow == Overflow::overflow) {
      require((got.flags & kOverflow) != 0, "a source above the largest overflows:", {got.code});
    } else {
      require(got == result_of(c), "the test matters nowhere else:", {got.code});
    }
  });
}

// ---- the ends of the formats under ties_to_even, as tables of the standards give them ----

struct End {
  const char* format;
  double first_over;        ///< smallest magnitude that overflows, or the last that does not
  bool itself_overflows;    ///< the largest code is odd: the tie goes up
  std::uint32_t last_safe;  ///< largest f32 that rounds to the largest number
  double zero_boundary;     ///< largest magnitude that rounds to zero; 0 where there is no zero
};

constexpr End kEnds[] = {
    {"e4m3", 464, false, 0x43e80000, 0x1p-10},
    {"ue4m3", 464, false, 0x43e80000, 0x1p-10},
    {"e5m2", 61440, true, 0x476fffff, 0x1p-17},
    {"e4m3fnuz", 248, true, 0x4377ffff, 0x1p-11},
    {"e5m2fnuz", 61440, true, 0x476fffff, 0x1p-18},
    {"e4m3b11fnuz", 31, true, 0x41f7ffff, 0x1p-14},
    {"e4m3_ieee", 248, true, 0x4377ffff, 0x1p-10},
    {"e3m4_ieee", 15.75, true, 0x417bffff, 0x1p-7},
    {"e3m2", 30, true, 0x41efffff, 0x1p-5},
    {"e2m3", 7.75, true, 0x40f7ffff, 0x1p-4},
    {"e2m1", 7, true, 0x40dfffff, 0x1p-2},
    {"e8m0", 0x1.8p127, false, 0x7f400000, 0},
    {"ue5m3", 118784, false, 0x47e80000, 0x1p-18},
    {"f16", 65520, true, 0x477fefff, 0x1p-25},
    {"bf16", 0x1.ffp127, true, 0x7f7f7fff, 0x1p-134},
    {"tf32", 0x1.ffep127, true, 0x7f7fefff, 0x1p-137},
};

TEST(Overflow, BeginsWhereTheTablesOfTheFormatsSay) {
  const FormatSpec f64 = spec_of("f64");
  const FormatSpec f32 = spec_of("f32");
  for (const End& end : kEnds) {
    const FormatSpec to = find_format(end.format)->spec;
    const auto overflows = [&to](const FormatSpec& from, std::uint64_t word, Rounding rounding) {
      return (cast(from, word, to, {.rounding = rounding, .overflow = Overflow::overflow}).flags &
              kOverflow) != 0;
    };
    const auto at = std::bit_cast<std::uint64_t>(end.first_over);
    EXPECT_EQ(overflows(f64, at, Rounding::ties_to_even), end.itself_overflows) << end.format;
    EXPECT_TRUE(overflows(f64, at, Rounding::ties_to_away)) << end.format;
    for (const Rounding rounding : kNearestRoundings) {
      EXPECT_FALSE(overflows(f64, at - 1, rounding))
          << end.format << ": less than half an ulp above the largest";
      EXPECT_TRUE(overflows(f64, at + 1, rounding))
          << end.format << ": more than half an ulp above the largest";
    }
    EXPECT_FALSE(overflows(f32, end.last_safe, Rounding::ties_to_even)) << end.format;
    EXPECT_TRUE(overflows(f32, end.last_safe + 1, Rounding::ties_to_even)) << end.format;
    if (end.zero_boundary == 0) continue;
    const auto boundary = std::bit_cast<std::uint64_t>(end.zero_boundary);
    EXPECT_EQ(cast(f64, boundary, to, {}).code, 0u) << end.format;
    EXPECT_EQ(cast(f64, boundary + 1, to, {}).code, std::uint64_t{1} << to.storage_shift) << end.format;
  }
}

}  // namespace
}  // namespace halfulp::laws
