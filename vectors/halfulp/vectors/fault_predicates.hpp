// What formats and values faults apply to: shared by the tables of faults.
#pragma once

#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {

inline bool any_format(const FormatSpec&) { return true; }
inline bool is_floating(const FormatSpec& format) { return format.encoding == Encoding::floating; }
inline bool has_subnormals(const FormatSpec& format) {
  return is_floating(format) && format.subnormals == Subnormals::gradual;
}
inline bool has_fraction(const FormatSpec& format) { return has_subnormals(format) && format.fraction_bits > 0; }

/// Exponent of the leading bit. Requires a significand that is not 0.
inline std::int32_t binade_of(const Unpacked& x) { return x.exponent + bit_width(x.significand) - 1; }

}  // namespace halfulp::vectors
