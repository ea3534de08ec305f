// Wide numbers against integers of any width: every directed rounding is the exact one, exp2 encloses 100 digits of it.
#include <gtest/gtest.h>

#include <bit>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>

#include "halfulp/attention/detail/wide.hpp"

namespace {

using halfulp::attention::detail::Wide;
using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;
using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<400, boost::multiprecision::digit_base_2>>;

Integer pow2(int n) { return Integer(1) << static_cast<unsigned>(n); }
Rational scaled(const Integer& units, int exponent) {
  return exponent >= 0 ? Rational(Integer(units * pow2(exponent))) : Rational(units, pow2(-exponent));
}

/// A Wide together with what it is, made from doubles by exact sums.
struct Number {
  Wide wide;
  Rational exact = 0;
};

/// The exact value of a Wide, read through its public functions: 53 bits at a time.
Rational value_of(Wide x) {
  Rational sum = 0;
  for (int i = 0; i < 6 && x.sign() != 0; ++i) {
    const double top = x.to_double(x.sign() < 0);  // toward zero
    int exponent = 0;
    const auto units = static_cast<std::int64_t>(std::ldexp(std::frexp(top, &exponent), 53));
    sum += scaled(units, exponent - 53);
    x = Wide::add(x, -Wide(top), false);
  }
  EXPECT_EQ(x.sign(), 0);
  return sum;
}

class Numbers {
 public:
  explicit Numbers(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  /// Up to 256 bits: sums of doubles that do not overlap, now and then all ones, a power of two, or a far small part.
  Number next() {
    Number x;
    int exponent = below(600) - 300;
    const int parts = 1 + below(4), kind = below(6);
    const int sign = below(2) == 0 ? 1 : -1;
    for (int i = 0; i < parts; ++i) {
      std::uint64_t units = random_() & 0xfffffffffffffu;
      if (kind == 0) units = 0xfffffffffffffu;
      if (kind == 1) units = i == 0 ? 1 : 0;
      if (kind == 2 && i == 0) units = 0x8000000000000u;
      exponent -= 52;
      const double part = std::ldexp(sign * static_cast<double>(units), exponent);
      x.wide = Wide::add(x.wide, Wide(part), false);
      x.exact += scaled(Integer(sign * static_cast<std::int64_t>(units)), exponent);
    }
    return x;
  }

 private:
  std::mt19937_64 random_;
};

/// `exact` cut to 256 bits, down or up.
Rational rounded(const Rational& exact, bool up) {
  if (exact == 0) return 0;
  const Integer numerator = abs(boost::multiprecision::numerator(exact)), denominator = boost::multiprecision::denominator(exact);
  int exponent = static_cast<int>(msb(numerator)) - static_cast<int>(msb(denominator)) - 256;
  const auto quotient = [&](Integer& rest) {
    const Integer a = exponent < 0 ? Integer(numerator * pow2(-exponent)) : numerator,
                  b = exponent > 0 ? Integer(denominator * pow2(exponent)) : denominator;
    rest = a % b;
    return Integer(a / b);
  };
  Integer rest, units = quotient(rest);
  if (msb(units) > 255) {
    ++exponent;
    units = quotient(rest);
  }
  const bool negative = exact < 0;
  if (rest != 0 && up != negative) ++units;
  return negative ? Rational(-scaled(units, exponent)) : scaled(units, exponent);
}

TEST(AttentionWide, EveryOperationIsTheExactOneRoundedOnce) {
  Numbers numbers(1);
  for (int i = 0; i < 4000; ++i) {
    const Number a = numbers.next();
    Number b = numbers.next();
    if (numbers.below(4) == 0) {  // a near one: cancellation
      b.wide = Wide::mul(a.wide, Wide(-1 - std::ldexp(1.0, -numbers.below(60))), false);
      b.exact = value_of(b.wide);
    }
    ASSERT_EQ(value_of(a.wide), a.exact);
    for (const bool up : {false, true}) {
      ASSERT_EQ(value_of(Wide::add(a.wide, b.wide, up)), rounded(a.exact + b.exact, up)) << i;
      ASSERT_EQ(value_of(Wide::mul(a.wide, b.wide, up)), rounded(a.exact * b.exact, up)) << i;
      if (b.exact == 0) continue;
      ASSERT_EQ(value_of(Wide::div(a.wide, b.wide, up)), rounded(a.exact / b.exact, up)) << i;
    }
    ASSERT_EQ(a.wide < b.wide, a.exact < b.exact);
    ASSERT_EQ(a.wide == b.wide, a.exact == b.exact);
    ASSERT_TRUE(a.wide == -(-a.wide));
  }
}

/// A part that no window holds still moves a directed result.
TEST(AttentionWide, FarSummandsCount) {
  for (const int gap : {63, 64, 65, 255, 256, 257, 319, 320, 384, 400, 900}) {
    for (const double sign : {1.0, -1.0}) {
      const Wide one(1), small(std::ldexp(sign, -gap));
      const Rational exact = 1 + (sign > 0 ? 1 : -1) * scaled(1, -gap);
      for (const bool up : {false, true}) {
        EXPECT_EQ(value_of(Wide::add(one, small, up)), rounded(exact, up)) << gap;
        EXPECT_EQ(value_of(Wide::add(small, one, up)), rounded(exact, up)) << gap;
        EXPECT_EQ(value_of(Wide::add(-one, -small, up)), rounded(-exact, up)) << gap;
      }
    }
  }
  EXPECT_EQ(value_of(Wide::add(Wide(3), Wide(-3), true)), 0);
}

TEST(AttentionWide, DoublesAndFloors) {
  Numbers numbers(2);
  for (const double x : {0.0, 1.0, -1.0, 0x1p-1074, -0x1.fffffffffffffp+1023, 0.1}) {
    EXPECT_EQ(Wide(x).to_double(false), x);
    EXPECT_EQ(Wide(x).to_double(true), x);
  }
  for (int i = 0; i < 2000; ++i) {
    const Number a = numbers.next();
    if (a.exact == 0) continue;
    const double low = a.wide.to_double(false), high = a.wide.to_double(true);
    EXPECT_TRUE(Wide(low) <= a.wide && a.wide <= Wide(high));
    EXPECT_TRUE(low == high || std::nextafter(low, HUGE_VAL) == high);
    const int exponent = a.wide.floor_log2() - numbers.below(60);
    bool inexact = false;
    const std::int64_t n = a.wide.floor_of(exponent, inexact);
    EXPECT_TRUE(scaled(n, exponent) <= a.exact && a.exact < scaled(Integer(n) + 1, exponent));
    EXPECT_EQ(inexact, scaled(n, exponent) != a.exact);
    const Rational magnitude = abs(a.exact);
    EXPECT_TRUE(scaled(1, a.wide.floor_log2()) <= magnitude && magnitude < scaled(2, a.wide.floor_log2()));
  }
}

TEST(AttentionWide, Exp2EnclosesItAndNothingElse) {
  Numbers numbers(3);
  const auto real = [](const Rational& x) { return Real(Real(boost::multiprecision::numerator(x)) / Real(boost::multiprecision::denominator(x))); };
  const Real width = ldexp(Real(1), -250);
  for (int i = 0; i < 3000; ++i) {
    Number a = numbers.next();
    if (a.exact == 0) continue;
    // To a size that exponents have: from 2^-40 to 2^9.
    const double scale = std::ldexp(1.0, numbers.below(49) - 40 - a.wide.floor_log2());
    a.wide = Wide::mul(a.wide, Wide(scale), false);
    const Real exact = exp2(real(value_of(a.wide)));
    const Real low = real(value_of(Wide::exp2(a.wide, false))), high = real(value_of(Wide::exp2(a.wide, true)));
    ASSERT_LE(low, exact * (1 + ldexp(Real(1), -380))) << i;
    ASSERT_GE(high, exact * (1 - ldexp(Real(1), -380))) << i;
    ASSERT_LE(high - low, exact * width) << i;
  }
  for (const int n : {-1000, -1, 0, 7}) {
    EXPECT_EQ(value_of(Wide::exp2(Wide(n), false)), scaled(1, n));
    EXPECT_EQ(value_of(Wide::exp2(Wide(n), true)), scaled(1, n));
  }
  EXPECT_TRUE(Wide(1) < Wide::exp2(Wide(0x1p-500), true) && Wide::exp2(Wide(-0x1p-500), false) < Wide(1));
  EXPECT_TRUE(!(Wide(1) < Wide::exp2(Wide(0x1p-500), false)) && !(Wide::exp2(Wide(-0x1p-500), true) < Wide(1)));
}

}  // namespace
