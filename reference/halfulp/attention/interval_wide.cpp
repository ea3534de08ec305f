// Wide numbers; see detail/wide.hpp.
#include <cmath>
#include <limits>

#include "halfulp/attention/detail/wide.hpp"

namespace halfulp::attention::detail {
namespace {

using Integer = Wide::Integer;

constexpr int kBits = 256;    // of a result
constexpr int kFraction = 320;  // of the fixed point in which exp2 is computed

Integer shifted(const Integer& x, int left) {
  return left >= 0 ? Integer(x << static_cast<unsigned>(left)) : Integer(x >> static_cast<unsigned>(-left));
}

/// floor(x / 2^bits), also of negative numbers.
Integer floor_shift(const Integer& x, int bits, bool& inexact) {
  const Integer magnitude = abs(x), cut = magnitude >> static_cast<unsigned>(bits);
  inexact = Integer(cut << static_cast<unsigned>(bits)) != magnitude;
  if (x.sign() >= 0) return cut;
  return inexact ? Integer(-cut - 1) : Integer(-cut);
}

/// ln 2 in units of 2^-kFraction, at most 2^9 units too small: 2 atanh(1/3), 120 terms (what is left out is below 3^-241), each cut.
const Integer& ln2() {
  static const Integer value = [] {
    Integer sum = 0, power = shifted(2, kFraction) / 3;
    for (int k = 0; k < 120; ++k, power /= 9) sum += power / (2 * k + 1);
    return sum;
  }();
  return value;
}

}  // namespace

Wide::Wide(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  units_ = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  exponent_ = units_ == 0 ? 0 : exponent - 53;
}

Wide Wide::cut(bool up) const {
  if (units_ == 0) return {};
  const int extra = static_cast<int>(msb(abs(units_))) + 1 - kBits;
  if (extra <= 0) return *this;
  bool inexact = false;
  Integer units = floor_shift(units_, extra, inexact);
  if (up && inexact) ++units;
  return Wide(units, exponent_ + extra);
}

Wide Wide::add(const Wide& a, const Wide& b, bool up) {
  if (a.units_ == 0) return b;
  if (b.units_ == 0) return a;
  // A summand far below the other one counts as the smallest number that still moves the result to the right side.
  const int gap = a.floor_log2() - b.floor_log2();
  if (gap > 2 * kBits) return add(a, Wide(Integer(b.sign()), a.exponent_ - kBits), up);
  if (gap < -2 * kBits) return add(Wide(Integer(a.sign()), b.exponent_ - kBits), b, up);
  const int exponent = std::min(a.exponent_, b.exponent_);
  return Wide(shifted(a.units_, a.exponent_ - exponent) + shifted(b.units_, b.exponent_ - exponent), exponent).cut(up);
}

Wide Wide::mul(const Wide& a, const Wide& b, bool up) {
  if (a.units_ == 0 || b.units_ == 0) return {};
  return Wide(a.units_ * b.units_, a.exponent_ + b.exponent_).cut(up);
}

Wide Wide::div(const Wide& a, const Wide& b, bool up) {
  if (a.units_ == 0) return {};
  const Integer dividend = abs(a.units_) << static_cast<unsigned>(kBits + 64 + static_cast<int>(msb(abs(b.units_)))), divisor = abs(b.units_);
  Integer quotient = dividend / divisor;
  const bool negative = a.sign() != b.sign(), inexact = dividend % divisor != 0;
  if (inexact && up != negative) ++quotient;
  return Wide(negative ? Integer(-quotient) : quotient, a.exponent_ - b.exponent_ - kBits - 64 - static_cast<int>(msb(abs(b.units_)))).cut(up);
}

Wide Wide::exp2(const Wide& x, bool up) {
  bool inexact = false;
  const Integer whole = x.floor_of(0, inexact);
  if (!inexact) return Wide(1, static_cast<int>(whole));
  const Integer fixed = x.floor_of(-kFraction, inexact);  // at most one unit below x
  const Integer y = Integer((fixed - shifted(whole, kFraction)) * ln2()) >> kFraction;
  // e^y, 0 <= y < 0.7: 90 terms leave less than 0.7^90 / 90! out; each term is cut, and errors of y grow by e^y < 2.
  Integer sum = shifted(1, kFraction), term = sum;
  for (int i = 1; i < 90; ++i) {
    term = Integer(term * y) >> kFraction;
    term /= i;
    sum += term;
  }
  const Integer slack = Integer(1) << 20;
  return Wide(up ? Integer(sum + slack) : sum, static_cast<int>(whole) - kFraction).cut(up);
}

Integer Wide::floor_of(int exponent, bool& inexact) const {
  inexact = false;
  if (units_ == 0) return 0;
  if (exponent_ >= exponent) return shifted(units_, exponent_ - exponent);
  return floor_shift(units_, exponent - exponent_, inexact);
}

int Wide::floor_log2() const { return static_cast<int>(msb(abs(units_))) + exponent_; }

double Wide::to_double(bool up) const {
  if (units_ == 0) return 0;
  const int last = std::max(floor_log2() - 52, -1074);
  bool inexact = false;
  Integer units = floor_of(last, inexact);
  if (up && inexact) ++units;
  return std::ldexp(static_cast<double>(static_cast<std::int64_t>(units)), last);
}

std::strong_ordering operator<=>(const Wide& a, const Wide& b) {
  if (a.sign() != b.sign() || a.sign() == 0) return a.sign() <=> b.sign();
  const int left = a.floor_log2(), right = b.floor_log2();
  if (left != right) return (left < right) == (a.sign() > 0) ? std::strong_ordering::less : std::strong_ordering::greater;
  const int exponent = std::min(a.exponent_, b.exponent_);
  const Integer x = shifted(a.units_, a.exponent_ - exponent), y = shifted(b.units_, b.exponent_ - exponent);
  return x < y ? std::strong_ordering::less : y < x ? std::strong_ordering::greater : std::strong_ordering::equal;
}

}  // namespace halfulp::attention::detail
