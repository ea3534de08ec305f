// FormatSpec: the numbers that define a format, and what follows from them.
//
// A format is data: this aggregate is structural (usable as a template argument on host and device), and every
// other file derives what it needs from these fields. The oracle (reference/halfulp/oracle) reads the same fields
// but none of the derived functions below; it finds largest, smallest and NaN codes by its own enumeration.
#pragma once

#include <cstdint>

#include "halfulp/config.hpp"

namespace halfulp {

/// How the bits of a code are laid out.
enum class Encoding : std::uint8_t {
  floating,         ///< sign (if any), exponent, trailing significand
  twos_complement,  ///< integer times 2^-fraction_bits
  codebook,         ///< index into a named table of values (codebook.hpp)
  hifloat8,         ///< prefix-coded exponent (codebook.hpp); unverified, see docs/evidence.md
};

/// Which codes of a floating format are not finite numbers. "Magnitude" is the code without its sign bit.
enum class NonFinite : std::uint8_t {
  ieee,             ///< top exponent: trailing significand 0 is Inf, all others NaN (IEEE 754-2019 3.4)
  nan_all_ones,     ///< only the all-ones magnitude is NaN; no Inf (OCP E4M3, E8M0)
  nan_minus_zero,   ///< only the code of -0 is NaN; no Inf ("FNUZ")
  none,             ///< every code is finite (OCP FP6, FP4; integers; codebooks)
  p3109_extended,   ///< IEEE P3109 "e": +-Inf and one NaN
  p3109_finite,     ///< IEEE P3109 "f": one NaN, no Inf
  hifloat8,         ///< +-Inf 6F/EF, NaN 80
};

/// Which zeros a format has.
enum class Zeros : std::uint8_t { plus_and_minus, plus_only, absent };

/// What exponent field 0 means: `gradual`: no hidden bit (IEEE 754 subnormals); `absent`: an ordinary binade (E8M0).
enum class Subnormals : std::uint8_t { gradual, absent };

/// The part of the two's complement range that a cast may produce: `restricted` leaves out the most negative code.
enum class IntegerRange : std::uint8_t { full, restricted };

/// The named tables of codebook formats.
enum class Codebook : std::uint8_t { none, nf4 };

struct FormatSpec {
  Encoding encoding = Encoding::floating;
  int width = 0;          ///< bits of a code: sign + exponent + fraction, 2..64
  int exponent_bits = 0;  ///< floating: 1..16
  int fraction_bits = 0;  ///< floating: trailing significand bits; twos_complement: binary places
  int bias = 0;           ///< floating: value = 1.f * 2^(field - bias)
  bool is_signed = true;
  NonFinite non_finite = NonFinite::none;
  Zeros zeros = Zeros::plus_and_minus;
  Subnormals subnormals = Subnormals::gradual;
  IntegerRange range = IntegerRange::full;
  Codebook codebook = Codebook::none;
  int storage_shift = 0;  ///< zero bits below the code in its container word (tf32: 13)

  friend constexpr bool operator==(const FormatSpec&, const FormatSpec&) = default;

  // ---- derived; magnitudes are codes without sign, before storage_shift ----

  /// Width of the container word in bits, before rounding up to bytes: width + storage_shift.
  HALFULP_HD constexpr int storage_bits() const { return width + storage_shift; }
  /// Bytes that one unpacked code occupies in columns and pipes: 1, 2, 4 or 8.
  HALFULP_HD constexpr int storage_bytes() const {
    return storage_bits() <= 8 ? 1 : storage_bits() <= 16 ? 2 : storage_bits() <= 32 ? 4 : 8;
  }
  HALFULP_HD constexpr int sign_bits() const { return is_signed ? 1 : 0; }
  HALFULP_HD constexpr std::uint64_t magnitude_mask() const { return low_mask(width - sign_bits()); }
  HALFULP_HD constexpr std::uint64_t sign_mask() const { return is_signed ? 1ull << (width - 1) : 0; }
  HALFULP_HD constexpr bool has_infinity() const {
    return non_finite == NonFinite::ieee || non_finite == NonFinite::p3109_extended || non_finite == NonFinite::hifloat8;
  }
  HALFULP_HD constexpr bool has_nan() const { return non_finite != NonFinite::none; }

