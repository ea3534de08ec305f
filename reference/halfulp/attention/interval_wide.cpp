// Wide numbers; see detail/wide.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "halfulp/attention/detail/wide.hpp"
#include "halfulp/config.hpp"

namespace halfulp::attention::detail {
namespace {

constexpr int kBits = 256;      // of a result
constexpr int kFraction = 318;  // of the fixed point in which exp2 is computed: 320 bits, two of them before the point

using Limb = std::uint64_t;
template <std::size_t N>
using Digits = std::array<Limb, N>;
using Fixed = Digits<5>;

/// Adds, or subtracts; returns what is carried out.
template <std::size_t N>
bool add_to(Digits<N>& x, const Digits<N>& y) {
  bool carry = false;
  for (std::size_t i = 0; i < N; ++i) {
    const uint128 sum = static_cast<uint128>(x[i]) + y[i] + (carry ? 1 : 0);
    x[i] = static_cast<Limb>(sum);
    carry = (sum >> 64) != 0;
  }
  return carry;
}
template <std::size_t N>
bool take_from(Digits<N>& x, const Digits<N>& y) {
  bool borrow = false;
  for (std::size_t i = 0; i < N; ++i) {
    const uint128 difference = static_cast<uint128>(x[i]) - y[i] - (borrow ? 1 : 0);
    x[i] = static_cast<Limb>(difference);
    borrow = (difference >> 64) != 0;
  }
  return borrow;
}

template <std::size_t N>
bool is_below(const Digits<N>& x, const Digits<N>& y) {
  for (std::size_t i = N; i-- > 0;) {
    if (x[i] != y[i]) return x[i] < y[i];
  }
  return false;
}

template <std::size_t N>
Digits<N> shifted_left(const Digits<N>& x, int bits) {
  const auto limbs = static_cast<std::size_t>(bits / 64);
  const int left = bits % 64;
  Digits<N> out{};
  for (std::size_t i = limbs; i < N; ++i) {
    out[i] = x[i - limbs] << left;
    if (left != 0 && i > limbs) out[i] |= x[i - limbs - 1] >> (64 - left);
  }
  return out;
}

/// `rest` is set where a bit falls out.
template <std::size_t N>
Digits<N> shifted_right(const Digits<N>& x, int bits, bool& rest) {
  const auto limbs = static_cast<std::size_t>(bits / 64);
  const int right = bits % 64;
  Digits<N> out{};
  for (std::size_t i = 0; i < std::min(limbs, N); ++i) rest |= x[i] != 0;
  if (limbs < N && right != 0) rest |= (x[limbs] << (64 - right)) != 0;
  for (std::size_t i = limbs; i < N; ++i) {
    out[i - limbs] = x[i] >> right;
    if (right != 0 && i + 1 < N) out[i - limbs] |= x[i + 1] << (64 - right);
  }
  return out;
}

template <std::size_t N>
Digits<2 * N> product(const Digits<N>& a, const Digits<N>& b) {
  Digits<2 * N> out{};
  for (std::size_t i = 0; i < N; ++i) {
    Limb carry = 0;
    for (std::size_t j = 0; j < N; ++j) {
      const uint128 sum = static_cast<uint128>(a[i]) * b[j] + out[i + j] + carry;
      out[i + j] = static_cast<Limb>(sum);
      carry = static_cast<Limb>(sum >> 64);
    }
    out[i + N] = carry;
  }
  return out;
}

/// a b, cut.
Fixed fixed_product(const Fixed& a, const Fixed& b) {
  bool cut = false;
  const Digits<10> whole = shifted_right(product(a, b), kFraction, cut);
  Fixed out;
  std::copy_n(whole.begin(), out.size(), out.begin());
  return out;
}

/// x / divisor, cut.
Fixed fixed_quotient(Fixed x, Limb divisor) {
  uint128 rest = 0;
  for (std::size_t i = x.size(); i-- > 0;) {
    rest = rest << 64 | x[i];
    x[i] = static_cast<Limb>(rest / divisor);
    rest %= divisor;
  }
  return x;
}

constexpr Fixed kOne = {0, 0, 0, 0, Limb{1} << 62};

/// ln 2, at most 2^9 units too small: 2 atanh(1/3), 120 terms (what is left out is below 3^-241), each cut.
const Fixed& ln2() {
  static const Fixed value = [] {
    Fixed sum{}, power = fixed_quotient(shifted_left(kOne, 1), 3);
    for (Limb k = 0; k < 120; ++k, power = fixed_quotient(power, 9)) add_to(sum, fixed_quotient(power, 2 * k + 1));
    return sum;
  }();
  return value;
}

/// 1 / i!, cut, at most 2 units too small: the terms of e^z.
constexpr std::size_t kTerms = 28;
const std::array<Fixed, kTerms>& series() {
  static const std::array<Fixed, kTerms> values = [] {
    std::array<Fixed, kTerms> inverse{kOne};
    for (std::size_t i = 1; i < kTerms; ++i) inverse[i] = fixed_quotient(inverse[i - 1], i);
    return inverse;
  }();
  return values;
}

}  // namespace

template <std::size_t N>
Wide Wide::rounded(int sign, const Digits<N>& digits, int exponent, bool rest, bool up) {
  int empty = 0;
  for (std::size_t i = N; i-- > 0 && digits[i] == 0;) empty += 64;
  if (empty == 64 * static_cast<int>(N)) return {};
  empty += std::countl_zero(digits[N - 1 - static_cast<std::size_t>(empty / 64)]);
  const Digits<N> top = shifted_left(digits, empty);
  Wide x;
  x.sign_ = sign;
  x.exponent_ = exponent + 64 * static_cast<int>(N) - empty - kBits;
  for (std::size_t i = 0; i < N; ++i) {
    if (i + kLimbs >= N) x.units_[i + kLimbs - N] = top[i];
    else rest |= top[i] != 0;
  }
  if (rest && up == (sign > 0) && add_to(x.units_, Digits<kLimbs>{1})) {
    x.units_.back() = Limb{1} << 63;
    ++x.exponent_;
  }
  return x;
}

Wide::Wide(double x) {
  if (x == 0) return;
  sign_ = x < 0 ? -1 : 1;
  units_.back() = static_cast<Limb>(std::ldexp(std::frexp(std::abs(x), &exponent_), 64));
  exponent_ -= kBits;
}

Wide Wide::add(const Wide& a, const Wide& b, bool up) {
  if (a.sign_ == 0) return b;
  if (b.sign_ == 0) return a;
  const Wide &x = a.exponent_ < b.exponent_ ? b : a, &y = a.exponent_ < b.exponent_ ? a : b;
  // A limb for what is carried out, one below: more than a bit of it is never needed, since x is at least twice y where y is cut.
  Digits<6> sum = {0, x.units_[0], x.units_[1], x.units_[2], x.units_[3], 0};
  bool rest = false;
  Digits<6> other =
      shifted_right(Digits<6>{0, y.units_[0], y.units_[1], y.units_[2], y.units_[3], 0}, std::min(x.exponent_ - y.exponent_, 384), rest);
  if (x.sign_ == y.sign_) {
    add_to(sum, other);
    return rounded(x.sign_, sum, x.exponent_ - 64, rest, up);
  }
  int sign = x.sign_;
  if (is_below(sum, other)) {  // both of one exponent
    std::swap(sum, other);
    sign = -sign;
  }
  take_from(sum, other);
  if (rest) take_from(sum, Digits<6>{1});  // what was cut makes the difference smaller
  return rounded(sign, sum, x.exponent_ - 64, rest, up);
}

Wide Wide::mul(const Wide& a, const Wide& b, bool up) {
  if (a.sign_ == 0 || b.sign_ == 0) return {};
  return rounded(a.sign_ * b.sign_, product(a.units_, b.units_), a.exponent_ + b.exponent_, false, up);
}

/// By bits: the quotient of units is between 1/2 and 2, and gets 256 bits behind the point.
Wide Wide::div(const Wide& a, const Wide& b, bool up) {
  if (a.sign_ == 0) return {};
  Digits<kLimbs + 1> rest{}, divisor{}, quotient{};
  std::copy_n(a.units_.begin(), kLimbs, rest.begin());
  std::copy_n(b.units_.begin(), kLimbs, divisor.begin());
  for (int bit = 0; bit <= kBits; ++bit) {
    if (bit != 0) {
      quotient = shifted_left(quotient, 1);
      rest = shifted_left(rest, 1);
    }
    if (is_below(rest, divisor)) continue;
    take_from(rest, divisor);
    quotient[0] |= 1;
  }
  return rounded(a.sign_ * b.sign_, quotient, a.exponent_ - b.exponent_ - kBits, rest != Digits<kLimbs + 1>{}, up);
}

Fixed Wide::fraction() const {
  // floor(|x| 2^kFraction): below 2^(20 + kFraction).
  Digits<10> fixed{};
  std::copy_n(units_.begin(), kLimbs, fixed.begin());
  bool rest = false;
  const int left = exponent_ + kFraction;
  fixed = left >= 0 ? shifted_left(fixed, left) : shifted_right(fixed, std::min(-left, 640), rest);
  if (sign_ < 0) {  // floor of a negative number: -(its magnitude, rounded up), of which the bits behind the point count
    Digits<10> zero{};
    take_from(zero, fixed);
    if (rest) take_from(zero, Digits<10>{1});
    fixed = zero;
  }
  Fixed out;
  std::copy_n(fixed.begin(), out.size(), out.begin());
  out.back() &= (Limb{1} << 62) - 1;
  return out;
}

/// 2^x = 2^n e^y, y = (x - n) ln 2 < 0.7. Everything is cut, so that the sum is too small: y by less than 2^10 units, z = y / 2^8 by 5,
/// the sum by less than 10: 28 terms leave less than z^28 / 28! < 2^-336 out, and a Horner step loses 3 units and shrinks what was lost.
/// Every squaring at most doubles an error, times a number below 2 in all, and cuts once more: below 2^14 units.
Wide Wide::exp2(const Wide& x, bool up) {
  bool inexact = false;
  const auto whole = static_cast<int>(x.floor_of(0, inexact));
  if (!inexact) return rounded(1, Digits<kLimbs>{1}, whole, false, up);
  const Fixed z = shifted_right(fixed_product(x.fraction(), ln2()), 8, inexact);
  Fixed sum = series().back();
  for (std::size_t i = kTerms - 1; i-- > 0;) {
    sum = fixed_product(sum, z);
    add_to(sum, series()[i]);
  }
  for (int i = 0; i < 8; ++i) sum = fixed_product(sum, sum);
  if (up) add_to(sum, Fixed{Limb{1} << 14});
  return rounded(1, sum, whole - kFraction, false, up);
}

std::int64_t Wide::floor_of(int exponent, bool& inexact) const {
  inexact = false;
  if (sign_ == 0) return 0;
  const Digits<kLimbs> cut = shifted_right(units_, std::min(exponent - exponent_, kBits), inexact);
  const auto magnitude = static_cast<std::int64_t>(cut[0]);
  return sign_ > 0 ? magnitude : inexact ? -magnitude - 1 : -magnitude;
}

int Wide::floor_log2() const { return exponent_ + kBits - 1; }

double Wide::to_double(bool up) const {
  if (sign_ == 0) return 0;
  const int last = std::max(floor_log2() - 52, -1074);
  bool inexact = false;
  std::int64_t units = floor_of(last, inexact);
  if (up && inexact) ++units;
  return std::ldexp(static_cast<double>(units), last);
}

std::strong_ordering operator<=>(const Wide& a, const Wide& b) {
  if (a.sign_ != b.sign_ || a.sign_ == 0) return a.sign_ <=> b.sign_;
  const Wide &x = a.sign_ > 0 ? a : b, &y = a.sign_ > 0 ? b : a;  // of negative numbers the larger magnitude is the smaller number
  if (x.exponent_ != y.exponent_) return x.exponent_ <=> y.exponent_;
  return is_below(x.units_, y.units_)   ? std::strong_ordering::less
         : is_below(y.units_, x.units_) ? std::strong_ordering::greater
                                        : std::strong_ordering::equal;
}

}  // namespace halfulp::attention::detail
