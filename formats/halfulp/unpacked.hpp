// unpack(): a code of any format as class, sign, significand and exponent. Twin: reference/halfulp/oracle/value.hpp.
//
// IEEE 754-2019 3.4 (interchange encodings), OCP OFP8 v1.0 5, OCP MX v1.0 5.3, IEEE P3109 (K, P formats).
#pragma once

#include <cstdint>

#include "halfulp/codebook.hpp"
#include "halfulp/spec.hpp"

namespace halfulp {

enum class NumberClass : std::uint8_t { zero, subnormal, normal, infinity, nan };

/// A number or special value: (-1)^negative * significand * 2^exponent, plus something in (0, 2^exponent) when `sticky`.
/// Codes of a format are never sticky; exact literals may be (literal.hpp).
template <class Word>
struct BasicUnpacked {
  NumberClass number_class = NumberClass::zero;
  bool negative = false;
  bool sticky = false;
  std::int32_t exponent = 0;  ///< of the significand's last bit
  Word significand = 0;       ///< non-zero for subnormal and normal
  std::uint64_t payload = 0;  ///< NaN: trailing significand, left-aligned in 64 bits; 0 where a format has one NaN per sign

  friend constexpr bool operator==(const BasicUnpacked&, const BasicUnpacked&) = default;
};

using Unpacked = BasicUnpacked<std::uint64_t>;

namespace detail {

HALFULP_HD HALFULP_INLINE constexpr Unpacked unpack_floating(const FormatSpec& spec, std::uint64_t code) {
  const std::uint64_t magnitude = code & spec.magnitude_mask();
  Unpacked x;
  x.negative = (code & spec.sign_mask()) != 0;
  switch (spec.non_finite) {
    case NonFinite::ieee:
      if (magnitude >= spec.infinity_magnitude()) {
        x.number_class = magnitude == spec.infinity_magnitude() ? NumberClass::infinity : NumberClass::nan;
        x.payload = (magnitude & low_mask(spec.fraction_bits)) << (64 - spec.fraction_bits);
        return x;
      }
      break;
    case NonFinite::nan_all_ones:
      if (magnitude == spec.magnitude_mask()) x.number_class = NumberClass::nan;
      break;
    case NonFinite::nan_minus_zero:
    case NonFinite::p3109_extended:
    case NonFinite::p3109_finite:
      if (code == (spec.is_signed ? spec.sign_mask() : spec.magnitude_mask())) {
        x.number_class = NumberClass::nan;
        x.negative = false;
      } else if (spec.non_finite == NonFinite::p3109_extended && magnitude == spec.infinity_magnitude()) {
        x.number_class = NumberClass::infinity;
      }
      break;
    case NonFinite::none:
    case NonFinite::hifloat8: break;
  }
  if (x.number_class != NumberClass::zero) return x;

  const auto field = static_cast<std::int32_t>(magnitude >> spec.fraction_bits);
  const std::uint64_t fraction = magnitude & low_mask(spec.fraction_bits);
  if (field == 0 && spec.subnormals == Subnormals::gradual) {
    x.number_class = fraction == 0 ? NumberClass::zero : NumberClass::subnormal;
    x.significand = fraction;
    x.exponent = 1 - spec.bias - spec.fraction_bits;
  } else {
    x.number_class = NumberClass::normal;
    x.significand = fraction | (1ull << spec.fraction_bits);
    x.exponent = field - spec.bias - spec.fraction_bits;
  }
  return x;
}

HALFULP_HD constexpr Unpacked from_units(std::int64_t units, int exponent) {
  Unpacked x;
  x.negative = units < 0;
  x.number_class = units == 0 ? NumberClass::zero : NumberClass::normal;
  x.significand = static_cast<std::uint64_t>(units < 0 ? -units : units);
  x.exponent = exponent;
  return x;
}

}  // namespace detail

/// Unpacks a container word of `spec`. Bits outside the format (above storage_bits, below storage_shift) are ignored.
HALFULP_HD HALFULP_INLINE constexpr Unpacked unpack(const FormatSpec& spec, std::uint64_t word) {
  const std::uint64_t code = (word >> spec.storage_shift) & low_mask(spec.width);
  switch (spec.encoding) {
    case Encoding::floating: return detail::unpack_floating(spec, code);
    case Encoding::twos_complement: {
      const bool negative = (code & spec.sign_mask()) != 0;
      const auto units = static_cast<std::int64_t>(code) - (negative ? std::int64_t{1} << spec.width : 0);
      return detail::from_units(units, -spec.fraction_bits);
    }
    case Encoding::codebook:
    case Encoding::hifloat8: break;
  }
  if (spec.encoding == Encoding::hifloat8 && (code & 0x7f) == 0x6f) {
    return {.number_class = NumberClass::infinity, .negative = code >= 0x80};
  }
  if (spec.encoding == Encoding::hifloat8 && code == 0x80) return {.number_class = NumberClass::nan};
  Unpacked x = detail::from_units(table_units(spec, static_cast<unsigned>(code)), -table_places(spec));
  if (table_is_subnormal(spec, static_cast<unsigned>(code))) x.number_class = NumberClass::subnormal;
  return x;
}

}  // namespace halfulp
