// rounds_away(): the only function that rounds. Twin: reference/halfulp/oracle/nearest.hpp.
//
// Every cast finds the neighbour nearer to zero and the part of the gap above it; this decides between that neighbour
// and the next one away from zero. IEEE 754-2019 4.3; stochastic variants as in the IEEE P3109 drafts.
#pragma once

#include <cstdint>

#include "halfulp/config.hpp"
#include "halfulp/policy.hpp"

namespace halfulp {

/// Position inside a gap, in [0, 1): fraction / 2^(bits of Word), plus something smaller than one unit when `sticky`.
template <class Word>
struct GapFraction {
  static constexpr int kBits = 8 * sizeof(Word);
  Word fraction = 0;
  bool sticky = false;

  HALFULP_HD constexpr bool zero() const { return fraction == 0 && !sticky; }
  HALFULP_HD constexpr bool upper_half() const { return (fraction >> (kBits - 1)) != 0; }  ///< at or above one half
  HALFULP_HD constexpr bool half() const { return upper_half() && static_cast<Word>(fraction << 1) == 0 && !sticky; }
  /// floor(gap position * 2^n), 0 <= n < 64.
  HALFULP_HD constexpr std::uint64_t floor_scaled(int n) const {
    return n == 0 ? 0 : static_cast<std::uint64_t>(fraction >> (kBits - n));
  }
};

namespace detail {

template <class Word>
HALFULP_HD constexpr bool stochastic_away(const GapFraction<Word>& gap, Stochastic variant, int n, std::uint64_t random) {
  const std::uint64_t r = random & low_mask(n);
  const std::uint64_t one = 1ull << n;
  switch (variant) {
    case Stochastic::A: return gap.floor_scaled(n) + r >= one;
    case Stochastic::B: return gap.floor_scaled(n + 1) + 2 * r + 1 >= 2 * one;
    case Stochastic::C: break;
  }
  const GapFraction<Word> rest{static_cast<Word>(gap.fraction << n), gap.sticky};
  const std::uint64_t floor = gap.floor_scaled(n);
  const bool up = rest.half() ? (floor & 1) != 0 : rest.upper_half();
  return floor + (up ? 1 : 0) + r >= one;
}

}  // namespace detail

/// True when the neighbour away from zero is chosen.
/// `near_is_odd`: the code of the neighbour nearer to zero is odd. `random`: one word per value, low sr_bits used.
template <class Word>
HALFULP_HD HALFULP_INLINE constexpr bool rounds_away(const GapFraction<Word>& gap, bool negative, bool near_is_odd,
                                                     const CastPolicy& policy, std::uint64_t random) {
  if (gap.zero()) return false;
  switch (policy.rounding) {
    case Rounding::ties_to_even:
    case Rounding::unrecorded: return gap.half() ? near_is_odd : gap.upper_half();
    case Rounding::ties_to_away: return gap.upper_half();
    case Rounding::toward_zero: return false;
    case Rounding::toward_positive: return !negative;
    case Rounding::toward_negative: return negative;
    case Rounding::to_odd: return !near_is_odd;
    case Rounding::stochastic: break;
  }
  return detail::stochastic_away(gap, policy.sr_variant, policy.sr_bits, random);
}

}  // namespace halfulp
