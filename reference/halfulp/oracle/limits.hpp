// Limits: what stands at the ends of a format.
//
// Decides: largest, smallest, NaN, Inf and zero codes, found by looking at the codes themselves: every code
// up to 16 bits, and by bisection over the codes of wider formats, whose values grow with the magnitude.
// The table tests compare both with the standards. Twin: the derived functions of formats/halfulp/spec.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "halfulp/oracle/value.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::oracle {

/// Codes are container words.
struct Limits {
  struct Number {
    Exact value = {};  ///< magnitude
    std::uint64_t code = 0;
    friend bool operator==(const Number&, const Number&) = default;
  };
  struct CodeRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  ///< inclusive
    friend bool operator==(const CodeRange&, const CodeRange&) = default;
  };
  Number largest = {};                ///< largest finite
  std::optional<Number> lowest = {};  ///< the negative number of largest magnitude that a cast may produce
  Number smallest_positive = {};
  std::optional<Number> smallest_normal = {};     ///< floating formats only
  std::optional<Number> smallest_subnormal = {};  ///< where there are subnormals
  std::optional<std::uint64_t> zero = {};
  std::optional<std::uint64_t> minus_zero = {};
  std::optional<std::uint64_t> infinity = {};
  std::optional<std::uint64_t> minus_infinity = {};
  std::vector<CodeRange> nans = {};  ///< runs of NaN codes in ascending order

  friend bool operator==(const Limits&, const Limits&) = default;
};

/// Looks at every code. Requires width <= 16.
Limits enumerate_limits(const FormatSpec& format);

/// Bisects over the codes. Requires a floating or two's complement format; equals enumerate_limits where
/// both apply.
Limits bisect_limits(const FormatSpec& format);

/// The limits of a format, found once and kept (grid.cpp).
const Limits& limits_of(const FormatSpec& format);

/// A number that a cast may produce: finite, and inside a restricted integer range.
bool may_produce(const FormatSpec& format, std::uint64_t code, const Value& value);

}  // namespace halfulp::oracle
