// Intervals of real numbers with outward rounding, over doubles (fast) or wide dyadic numbers (to check again). Private to the
// enclosure.
//
// Directed<N> rounds down or up: for doubles the nearest result of IEEE 754 is moved to its neighbour, which is on the far side of
// the exact result (its error is at most half a unit of the last place, also for subnormals; overflow gives Inf upwards).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "halfulp/attention/detail/wide.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::attention::detail {

enum class Side : std::uint8_t { down, up };

/// The double above or below x, x finite or of that infinity; the far infinity comes back to the largest double.
inline double beside(double x, Side side) {
  if (x != x) return side == Side::up ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  const auto bits = std::bit_cast<std::uint64_t>(x);
  if ((bits << 1) == 0) return side == Side::up ? std::numeric_limits<double>::denorm_min() : -std::numeric_limits<double>::denorm_min();
  const bool away = (x > 0) == (side == Side::up);
  if (std::isinf(x) && away) return x;
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

/// 2^x within a factor of 1 +- 2^-48, for |x| < 1100. r = x - n is exact; the series of 14 terms misses less than 2^-57 of
/// 2^r >= 0.707, and 13 Horner steps on |r| <= 1/2 with partial sums below 2 add less than 16 * 2^-53.
double exp2_near(double x);

template <class N>
struct Directed;

template <>
struct Directed<double> {
  static double of(double x) { return x; }
  static double add(double a, double b, Side side) { return a == 0 ? b : b == 0 ? a : beside(a + b, side); }
  static double mul(double a, double b, Side side) {
    if (a == 0 || b == 0) return 0;
    if (a == 1) return b;
    return b == 1 ? a : beside(a * b, side);
  }
  static double div(double a, double b, Side side) { return a == 0 ? 0 : beside(a / b, side); }
  static double exp2(double x, Side side) {
    if (x == 0) return 1;
    if (x <= -1000) return side == Side::down ? 0 : 0x1p-1000;
    if (x >= 1000) return side == Side::down ? 0x1p1000 : std::numeric_limits<double>::infinity();
    return mul(exp2_near(x), side == Side::up ? 1 + 0x1p-47 : 1 - 0x1p-47, side);
  }
  static double to_double(double x, Side) { return x; }
  static bool finite(double x) { return std::isfinite(x); }
};

template <>
struct Directed<Wide> {
  static Wide of(double x) { return Wide(x); }
  static Wide add(const Wide& a, const Wide& b, Side side) { return Wide::add(a, b, side == Side::up); }
  static Wide mul(const Wide& a, const Wide& b, Side side) { return Wide::mul(a, b, side == Side::up); }
  static Wide div(const Wide& a, const Wide& b, Side side) { return Wide::div(a, b, side == Side::up); }
  static Wide exp2(const Wide& x, Side side) { return Wide::exp2(x, side == Side::up); }
  static double to_double(const Wide& x, Side side) { return x.to_double(side == Side::up); }
  static bool finite(const Wide&) { return true; }
};

/// [lo, hi].
template <class N>
struct Interval {
  using D = Directed<N>;
  N lo = D::of(0), hi = D::of(0);

  Interval() = default;
  Interval(double x) : lo(D::of(x)), hi(lo) {}  // NOLINT(google-explicit-constructor): a double is exact
  Interval(const N& low, const N& high) : lo(low), hi(high) {}

  static Interval between(double low, double high) { return {D::of(low), D::of(high)}; }
  /// [-x, x] for x >= 0.
  static Interval around_zero(const N& x) { return {-x, x}; }
  bool is_point() const { return lo == hi; }
  Interval operator-() const { return {-hi, -lo}; }
  /// The largest |x|.
  N magnitude() const { return std::max(-lo, hi); }

  friend Interval operator+(const Interval& a, const Interval& b) { return {D::add(a.lo, b.lo, Side::down), D::add(a.hi, b.hi, Side::up)}; }
  friend Interval operator-(const Interval& a, const Interval& b) { return a + -b; }
  friend Interval operator*(const Interval& a, const Interval& b) {
    const N zero = D::of(0);
    if (!(a.lo < zero)) return {D::mul(b.lo < zero ? a.hi : a.lo, b.lo, Side::down), D::mul(b.hi < zero ? a.lo : a.hi, b.hi, Side::up)};
    if (!(b.lo < zero)) return b * a;
    return {std::min(std::min(D::mul(a.lo, b.lo, Side::down), D::mul(a.lo, b.hi, Side::down)),
                     std::min(D::mul(a.hi, b.lo, Side::down), D::mul(a.hi, b.hi, Side::down))),
            std::max(std::max(D::mul(a.lo, b.lo, Side::up), D::mul(a.lo, b.hi, Side::up)),
                     std::max(D::mul(a.hi, b.lo, Side::up), D::mul(a.hi, b.hi, Side::up)))};
  }
  /// Divided by a positive interval.
  friend Interval operator/(const Interval& a, const Interval& b) {
    const N zero = D::of(0);
    return {D::div(a.lo, a.lo < zero ? b.lo : b.hi, Side::down), D::div(a.hi, a.hi < zero ? b.hi : b.lo, Side::up)};
  }
  Interval& operator+=(const Interval& b) { return *this = *this + b; }
  Interval& operator*=(const Interval& b) { return *this = *this * b; }

  /// Both together and what lies between them.
  friend Interval hull(const Interval& a, const Interval& b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
  friend Interval larger(const Interval& a, const Interval& b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }
  friend Interval exp2(const Interval& x) { return {D::exp2(x.lo, Side::down), D::exp2(x.hi, Side::up)}; }
  Interval at_most(double x) const { return {std::min(lo, D::of(x)), std::min(hi, D::of(x))}; }
  Interval at_least(double x) const { return {std::max(lo, D::of(x)), std::max(hi, D::of(x))}; }
};

/// tanh(x): by its series for |x| <= 2^-5 (alternating, terms falling), else from 2^(2x log2 e).
template <class N>
Interval<N> tanh(const Interval<N>& x);
extern template Interval<double> tanh(const Interval<double>&);
extern template Interval<Wide> tanh(const Interval<Wide>&);

/// A floating format, as far as rounding to nearest even into it goes.
struct Grid {
  int fraction_bits = 23, min_exponent = -126;
  double largest = 0;
  bool saturates = true;
  double half_smallest() const { return std::ldexp(1.0, min_exponent - fraction_bits - 1); }
};
/// Saturating. Throws InputError for formats that are not floating.
Grid grid_of(const FormatSpec& format);
/// float32 as arithmetic rounds: beyond the largest finite Inf.
Grid float32_grid();

/// x rounded to the grid, ties to even.
double nearest(const Grid& grid, double x);
double nearest(const Grid& grid, const Wide& x);

}  // namespace halfulp::attention::detail
