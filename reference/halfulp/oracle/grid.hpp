// Grid: the numbers of a format that a cast may produce, in order of magnitude, each with its code; and Limits, what
// stands at the ends of that order.
//
// Decides: largest, smallest, NaN and Inf codes, found by looking at the codes themselves (every code up to 16 bits; for
// wider formats by bisection over the codes, whose values grow with the magnitude). Twin: the derived functions of
// formats/halfulp/spec.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "halfulp/oracle/value.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::oracle {

/// What there is at the ends of a format. Codes are container words.
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
  Number largest = {};                 ///< largest finite
  std::optional<Number> lowest = {};   ///< the negative number of largest magnitude that a cast may produce
  Number smallest_positive = {};
  std::optional<Number> smallest_normal = {};     ///< floating formats only
  std::optional<Number> smallest_subnormal = {};  ///< where there are subnormals
  std::optional<std::uint64_t> zero = {};
  std::optional<std::uint64_t> minus_zero = {};
  std::optional<std::uint64_t> infinity = {};
  std::optional<std::uint64_t> minus_infinity = {};
  std::vector<CodeRange> nans = {};  ///< maximal runs of NaN codes in ascending order

  bool has_nan() const { return !nans.empty(); }
  bool has_infinity() const { return infinity.has_value(); }
};

/// The finite numbers of one sign in ascending magnitude. Index 0 is zero, where the format has one; in a format without
/// -0 the negative side begins with the code of +0. The negative side of an unsigned format is empty.
class Grid {
 public:
  virtual ~Grid() = default;
  virtual std::uint64_t size(bool negative) const = 0;
  virtual std::uint64_t code(bool negative, std::uint64_t index) const = 0;
  virtual Exact magnitude(bool negative, std::uint64_t index) const = 0;
  /// A number in the subnormal range.
  virtual bool subnormal(bool negative, std::uint64_t index) const = 0;
  /// The largest index with magnitude(index) <= x; empty when x is below the whole grid.
  virtual std::optional<std::uint64_t> at_or_below(bool negative, const Exact& x) const = 0;

  const Limits& limits() const { return limits_; }
  const FormatSpec& format() const { return format_; }

 protected:
  Grid(const FormatSpec& format, Limits limits) : format_(format), limits_(std::move(limits)) {}

 private:
  FormatSpec format_;
  Limits limits_;
};

/// The grid of a format, made on first use and kept. Safe to call from several threads.
const Grid& grid_of(const FormatSpec& format);

inline const Limits& limits_of(const FormatSpec& format) { return grid_of(format).limits(); }

}  // namespace halfulp::oracle
