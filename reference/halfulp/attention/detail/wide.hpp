// Wide: a dyadic number of at most 256 significant bits, rounded down or up by every operation. Private to the enclosure.
//
// Fixed limbs and no allocation: the enclosure of every row with a violation is computed a second time in these.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace halfulp::attention::detail {

class Wide {
 public:
  Wide() = default;
  /// Exact; x is finite.
  explicit Wide(double x);

  static Wide add(const Wide& a, const Wide& b, bool up);
  static Wide mul(const Wide& a, const Wide& b, bool up);
  /// b is not 0.
  static Wide div(const Wide& a, const Wide& b, bool up);
  /// |x| < 2^20.
  static Wide exp2(const Wide& x, bool up);
  double to_double(bool up) const;
  /// The largest integer n with n <= this * 2^-exponent, and whether something was left. Requires |n| < 2^62.
  std::int64_t floor_of(int exponent, bool& inexact) const;
  /// floor(log2 |this|), not of 0.
  int floor_log2() const;
  int sign() const { return sign_; }

  Wide operator-() const {
    Wide negative = *this;
    negative.sign_ = -sign_;
    return negative;
  }
  friend bool operator==(const Wide& a, const Wide& b) = default;
  friend std::strong_ordering operator<=>(const Wide& a, const Wide& b);

 private:
  static constexpr std::size_t kLimbs = 4;
  /// Numbers of N limbs, the lowest one first, are cut to 256 bits by rounded(): the magnitude is `digits` 2^exponent, and where `rest`
  /// is set, more by less than one unit; then `digits` has 256 bits at least.
  template <std::size_t N>
  static Wide rounded(int sign, const std::array<std::uint64_t, N>& digits, int exponent, bool rest, bool up);
  /// The fractional part of a number that is not an integer, cut to the fixed point of exp2.
  std::array<std::uint64_t, 5> fraction() const;

  // sign_ * units_ * 2^exponent_; the highest bit of units_ is set. Zero has all three 0.
  int sign_ = 0, exponent_ = 0;
  std::array<std::uint64_t, kLimbs> units_{};
};

}  // namespace halfulp::attention::detail
