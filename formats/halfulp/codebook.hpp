// Formats that are tables: codebooks (NF4) and HiFloat8. Every value is an integer number of units of 2^-table_places.
//
// NF4: arXiv:2305.14314, appendix E, values as bitsandbytes stores them (binary32). HiFloat8: arXiv:2409.16626,
// known to this project from secondary sources only.
#pragma once

#include <cstdint>

#include "halfulp/spec.hpp"

namespace halfulp {

/// Binary places of the unit in which a table's values are integers.
HALFULP_HD constexpr int table_places(const FormatSpec& spec) { return spec.encoding == Encoding::hifloat8 ? 22 : 30; }

namespace detail {

HALFULP_HD constexpr std::int64_t nf4_units(unsigned code) {
  constexpr double values[16] = {-1.0,
                                 -0.6961928009986877,
                                 -0.5250730514526367,
                                 -0.39491748809814453,
                                 -0.28444138169288635,
                                 -0.18477343022823334,
                                 -0.09105003625154495,
                                 0.0,
                                 0.07958029955625534,
                                 0.16093020141124725,
                                 0.24611230194568634,
                                 0.33791524171829224,
                                 0.44070982933044434,
                                 0.5626170039176941,
                                 0.7229568362236023,
                                 1.0};
  return static_cast<std::int64_t>(values[code & 15] * 0x1p30);
}

/// Value in units of 2^-22 of a finite HiFloat8 code. The prefix after the sign gives the exponent field's width.
HALFULP_HD constexpr std::int64_t hifloat8_units(unsigned code) {
  const unsigned body = code & 0x7f;
  int exponent = 0;
  std::int64_t significand = 0;  // scaled by 2^3
  const auto signed_exponent = [body](int low_bit, int magnitude_bits) {
    const auto magnitude = static_cast<int>((body >> low_bit) & ((1u << magnitude_bits) - 1)) | (1 << magnitude_bits);
    return (body >> (low_bit + magnitude_bits)) & 1 ? -magnitude : magnitude;
  };
  if (body >= 0x60) {  // 11 seee m
    exponent = signed_exponent(1, 3);
    significand = 8 + 4 * (body & 1);
  } else if (body >= 0x40) {  // 10 see mm
    exponent = signed_exponent(2, 2);
    significand = 8 + 2 * (body & 3);
  } else if (body >= 0x20) {  // 01 se mmm
    exponent = signed_exponent(3, 1);
    significand = 8 + (body & 7);
  } else if (body >= 0x10) {  // 001 s mmm
    exponent = signed_exponent(3, 0);
    significand = 8 + (body & 7);
  } else if (body >= 0x08) {  // 0001 mmm
    significand = 8 + (body & 7);
  } else if (body != 0) {  // 0000 mmm: 2^(m - 23)
    exponent = static_cast<int>(body) - 23;
    significand = 8;
  }
  const std::int64_t units = exponent + 19 >= 0 ? significand << (exponent + 19) : significand >> -(exponent + 19);
  return code & 0x80 ? -units : units;
}

}  // namespace detail

/// Value of a finite code of a table format, in units of 2^-table_places(spec).
HALFULP_HD constexpr std::int64_t table_units(const FormatSpec& spec, unsigned code) {
  return spec.encoding == Encoding::hifloat8 ? detail::hifloat8_units(code) : detail::nf4_units(code);
}

/// True for codes of a table format that hold a finite number.
HALFULP_HD constexpr bool table_has(const FormatSpec& spec, unsigned code) {
  return spec.encoding != Encoding::hifloat8 || ((code & 0x7f) != 0x6f && code != 0x80);
}

/// True for HiFloat8's denormal numbers (prefix 0000).
HALFULP_HD constexpr bool table_is_subnormal(const FormatSpec& spec, unsigned code) {
  return spec.encoding == Encoding::hifloat8 && (code & 0x78) == 0 && (code & 0x07) != 0;
}

}  // namespace halfulp
