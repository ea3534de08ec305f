// Float32 steps of the exact twin: exact integers of any width, one rounding per step. Private to the twin.
//
// Words are float32 bits; a NaN result is 0x7fffffff.
#pragma once

#include <cstdint>

#include "halfulp/spec.hpp"

namespace halfulp::attention::exact {

inline constexpr std::uint32_t kOne = 0x3f800000, kMinusInfinity = 0xff800000, kNan = 0x7fffffff;

// IEEE 754-2019 5.4.1, nearest even.
std::uint32_t add(std::uint32_t a, std::uint32_t b);
std::uint32_t subtract(std::uint32_t a, std::uint32_t b);
std::uint32_t multiply(std::uint32_t a, std::uint32_t b);
std::uint32_t divide(std::uint32_t a, std::uint32_t b);
std::uint32_t fused(std::uint32_t a, std::uint32_t b, std::uint32_t c);

bool is_nan(std::uint32_t word);
bool is_finite(std::uint32_t word);
/// a > b as numbers; false where one is NaN.
bool greater(std::uint32_t a, std::uint32_t b);

/// exp2_p6 by its definition (docs/attention.md): n to nearest even, six Horner steps, times 2^n.
std::uint32_t exp2(std::uint32_t x);
/// tanh_fma by its definition (docs/attention.md): a polynomial below 9/16, else 1 - 2 e / (1 + e) with e = exp2_p6(-2 log2(e) |x|).
std::uint32_t tanh(std::uint32_t x);

/// The value of a code of `format` rounded to float32, nearest even (exact for every format up to 16 bits).
std::uint32_t widened(const FormatSpec& format, std::uint32_t code);
/// float32 to `format` by the oracle: nearest even, saturating. Throws std::domain_error where the format has no answer.
std::uint32_t cast_to(const FormatSpec& format, std::uint32_t word);

}  // namespace halfulp::attention::exact
