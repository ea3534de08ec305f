// Monotonicity: a greater source never gives a smaller result, under any rounding, overflow rule or fixed
// random word.
#include <gtest/gtest.h>

#include <utility>

#include "law.hpp"

namespace halfulp::laws {
namespace {

void check_order(const CastCase& c) {
  oracle::Value low = oracle::value_of(c.from.spec, c.word);
  oracle::Value high = oracle::value_of(c.from.spec, c.other);
  if (low.cls == oracle::ValueClass::nan || high.cls == oracle::ValueClass::nan) skip();
  if (!c.to.spec.is_signed && (low.negative || high.negative))
    skip();  // abs is not monotone, and does not claim it
  std::uint64_t low_word = c.word;
  std::uint64_t high_word = c.other;
  if (compare_places(low, high) > 0) {
    std::swap(low, high);
    std::swap(low_word, high_word);
  }
  const CastResult at_low = cast(c.from.spec, low_word, c.to.spec, c.policy, c.random);
  const CastResult at_high = cast(c.from.spec, high_word, c.to.spec, c.policy, c.random);
  // A NaN made by overflow has no sign in some formats: it takes that of its source.
  const auto place = [&c](const CastResult& r, const oracle::Value& source) {
    oracle::Value value = oracle::value_of(c.to.spec, r.code);
    if (value.cls == oracle::ValueClass::nan) value.negative = source.negative;
    return value;
  };
  require(compare_places(place(at_low, low), place(at_high, high)) <= 0,
          "the order of the sources is kept:", {at_low.code, at_high.code});
}

TEST(Monotonicity, HoldsForEveryRoundingAndEveryFixedRandomWord) {
  for_all({}, check_order);
}

TEST(Monotonicity, HoldsForNarrowSources) {
  for_all({.sources = Sources::any}, check_order);
}

TEST(Monotonicity, HoldsUnderTheRulesOfLibrariesToo) {
  for_all({.policies = Policies::total}, [](const CastCase& c) {
    // Zero or Inf moved across the numbers is a rule for one value, not a rounding.
    if (c.policy.zero == ZeroInto::nan || c.policy.inf_none == InfNone::zero) skip();
    check_order(c);
  });
}

TEST(Monotonicity, AGreaterRandomWordNeverGivesASmallerMagnitude) {
  for_all({.roundings = {Rounding::stochastic}}, [](const CastCase& c) {
    const oracle::Value source = source_value(c);
    if (!source.is_finite()) skip();
    const std::uint64_t r = c.random & low_mask(c.policy.sr_bits);
    if (r == 0) skip();
    const CastResult less = cast(c.from.spec, c.word, c.to.spec, c.policy, r - 1);
    const CastResult more = cast(c.from.spec, c.word, c.to.spec, c.policy, r);
    oracle::Value a = oracle::value_of(c.to.spec, less.code);
    oracle::Value b = oracle::value_of(c.to.spec, more.code);
    a.negative = b.negative = false;
    require(compare_places(a, b) <= 0,
            "a greater random word moves away from zero:", {less.code, more.code});
  });
}

}  // namespace
}  // namespace halfulp::laws
