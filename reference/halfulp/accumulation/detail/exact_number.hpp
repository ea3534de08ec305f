// Numbers of the exact twin: integers of any width (Boost) times powers of two, Inf and NaN. Private to the twin.
//
// Decides: what a word means as an operand (field by field), and the one rounding of the twin.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>

#include "halfulp/accumulation/model.hpp"

namespace halfulp::accumulation::exact {

using Integer = boost::multiprecision::cpp_int;

enum class Kind : std::uint8_t { finite, infinity, nan };

/// (-1)^negative * significand * 2^(exponent - places). The significand of a subnormal is not normalised.
struct Operand {
  Kind kind = Kind::finite;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;  ///< e = max(exponent field, 1) - bias
  int places = 0;    ///< stored fraction bits

  bool zero() const { return kind == Kind::finite && significand == 0; }
  /// The exponent that a zero has where zeros take part.
  int alignment() const { return zero() ? kZeroExponent : exponent; }
};

/// The operand that a container word is.
Operand operand_of(const FormatSpec& format, std::uint32_t word);

/// units * 2^exponent. `negative` is the sign also of zeros and infinities.
struct Number {
  Kind kind = Kind::finite;
  bool negative = false;
  Integer units = 0;
  int exponent = 0;
};

Number number_of(const Operand& x);
/// IEEE 754-2019 product and sum before rounding: 0*Inf and Inf-Inf are NaN; a sum of opposites is +0.
Number operator*(const Number& a, const Number& b);
Number operator+(const Number& a, const Number& b);

enum class Direction : std::uint8_t { toward_zero, nearest_even };

/// Rounds to an output format with `fraction_bits` after the point (a float32 may have fewer than 23). From 2^128 (f32) or
/// 65520 (f16) on the result is Inf, whatever the direction. A zero keeps the sign of the number; NaN is canonical.
/// int32: modulo 2^32.
std::uint32_t rounded(const Number& x, Output output, int fraction_bits, Direction direction);

/// floor(units * 2^exponent / 2^unit_exponent).
Integer floored(const Integer& units, int exponent, int unit_exponent);
/// The same, cut toward zero.
Integer truncated(const Integer& units, int exponent, int unit_exponent);

}  // namespace halfulp::accumulation::exact
