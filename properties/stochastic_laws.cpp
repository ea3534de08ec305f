// Stochastic rounding: the probability of going away from zero is exactly that of the variant's definition,
// found by running every random word. Variants A, B and C of the IEEE P3109 drafts.
#include <gtest/gtest.h>

#include <bit>

#include "halfulp/names.hpp"
#include "law.hpp"

namespace halfulp::laws {
namespace {

using oracle::Exact;

constexpr int kMostBits = 10;

Exact ties_to_even_integer(const Exact& x) {
  const Exact floor = x.floor();
  const Exact rest = x - floor;
  const bool floor_is_odd = !floor.times_pow2(-1).is_integer();
  const bool up = rest > Exact::ratio(1, 2) || (rest == Exact::ratio(1, 2) && floor_is_odd);
  return up ? floor + Exact(1) : floor;
}

/// How many of the 2^n random words move a value that stands `nu` of the way to the next number.
Exact words_that_move(const Exact& nu, Stochastic variant, int n) {
  switch (variant) {
    case Stochastic::A: return nu.times_pow2(n).floor();
    case Stochastic::B: return (nu.times_pow2(n + 1).floor() + Exact(1)).times_pow2(-1).floor();
    case Stochastic::C: break;
  }
  return ties_to_even_integer(nu.times_pow2(n));
}

/// The source where it stands strictly between two numbers, the lower of which fits. Skips everything else.
struct Between {
  oracle::Neighbours around;
  Exact nu;
};
Between between(const CastCase& c) {
  oracle::Value x = source_value(c);
  if (x.cls != oracle::ValueClass::finite) skip();
  x.negative = x.negative && c.to.spec.is_signed;
  const oracle::Neighbours n = oracle::neighbours(x, c.to.spec);
  if (n.below_grid || n.beyond_grid || !n.low_fits || n.low == x.magnitude) skip();
  return {n, (x.magnitude - n.low) / (n.high - n.low)};
}

void check_every_word(CastCase c) {
  const auto [around, nu] = between(c);
  const int n = 1 + static_cast<int>(c.random % kMostBits);
  c.policy.sr_bits = n;
  const std::uint64_t words = std::uint64_t{1} << n;
  const std::uint64_t moving = words_that_move(nu, c.policy.sr_variant, n).to_uint64().value();
  const std::uint64_t junk = c.other & ~low_mask(n);  // bits above the n random ones
  for (std::uint64_t r = 0; r < words; ++r) {
    const CastResult got = cast(c.from.spec, c.word, c.to.spec, c.policy, junk | r);
    const bool away = r >= words - moving;  // the greatest words move
    if (away && !around.high_fits) {
      require((got.flags & kOverflow) != 0, "overflow is judged after the carry:", {got.code, r});
    } else {
      const Exact& expected = away ? around.high : around.low;
      require(target_value(c, got).magnitude == expected,
              "as many words move as the definition says:", {got.code, r, moving});
    }
  }
}

Space stochastic() {
  return {.sources = Sources::any, .roundings = {Rounding::stochastic}};
}

TEST(StochasticRounding, ExactlyTheWordsOfTheDefinitionMoveTheValue) {
  for_all(stochastic(), check_every_word);
}

TEST(StochasticRounding, ThirtyTwoRandomBitsAreComparedExactly) {
  for_all(stochastic(), [](CastCase c) {
    const Between x = between(c);
    c.policy.sr_bits = 11 + static_cast<int>(c.random % 22);
    const std::uint64_t words = std::uint64_t{1} << c.policy.sr_bits;
    const std::uint64_t moving =
        words_that_move(x.nu, c.policy.sr_variant, c.policy.sr_bits).to_uint64().value();
    const auto moves = [&](std::uint64_t r) {
      const CastResult got = cast(c.from.spec, c.word, c.to.spec, c.policy, r);
      return (got.flags & kOverflow) != 0 || target_value(c, got).magnitude == x.around.high;
    };
    require(moving == 0 || moves(words - moving), "the first word that moves the value:", {words - moving});
    require(moving == words || !moves(words - moving - 1),
            "the last word that does not:", {words - moving});
  });
}

TEST(StochasticRounding, GivesOneOfTheTwoNeighbours) {
  for_all(stochastic(), [](const CastCase& c) {
    const auto [around, nu] = between(c);
    const CastResult got = result_of(c);
    const Exact value = target_value(c, got).magnitude;
    const bool overflowed = (got.flags & kOverflow) != 0 && !around.high_fits;
    require(overflowed || value == around.low || value == around.high,
            "one of the two neighbours:", {got.code});
  });
}

TEST(StochasticRounding, NeverMovesAnExactValueAndNeverTouchesInfAndNan) {
  for_all({.sources = Sources::any, .roundings = {Rounding::ties_to_even}}, [](const CastCase& c) {
    const CastResult nearest = result_of(c);
    const bool number = source_value(c).is_finite();
    if (number && (nearest.flags & kInexact) != 0) skip();
    CastPolicy policy = c.policy;
    policy.rounding = Rounding::stochastic;
    for (const std::uint64_t r : {std::uint64_t{0}, c.random, ~std::uint64_t{0}}) {
      require(cast(c.from.spec, c.word, c.to.spec, policy, r) == nearest,
              "no random word matters:", {nearest.code, r});
    }
  });
}

TEST(StochasticRounding, OverflowsAfterTheCarry) {
  const auto e4m3 = [](float x, Overflow overflow, std::uint64_t r) {
    const CastPolicy policy = {.rounding = Rounding::stochastic, .overflow = overflow, .sr_bits = 8};
    return cast(spec_of("f32"), std::bit_cast<std::uint32_t>(x), spec_of("e4m3"), policy, r).code;
  };
  EXPECT_EQ(e4m3(449.0f, Overflow::overflow, 0), 0x7eu);
  EXPECT_EQ(e4m3(449.0f, Overflow::overflow, 0xff), 0x7fu);
  EXPECT_EQ(e4m3(449.0f, Overflow::saturate, 0xff), 0x7eu);
  EXPECT_EQ(e4m3(448.0f, Overflow::overflow, 0xff), 0x7eu);
  EXPECT_EQ(e4m3(1.9375f, Overflow::overflow, 0xff), 0x40u)
      << "a carry out of an all-ones significand raises the exponent";
}

TEST(StochasticRounding, MeasuresTheSubnormalGapBelowTheSmallestNormal) {
  for (const Stochastic variant : {Stochastic::A, Stochastic::B, Stochastic::C}) {
    const CastPolicy policy = {.rounding = Rounding::stochastic, .sr_variant = variant, .sr_bits = 2};
    int moved = 0;
    for (std::uint64_t r = 0; r < 4; ++r) {  // 1.25 * 2^-9: one quarter of the gap from code 01 to code 02
      const std::uint64_t code =
          cast(spec_of("f32"), std::bit_cast<std::uint32_t>(0x1.4p-9f), spec_of("e4m3"), policy, r).code;
      moved += code == 2 ? 1 : 0;
    }
    EXPECT_EQ(moved, 1) << name_of(variant);
  }
}

}  // namespace
}  // namespace halfulp::laws
