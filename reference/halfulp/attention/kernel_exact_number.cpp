// Float32 steps of the exact twin; see detail/kernel_exact_number.hpp.
#include <stdexcept>

#include "halfulp/accumulation/detail/exact_number.hpp"
#include "halfulp/attention/detail/kernel_exact_number.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/value.hpp"

namespace halfulp::attention::exact {
namespace {

using accumulation::exact::Direction, accumulation::exact::Integer, accumulation::exact::Kind, accumulation::exact::Number;

constexpr FormatSpec kF32 = spec_of("f32");

Number number(std::uint32_t word) { return accumulation::exact::number_of(accumulation::exact::operand_of(kF32, word)); }
std::uint32_t rounded(const Number& x) { return accumulation::exact::rounded(x, accumulation::Output::f32, 23, Direction::nearest_even); }
bool is_zero(const Number& x) { return x.kind == Kind::finite && x.units == 0; }

/// Coefficients c1 to c6 of 2^r on |r| <= 1/2, docs/attention.md.
constexpr std::uint32_t kCoefficients[] = {0x3f317218, 0x3e75fdee, 0x3d635785, 0x3c1d9693, 0x3aafa1c4, 0x392109f3};

/// tanh: coefficients of a + a z Q(z) in z = a^2, constant term first; from 9/16 on, the factor of a in the exponent, and the line that
/// the reciprocal of 1 + e starts from.
constexpr std::uint32_t kTanhCoefficients[] = {0xbeaaaaa4, 0x3e088639, 0xbd5c84a3, 0x3cac17d8, 0xbbca800d};
constexpr std::uint32_t kNineSixteenths = 0x3f100000, kTanhExponent = 0xc038aa3b, kSlope = 0xbf413522, kIntercept = 0x3f7dcc64;

/// The integer nearest to units * 2^exponent, ties to even.
Integer nearest_integer(const Number& x) {
  const Integer floor = accumulation::exact::floored(x.units, x.exponent, 0);
  if (x.exponent >= 0) return floor;
  const Integer rest = (x.units - (floor << static_cast<unsigned>(-x.exponent))) * 2;  // twice the distance to the floor
  const Integer one = Integer(1) << static_cast<unsigned>(-x.exponent);
  return rest > one || (rest == one && bit_test(abs(floor), 0)) ? Integer(floor + 1) : floor;
}

}  // namespace

std::uint32_t add(std::uint32_t a, std::uint32_t b) { return rounded(number(a) + number(b)); }
std::uint32_t subtract(std::uint32_t a, std::uint32_t b) { return add(a, b ^ 0x80000000); }
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) { return rounded(number(a) * number(b)); }
std::uint32_t fused(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return rounded(number(a) * number(b) + number(c)); }

std::uint32_t divide(std::uint32_t a, std::uint32_t b) {
  const Number x = number(a), y = number(b);
  const bool negative = x.negative != y.negative;
  const bool x_infinite = x.kind == Kind::infinity, y_infinite = y.kind == Kind::infinity;
  if (x.kind == Kind::nan || y.kind == Kind::nan || (x_infinite && y_infinite) || (is_zero(x) && is_zero(y))) return kNan;
  if (x_infinite || is_zero(y)) return rounded({Kind::infinity, negative});
  if (y_infinite || is_zero(x)) return rounded({Kind::finite, negative});
  // 2^64 quotients beyond the last place; what is left of the division stands as one bit below them.
  const Integer dividend = Integer(abs(x.units)) << 90, divisor = abs(y.units);
  Integer quotient = Integer(dividend / divisor) << 1;
  if (dividend % divisor != 0) quotient += 1;
  return rounded({Kind::finite, negative, negative ? Integer(-quotient) : quotient, x.exponent - y.exponent - 91});
}

bool is_nan(std::uint32_t word) { return number(word).kind == Kind::nan; }
bool is_finite(std::uint32_t word) { return number(word).kind == Kind::finite; }

bool greater(std::uint32_t a, std::uint32_t b) {
  const Number x = number(a), y = number(b);
  if (x.kind == Kind::nan || y.kind == Kind::nan) return false;
  const auto rank = [](const Number& n) { return n.kind != Kind::infinity ? 0 : n.negative ? -1 : 1; };
  if (rank(x) != 0 || rank(y) != 0) return rank(x) > rank(y);
  const Number difference = x + Number{Kind::finite, !y.negative, Integer(-y.units), y.exponent};
  return difference.units > 0;
}

std::uint32_t exp2(std::uint32_t x) {
  if (is_nan(x)) return kNan;
  if (greater(0xc2fc0000, x)) return 0;                  // below -126
  if (!greater(0x43000000, x)) return 0x7f800000;        // 128 and above
  const Number exact = number(x);
  const Integer n = nearest_integer(exact);
  const std::uint32_t r = rounded(exact + Number{Kind::finite, n > 0, Integer(-n), 0});  // exact: |r| <= 1/2
  std::uint32_t p = kCoefficients[5];
  for (int i = 4; i >= 0; --i) p = fused(p, r, kCoefficients[i]);
  Number power = number(fused(p, r, kOne));
  power.exponent += static_cast<int>(n);
  return rounded(power);  // exact: a normal number
}

std::uint32_t tanh(std::uint32_t x) {
  if (is_nan(x)) return kNan;
  const std::uint32_t sign = x & 0x80000000, a = x ^ sign;
  if (greater(kNineSixteenths, a)) {
    const std::uint32_t z = multiply(a, a);
    std::uint32_t q = kTanhCoefficients[4];
    for (int i = 3; i >= 0; --i) q = fused(q, z, kTanhCoefficients[i]);
    return fused(multiply(a, z), q, a) | sign;
  }
  const std::uint32_t e = exp2(multiply(a, kTanhExponent));
  std::uint32_t r = fused(e, kSlope, kIntercept);
  for (int i = 0; i < 2; ++i) r = fused(r, fused(e ^ 0x80000000, r, subtract(kOne, r)), r);
  return fused(multiply(0xc0000000, e), r, kOne) | sign;
}

std::uint32_t widened(const FormatSpec& format, std::uint32_t code) {
  return rounded(accumulation::exact::number_of(accumulation::exact::operand_of(format, code)));
}

std::uint32_t cast_to(const FormatSpec& format, std::uint32_t word) {
  const CastResult result = oracle::cast(kF32, word, format, CastPolicy{});
  if (result.refusal != Refusal::none) throw std::domain_error("halfulp: the format has no code for a number of the row");
  return static_cast<std::uint32_t>(result.code);
}

}  // namespace halfulp::attention::exact
