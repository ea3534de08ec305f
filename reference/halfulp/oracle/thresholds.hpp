// thresholds: a cast as a step function of its source: which source codes give which target code.
//
// Decides: the exact boundaries, located by bisection over the ordered source codes with `nearest`. Every
// policy is monotone in magnitude on each side of zero (stochastic rounding for a fixed random word), so
// bisection finds them all. Twin: formats/halfulp/thresholds.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/source_order.hpp"

namespace halfulp::oracle {

/// A maximal run of source values with one answer.
struct Interval {
  std::uint64_t first = 0;  ///< source code of the smallest value
  std::uint64_t last = 0;   ///< source code of the largest value
  std::uint64_t code = 0;   ///< target code
  /// The point half way to the numbers of the next interval is a source value (nearest roundings only).
  bool upper_is_tie = false;
  Refusal refusal = Refusal::none;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The whole step function in ascending order of source value; NaN sources excluded.
std::vector<Interval> thresholds(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy,
                                 std::uint64_t random_word = 0);

/// The step function with look-up by source code, for sweeps.
class ThresholdTable {
 public:
  ThresholdTable(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy,
                 std::uint64_t random_word = 0);

  const SourceOrder& order() const { return order_; }
  const std::vector<Interval>& intervals() const { return intervals_; }
  auto begin() const { return intervals_.begin(); }
  auto end() const { return intervals_.end(); }
  /// Position in order() of the first source of interval `i`; order().size() for i = intervals().size().
  std::uint64_t start(std::size_t i) const { return starts_[i]; }
  /// The interval of a source code; nullptr for a NaN.
  const Interval* lookup(std::uint64_t source_code) const;

 private:
  SourceOrder order_;
  std::vector<Interval> intervals_;
  std::vector<std::uint64_t> starts_;
};

}  // namespace halfulp::oracle
