// Functions of intervals; see detail/interval.hpp.
#include "halfulp/attention/detail/interval.hpp"

#include "halfulp/error.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::attention::detail {
namespace {

/// ln(2)^i / i!, rounded to nearest.
constexpr double kSeries[] = {1.0,
                              0x1.62e42fefa39efp-1,
                              0x1.ebfbdff82c58fp-3,
                              0x1.c6b08d704a0cp-5,
                              0x1.3b2ab6fba4e77p-7,
                              0x1.5d87fe78a6731p-10,
                              0x1.430912f86c787p-13,
                              0x1.ffcbfc588b0c7p-17,
                              0x1.62c0223a5c824p-20,
                              0x1.b5253d395e7c4p-24,
                              0x1.e4cf5158b8ecap-28,
                              0x1.e8cac7351bb25p-32,
                              0x1.c3bd650fc2986p-36,
                              0x1.816193166d0f9p-40};

/// log2 e from below and from above: neighbouring doubles.
template <class N>
Interval<N> two_log2e() {
  return Interval<N>::between(0x1.71547652b82fep+1, 0x1.71547652b82ffp+1);
}

template <class N>
Interval<N> small_tanh(const N& x) {  // x > 0
  using I = Interval<N>;
  const I at(x, x), square = at * at;
  const I third = at * square / I(3), fifth = third * square * I(2) / I(5), seventh = fifth * square * I(17) / I(42);
  const I upper = at - third + fifth, lower = upper - seventh;
  return {lower.lo, upper.hi};
}

/// tanh of a number x > 0.
template <class N>
Interval<N> positive_tanh(const N& x) {
  using I = Interval<N>;
  if (x < Directed<N>::of(0x1p-5)) return small_tanh(x);
  if (Directed<N>::of(40) < x) return I::between(1 - 0x1p-53, 1);  // 1 - tanh x < 2 e^-80
  const I power = exp2(I(x, x) * two_log2e<N>());
  return I(1) - I(2) / (power + I(1));
}

template <class N>
Interval<N> number_tanh(const N& x) {
  const N zero = Directed<N>::of(0);
  if (x == zero) return Interval<N>(0);
  return x < zero ? -positive_tanh<N>(-x) : positive_tanh<N>(x);
}

/// x / 2^exponent rounded to an integer, ties to even.
double nearest_integer(const Wide& x, int exponent) {
  bool inexact = false;
  const std::int64_t halves = x.floor_of(exponent - 1, inexact), half = halves & 1;
  std::int64_t whole = (halves - half) / 2;
  if (half != 0 && (inexact || (whole & 1) != 0)) ++whole;
  return static_cast<double>(whole);
}

}  // namespace

double exp2_near(double x) {
  const double n = std::nearbyint(x), r = x - n;
  double p = kSeries[13];
  for (int i = 12; i >= 0; --i) p = p * r + kSeries[i];
  return std::ldexp(p, static_cast<int>(n));
}

template <class N>
Interval<N> tanh(const Interval<N>& x) {
  return {number_tanh<N>(x.lo).lo, number_tanh<N>(x.hi).hi};
}
template Interval<double> tanh(const Interval<double>&);
template Interval<Wide> tanh(const Interval<Wide>&);

Grid grid_of(const FormatSpec& format) {
  if (format.encoding != Encoding::floating || !format.is_signed || format.subnormals != Subnormals::gradual) {
    throw InputError("an enclosure", "P, V and the output must be floating formats with sign and subnormals", "choose another format");
  }
  const Unpacked largest = unpack(format, format.largest_magnitude() << format.storage_shift);
  return {format.fraction_bits, format.min_exponent(), std::ldexp(static_cast<double>(largest.significand), largest.exponent), true};
}

Grid float32_grid() { return {23, -126, 0x1.fffffep+127, false}; }

double nearest(const Grid& grid, double x) {
  if (x == 0 || !std::isfinite(x)) return grid.saturates && x != 0 ? std::copysign(grid.largest, x) : x;
  const int last = std::max(std::ilogb(x), grid.min_exponent) - grid.fraction_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -last)), last);  // both scalings are exact: the quotient is below 2^24
  if (std::abs(rounded) <= grid.largest) return rounded;
  return std::copysign(grid.saturates ? grid.largest : std::numeric_limits<double>::infinity(), x);
}

double nearest(const Grid& grid, const Wide& x) {
  if (x.sign() == 0) return 0;
  const int last = std::max(x.floor_log2(), grid.min_exponent) - grid.fraction_bits;
  if (last > 200) return std::copysign(grid.saturates ? grid.largest : std::numeric_limits<double>::infinity(), static_cast<double>(x.sign()));
  const double rounded = std::ldexp(nearest_integer(x, last), last);
  if (std::abs(rounded) <= grid.largest) return rounded;
  return std::copysign(grid.saturates ? grid.largest : std::numeric_limits<double>::infinity(), rounded);
}

}  // namespace halfulp::attention::detail