  /// Magnitude of Inf. Only meaningful when has_infinity().
  HALFULP_HD constexpr std::uint64_t infinity_magnitude() const {
    if (non_finite == NonFinite::ieee) return low_mask(exponent_bits) << fraction_bits;
    if (non_finite == NonFinite::hifloat8) return 0x6f;
    return is_signed ? magnitude_mask() : magnitude_mask() - 1;
  }

  /// Magnitude of the largest finite number of that sign (floating and twos_complement).
  HALFULP_HD constexpr std::uint64_t largest_magnitude(bool negative = false) const {
    if (encoding == Encoding::twos_complement) {
      return negative && range == IntegerRange::full ? magnitude_mask() + 1 : magnitude_mask();
    }
    switch (non_finite) {
      case NonFinite::ieee:
      case NonFinite::p3109_extended:
      case NonFinite::hifloat8: return infinity_magnitude() - 1;
      case NonFinite::nan_all_ones: return magnitude_mask() - 1;
      case NonFinite::p3109_finite: return is_signed ? magnitude_mask() : magnitude_mask() - 1;
      case NonFinite::nan_minus_zero:
      case NonFinite::none: break;
    }
    return magnitude_mask();
  }

  /// log2 of the smallest normal number of a floating format.
  HALFULP_HD constexpr int min_exponent() const { return subnormals == Subnormals::gradual ? 1 - bias : -bias; }
};

/// True when the fields describe a format that the library can handle (used by static_asserts on the registry).
HALFULP_HD constexpr bool valid(const FormatSpec& s) {
  if (s.width < 2 || s.width > 64 || s.storage_shift < 0 || s.width + s.storage_shift > 64 || s.fraction_bits < 0) return false;
  if (s.storage_shift != 0 && s.non_finite != NonFinite::ieee) return false;  // only wide IEEE formats are carried so
  switch (s.encoding) {
    case Encoding::codebook:
      return s.codebook == Codebook::nf4 && s.width == 4 && s.is_signed && s.zeros == Zeros::plus_only && s.non_finite == NonFinite::none;
    case Encoding::hifloat8: return s.width == 8 && s.is_signed && s.non_finite == NonFinite::hifloat8;
    case Encoding::twos_complement:
      return s.width <= 32 && s.fraction_bits <= 64 && s.exponent_bits == 0 && s.non_finite == NonFinite::none &&
             s.zeros == Zeros::plus_only && (s.is_signed || s.range == IntegerRange::full);
    case Encoding::floating: break;
  }
  if (s.exponent_bits < 1 || s.exponent_bits > 16 || s.fraction_bits > 52) return false;
  if (s.width != s.sign_bits() + s.exponent_bits + s.fraction_bits) return false;
  if (s.bias < -40000 || s.bias > 40000 || s.largest_magnitude() == 0) return false;
  if (s.non_finite == NonFinite::hifloat8 || s.range != IntegerRange::full || s.codebook != Codebook::none) return false;
  if (s.non_finite == NonFinite::ieee && s.fraction_bits == 0) return false;     // no code left for NaN
  if (s.non_finite == NonFinite::nan_minus_zero && !s.is_signed) return false;   // no -0 to give away
  if ((s.zeros == Zeros::absent) != (s.subnormals == Subnormals::absent)) return false;
  if (s.zeros == Zeros::absent && (s.is_signed || !s.has_nan())) return false;  // where would zero go?
  const bool minus_zero = s.is_signed && (s.non_finite == NonFinite::ieee || s.non_finite == NonFinite::nan_all_ones ||
                                          s.non_finite == NonFinite::none);
  return s.zeros == Zeros::absent || (s.zeros == Zeros::plus_and_minus) == minus_zero;
}

}  // namespace halfulp
