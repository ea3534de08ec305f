// Wide: a dyadic number of at most 256 significant bits, rounded down or up by every operation. Private to the enclosure.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <compare>

namespace halfulp::attention::detail {

class Wide {
 public:
  using Integer = boost::multiprecision::cpp_int;

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
  /// The largest integer n with n <= this * 2^-exponent, and whether something was left.
  Integer floor_of(int exponent, bool& inexact) const;
  /// floor(log2 |this|), not of 0.
  int floor_log2() const;
  int sign() const { return units_.sign(); }

  Wide operator-() const { return Wide(-units_, exponent_); }
  friend bool operator==(const Wide& a, const Wide& b) { return (a <=> b) == 0; }
  friend std::strong_ordering operator<=>(const Wide& a, const Wide& b);

 private:
  Wide(Integer units, int exponent) : units_(std::move(units)), exponent_(exponent) {}
  Wide cut(bool up) const;

  Integer units_ = 0;
  int exponent_ = 0;
};

}  // namespace halfulp::attention::detail
