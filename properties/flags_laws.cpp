// Flags: each flag says exactly what its definition says, judged on exact values. IEEE 754-2019 7.4 to 7.6.
#include <gtest/gtest.h>

#include "law.hpp"

namespace halfulp::laws {
namespace {

/// The value that is handed to the rounding. Skips flushed sources, whose flags speak of the flush.
oracle::Value handed(const CastCase& c) {
  oracle::Value x = source_value(c);
  if (x.subnormal && (c.policy.flush == Flush::in || c.policy.flush == Flush::both)) skip();
  const bool number = x.cls == oracle::ValueClass::finite || x.cls == oracle::ValueClass::infinity;
  if (x.negative && !c.to.spec.is_signed && number) {
    if (c.policy.negative == Negative::nan) skip();
    if (c.policy.negative == Negative::zero) return oracle::zero_value(false);
    x.negative = false;
  }
  return x;
}

Space everything() {
  return {.sources = Sources::any, .policies = Policies::total};
}

bool has_no_zero(const FormatSpec& to) {
  return to.zeros == Zeros::absent;
}

void check_inexact(const CastCase& c) {
  const oracle::Value x = handed(c);
  const CastResult r = result_of(c);
  const oracle::Value value = target_value(c, r);
  const bool differs = value.cls != x.cls || (x.is_finite() && value.number() != x.number());
  require(((r.flags & kInexact) != 0) == differs, "inexact means different:", {r.code, r.flags});
}

TEST(Flags, InexactMeansThatTheResultDiffersFromTheSource) {
  for_all(everything(), check_inexact);
}

TEST(Flags, EverythingBelowTheSmallestNumberOfAFormatWithoutZeroIsInexact) {
  Space space = everything();
  space.target = has_no_zero;
  space.focus = Focus::bottoms;
  for_all(space, check_inexact);
}

TEST(Flags, UnderflowMeansInexactAndSubnormalOrZero) {
  for_all(everything(), [](const CastCase& c) {
    const oracle::Value x = handed(c);
    const CastResult r = result_of(c);
    const oracle::Value value = target_value(c, r);
    const bool tiny = value.subnormal || value.cls == oracle::ValueClass::zero;
    const bool expected = x.is_finite() && tiny && (r.flags & kInexact) != 0 && (r.flags & kOverflow) == 0;
    require(((r.flags & kUnderflow) != 0) == expected,
            "underflow means inexact and tiny:", {r.code, r.flags});
  });
}

TEST(Flags, SubnormalSaysThatTheResultIsSubnormal) {
  for_all(everything(), [](const CastCase& c) {
    const CastResult r = result_of(c);
    require(((r.flags & kSubnormal) != 0) == target_value(c, r).subnormal,
            "the subnormal flag:", {r.code, r.flags});
  });
}

void check_tie_flag(const CastCase& c) {
  const oracle::Value x = handed(c);
  const CastResult r = result_of(c);
  bool tie = c.policy.rounding == Rounding::ties_to_even || c.policy.rounding == Rounding::ties_to_away;
  if (x.cls != oracle::ValueClass::finite) {
    tie = false;
  } else {
    const oracle::Neighbours n = oracle::neighbours(x, c.to.spec);
    const bool between = !n.below_grid && !n.beyond_grid && n.low != x.magnitude;
    tie = tie && between && x.magnitude - n.low == n.high - x.magnitude;
  }
  require(((r.flags & kTie) != 0) == tie, "the tie flag:", {r.code, r.flags});
}

TEST(Flags, TieSaysThatANearestRoundingMetTheMiddle) {
  for_all({.sources = Sources::any}, check_tie_flag);
}

TEST(Flags, TieSaysSoAboveTheLargestNumberToo) {
  for_all({.focus = Focus::tops, .roundings = kNearestRoundings}, check_tie_flag);
}

TEST(Flags, TieSaysSoAtTheSmallestNumbersToo) {
  for_all({.focus = Focus::bottoms, .roundings = kNearestRoundings}, check_tie_flag);
}

TEST(Flags, NothingBelowTheSmallestNumberOfAFormatWithoutZeroIsATie) {
  for_all({.target = has_no_zero, .focus = Focus::bottoms, .roundings = kNearestRoundings}, check_tie_flag);
}

TEST(Flags, TieSaysSoInTablesToo) {
  const auto is_table = [](const FormatSpec& to) {
    return to.encoding == Encoding::codebook || to.encoding == Encoding::hifloat8;
  };
  for_all({.target = is_table, .focus = Focus::tops, .roundings = kNearestRoundings}, check_tie_flag);
}

TEST(Flags, AFlushedSubnormalSourceUnderflowsToZero) {
  Space space = everything();
  space.focus = Focus::subnormals;
  for_all(space, [](const CastCase& c) {
    if (!source_value(c).subnormal) skip();
    if (c.policy.flush != Flush::in && c.policy.flush != Flush::both) skip();
    const CastResult r = result_of(c);
    const std::uint64_t zero = c.word & (c.from.spec.sign_mask() << c.from.spec.storage_shift);
    if (c.from.spec.zeros == Zeros::plus_only && zero != 0) skip();  // the source format cannot write -0
    const CastResult of_zero = cast(c.from.spec, zero, c.to.spec, c.policy, c.random);
    require(r.code == of_zero.code, "a flushed source is a zero:", {r.code, of_zero.code});
    require((r.flags & (kInexact | kUnderflow)) == (kInexact | kUnderflow),
            "a flush is inexact:", {r.code, r.flags});
  });
}

TEST(Flags, FlushingOutReplacesSubnormalResultsAndNothingElse) {
  for_all({.sources = Sources::any}, [](const CastCase& c) {
    CastPolicy flushing = c.policy;
    flushing.flush = Flush::out;
    const CastResult kept = result_of(c);
    const CastResult flushed = cast(c.from.spec, c.word, c.to.spec, flushing, c.random);
    if ((kept.flags & kSubnormal) == 0) {
      require(flushed == kept, "only subnormal results are flushed:", {kept.code, flushed.code});
      return;
    }
    const oracle::Value value = target_value(c, flushed);
    const bool has_minus_zero = c.to.spec.zeros == Zeros::plus_and_minus;
    const bool negative = source_value(c).negative && has_minus_zero;
    require(value.cls == oracle::ValueClass::zero && value.negative == negative,
            "a zero of the sign:", {flushed.code});
    const int expected = (kept.flags & kTie) | kInexact | kUnderflow;
    require(flushed.flags == expected,
            "the flush is inexact and an underflow:", {kept.flags, flushed.flags});
  });
}

}  // namespace
}  // namespace halfulp::laws
