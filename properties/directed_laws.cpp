// Directed roundings and to_odd: rd <= x <= ru, adjacent or equal, and the others are one of the two. IEEE
// 754-2019 4.3.2.
#include <gtest/gtest.h>

#include "law.hpp"

namespace halfulp::laws {
namespace {

CastResult with_rounding(const CastCase& c, Rounding rounding) {
  CastPolicy policy = c.policy;
  policy.rounding = rounding;
  return cast(c.from.spec, c.word, c.to.spec, policy, c.random);
}

/// The source as the rounding sees it. Skips what no rounding looks at.
oracle::Value number_of(const CastCase& c) {
  oracle::Value x = source_value(c);
  if (x.cls != oracle::ValueClass::finite) skip();
  x.negative = x.negative && c.to.spec.is_signed;
  return x;
}

Space everywhere() {
  return {.sources = Sources::any, .overflows = {Overflow::overflow}};
}

TEST(Directed, DownAndUpBracketTheSourceAndAreNeighbours) {
  for_all(everywhere(), [](const CastCase& c) {
    const oracle::Value x = number_of(c);
    const oracle::Neighbours n = oracle::neighbours(x, c.to.spec);
    if (n.below_grid || !n.low_fits || (!n.high_fits && !c.to.spec.has_nan()))
      skip();  // nothing on one side
    const CastResult down = with_rounding(c, Rounding::toward_negative);
    const CastResult up = with_rounding(c, Rounding::toward_positive);
    const CastResult& inner = x.negative ? up : down;
    const CastResult& outer = x.negative ? down : up;
    require(target_value(c, inner).magnitude == n.low,
            "toward zero stands the nearest number below:", {inner.code});
    if (n.low == x.magnitude) {
      require(down.code == up.code, "a number of the format is its own bracket:", {down.code, up.code});
    } else if (n.high_fits) {
      require(target_value(c, outer).magnitude == n.high,
              "away from zero stands the next number:", {outer.code});
    } else {
      require((outer.flags & kOverflow) != 0 && !target_value(c, outer).is_finite(),
              "above the largest is overflow:", {outer.code});
    }
  });
}

TEST(Directed, TowardZeroIsTheInnerOfTheTwo) {
  for_all(everywhere(), [](const CastCase& c) {
    const oracle::Value x = number_of(c);
    const CastResult inner =
        with_rounding(c, x.negative ? Rounding::toward_positive : Rounding::toward_negative);
    const CastResult zero = with_rounding(c, Rounding::toward_zero);
    require(zero == inner, "toward_zero is toward_positive below zero and toward_negative above:",
            {zero.code, inner.code});
  });
}

TEST(Directed, ToOddIsExactOrOneOfTheTwoWithAnOddCode) {
  for_all(everywhere(), [](const CastCase& c) {
    const oracle::Value x = number_of(c);
    const oracle::Neighbours n = oracle::neighbours(x, c.to.spec);
    if (n.below_grid || n.beyond_grid || !n.low_fits) skip();
    const CastResult odd = with_rounding(c, Rounding::to_odd);
    if (n.low == x.magnitude) {
      require(target_value(c, odd).magnitude == n.low, "an exact value stays:", {odd.code});
    } else if ((odd.flags & kOverflow) != 0) {
      require(!n.high_fits && n.low_is_even, "to_odd overflows when the largest is even:", {odd.code});
    } else {
      const oracle::Exact got = target_value(c, odd).magnitude;
      require(got == n.low || got == n.high, "to_odd gives a neighbour:", {odd.code});
      require((odd.code >> c.to.spec.storage_shift & 1) == 1, "to_odd gives the odd code:", {odd.code});
    }
  });
}

TEST(Directed, EveryRoundingGivesDownOrUp) {
  for_all(everywhere(), [](const CastCase& c) {
    number_of(c);
    const std::uint64_t down = with_rounding(c, Rounding::toward_negative).code;
    const std::uint64_t up = with_rounding(c, Rounding::toward_positive).code;
    const std::uint64_t got = result_of(c).code;
    require(got == down || got == up, "the result is one of the two:", {got, down, up});
  });
}

}  // namespace
}  // namespace halfulp::laws
