// Numbers of the exact twin; see detail/exact_number.hpp.
#include "halfulp/accumulation/detail/exact_number.hpp"

#include <algorithm>

namespace halfulp::accumulation::exact {
namespace {

std::uint64_t ones(int bits) { return (std::uint64_t{1} << bits) - 1; }

Integer times_pow2(const Integer& x, int exponent) {
  return Integer(x << static_cast<unsigned>(exponent));
}

/// A format that a result may be rounded to.
struct Target {
  int fraction_bits, bias, largest_exponent, sign_bit;
  std::uint32_t nan;
};
constexpr Target kF32 = {23, 127, 127, 31, kNanF32};
constexpr Target kF16 = {10, 15, 15, 15, kNanF16};

}  // namespace

Operand operand_of(const FormatSpec& format, std::uint32_t word) {
  const std::uint64_t code = word >> format.storage_shift;
  Operand x;
  x.places = format.fraction_bits;
  if (format.encoding == Encoding::twos_complement) {
    const bool negative = format.is_signed && (code >> (format.width - 1)) != 0;
    const auto value = static_cast<std::int64_t>(code) - (negative ? std::int64_t{1} << format.width : 0);
    x.negative = negative;
    x.significand = static_cast<std::uint64_t>(negative ? -value : value);
    return x;
  }
  const std::uint64_t exponent = (code >> format.fraction_bits) & ones(format.exponent_bits);
  const std::uint64_t fraction = code & ones(format.fraction_bits);
  const bool top = exponent == ones(format.exponent_bits);
  x.negative = format.is_signed && (code >> (format.width - 1)) != 0;
  if (format.non_finite == NonFinite::ieee && top) {
    x.kind = fraction == 0 ? Kind::infinity : Kind::nan;
  } else if (format.non_finite == NonFinite::nan_all_ones && top && fraction == ones(format.fraction_bits)) {
    x.kind = Kind::nan;
  } else if (format.non_finite == NonFinite::nan_minus_zero && x.negative && exponent == 0 && fraction == 0) {
    x.kind = Kind::nan;
  }
  if (x.kind != Kind::finite) return x;
  const bool hidden = exponent != 0 || format.subnormals == Subnormals::absent;
  x.significand = fraction + (hidden ? std::uint64_t{1} << format.fraction_bits : 0);
  x.exponent = static_cast<int>(format.subnormals == Subnormals::absent ? exponent : std::max<std::uint64_t>(exponent, 1)) - format.bias;
  return x;
}

Number number_of(const Operand& x) {
  const Integer units = x.significand;
  return {x.kind, x.negative, x.negative ? Integer(-units) : units, x.exponent - x.places};
}

Number operator*(const Number& a, const Number& b) {
  const bool negative = a.negative != b.negative;
  const bool a_zero = a.kind == Kind::finite && a.units == 0, b_zero = b.kind == Kind::finite && b.units == 0;
  if (a.kind == Kind::nan || b.kind == Kind::nan) return {Kind::nan};
  if (a.kind == Kind::infinity || b.kind == Kind::infinity) return a_zero || b_zero ? Number{Kind::nan} : Number{Kind::infinity, negative};
  return {Kind::finite, negative, a.units * b.units, a.exponent + b.exponent};
}

Number operator+(const Number& a, const Number& b) {
  if (a.kind == Kind::nan || b.kind == Kind::nan) return {Kind::nan};
  if (a.kind == Kind::infinity && b.kind == Kind::infinity && a.negative != b.negative) return {Kind::nan};
  if (a.kind == Kind::infinity) return a;
  if (b.kind == Kind::infinity) return b;
  if (a.units == 0 && b.units == 0) return {Kind::finite, a.negative && b.negative};
  if (a.units == 0) return b;
  if (b.units == 0) return a;
  const int exponent = std::min(a.exponent, b.exponent);
  const Integer units = times_pow2(a.units, a.exponent - exponent) + times_pow2(b.units, b.exponent - exponent);
  return {Kind::finite, units < 0, units, exponent};
}

Integer truncated(const Integer& units, int exponent, int unit_exponent) {
  if (exponent >= unit_exponent) return times_pow2(units, exponent - unit_exponent);
  const Integer magnitude = abs(units) >> static_cast<unsigned>(unit_exponent - exponent);
  return units < 0 ? Integer(-magnitude) : magnitude;
}

Integer floored(const Integer& units, int exponent, int unit_exponent) {
  const Integer cut = truncated(units, exponent, unit_exponent);
  const bool inexact = exponent < unit_exponent && times_pow2(cut, unit_exponent - exponent) != units;
  return units < 0 && inexact ? Integer(cut - 1) : cut;
}

std::uint32_t rounded(const Number& x, Output output, int fraction_bits, Direction direction) {
  if (output == Output::int32) {
    Integer modulo = truncated(x.units, x.exponent, 0) % (Integer(1) << 32);
    if (modulo < 0) modulo += Integer(1) << 32;
    return static_cast<std::uint32_t>(modulo);
  }
  const Target& to = output == Output::f16 ? kF16 : kF32;
  const std::uint32_t sign = x.negative ? std::uint32_t{1} << to.sign_bit : 0;
  const auto infinity = (static_cast<std::uint32_t>(to.largest_exponent + to.bias + 1) << to.fraction_bits) | sign;
  if (x.kind == Kind::nan) return to.nan;
  if (x.kind == Kind::infinity) return infinity;
  if (x.units == 0) return sign;
  const Integer magnitude = abs(x.units);
  const int smallest = 1 - to.bias;
  int exponent = std::max(static_cast<int>(msb(magnitude)) + x.exponent, smallest);
  const int last_place = exponent - fraction_bits;
  Integer digits = truncated(magnitude, x.exponent, last_place);
  if (x.exponent < last_place && direction == Direction::nearest_even) {
    const Integer rest = magnitude - times_pow2(digits, last_place - x.exponent);
    const Integer half = Integer(1) << static_cast<unsigned>(last_place - x.exponent - 1);
    if (rest > half || (rest == half && bit_test(digits, 0))) ++digits;
  }
  const Integer hidden = Integer(1) << static_cast<unsigned>(fraction_bits);
  if (digits == 2 * hidden) {
    digits = hidden;
    ++exponent;
  }
  if (exponent > to.largest_exponent) return infinity;
  const auto field = static_cast<std::uint32_t>(digits >= hidden ? exponent + to.bias : 0);
  const auto fraction = static_cast<std::uint32_t>(digits >= hidden ? Integer(digits - hidden) : digits);
  return sign | (field << to.fraction_bits) | (fraction << (to.fraction_bits - fraction_bits));
}

}  // namespace halfulp::accumulation::exact
