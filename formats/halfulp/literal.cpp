// Reads literals exactly: numerator and denominator as integers of any size, then one division to 126 or more bits.
#include "halfulp/literal.hpp"

#include <algorithm>
#include <vector>

namespace halfulp {
namespace {

/// An unsigned integer of any size: 32-bit limbs, least significant first, no leading zero limbs.
class BigUnsigned {
 public:
  BigUnsigned() = default;
  explicit BigUnsigned(std::uint64_t value) {
    for (; value != 0; value >>= 32) limbs_.push_back(static_cast<std::uint32_t>(value));
  }

  bool zero() const { return limbs_.empty(); }
  bool fits64() const { return limbs_.size() <= 2; }
  std::uint64_t low64() const {
    std::uint64_t value = limbs_.empty() ? 0 : limbs_[0];
    if (limbs_.size() > 1) value |= std::uint64_t{limbs_[1]} << 32;
    return value;
  }
  int bits() const {
    return zero() ? 0 : static_cast<int>(32 * (limbs_.size() - 1)) + bit_width(std::uint64_t{limbs_.back()});
  }

  /// *this = *this * factor + addend.
  void multiply_add(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = addend;
    for (std::uint32_t& limb : limbs_) {
      carry += std::uint64_t{limb} * factor;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs_.push_back(static_cast<std::uint32_t>(carry));
    trim();
  }

  void shift_left(int count) {
    limbs_.insert(limbs_.begin(), static_cast<std::size_t>(count / 32), 0u);
    if (count % 32 != 0) multiply_add(1u << (count % 32), 0);
    trim();
  }

  bool less_than(const BigUnsigned& other) const {
    if (limbs_.size() != other.limbs_.size()) return limbs_.size() < other.limbs_.size();
    return std::lexicographical_compare(limbs_.rbegin(), limbs_.rend(), other.limbs_.rbegin(), other.limbs_.rend());
  }

  /// *this -= other; requires other <= *this.
  void subtract(const BigUnsigned& other) {
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < limbs_.size(); ++i) {
      std::int64_t difference = std::int64_t{limbs_[i]} + borrow - (i < other.limbs_.size() ? other.limbs_[i] : 0);
      borrow = difference < 0 ? -1 : 0;
      limbs_[i] = static_cast<std::uint32_t>(difference);
    }
    trim();
  }

 private:
  void trim() {
    while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  }
  std::vector<std::uint32_t> limbs_;
};

constexpr int kQuotientBits = 127;

/// numerator / denominator * 2^exponent for operands below 2^64: two machine divisions.
ExactUnpacked divide_small(std::uint64_t numerator, std::uint64_t denominator, std::int32_t exponent) {
  const int up = 127 - bit_width(numerator);         // numerator into [2^126, 2^127)
  const int denominator_up = 64 - bit_width(denominator);  // denominator into [2^63, 2^64)
  const uint128 n = static_cast<uint128>(numerator) << up;
  const std::uint64_t d = denominator << denominator_up;
  const uint128 high = n / d;  // below 2^64
  const uint128 rest = (n % d) << 64;
  ExactUnpacked x;
  x.number_class = NumberClass::normal;
  x.significand = (high << 64) | (rest / d);
  x.sticky = rest % d != 0;
  x.exponent = exponent - up + denominator_up - 64;
  return x;
}

/// The same for operands of any size: one quotient bit per step.
ExactUnpacked divide_big(BigUnsigned numerator, BigUnsigned denominator, std::int32_t exponent) {
  const int align = numerator.bits() - denominator.bits();
  if (align > 0) denominator.shift_left(align);
  if (align < 0) numerator.shift_left(-align);
  ExactUnpacked x;
  x.number_class = NumberClass::normal;
  for (int bit = 0; bit < kQuotientBits; ++bit) {  // numerator < 2 * denominator throughout
    x.significand <<= 1;
    if (!numerator.less_than(denominator)) {
      numerator.subtract(denominator);
      x.significand |= 1;
    }
    numerator.shift_left(1);
  }
  x.sticky = !numerator.zero();
  x.exponent = exponent + align - (kQuotientBits - 1);
  return x;
}

ExactUnpacked divide(const BigUnsigned& numerator, const BigUnsigned& denominator, std::int32_t exponent) {
  if (numerator.zero()) return {};
  if (numerator.fits64() && denominator.fits64()) {
    return divide_small(numerator.low64(), denominator.low64(), exponent);
  }
  return divide_big(numerator, denominator, exponent);
}

/// Stands for every value too large (or too small) for all formats: their exponents stay within +-32768.
constexpr std::int32_t kOutside = 66000;
ExactUnpacked outside(bool large) {
  ExactUnpacked x;
  x.number_class = NumberClass::normal;
  x.significand = 1;
  x.exponent = large ? kOutside : -kOutside;
  x.sticky = true;
  return x;
}

int digit_value(char c, int base) {
  int value = 99;
  if (c >= '0' && c <= '9') value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return value < base ? value : -1;
}

/// Reads the front of a text; every function moves past what it took.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }

  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool take_any(char a, char b) { return take(a) || take(b); }

  /// -1 for '-', otherwise +1; an optional sign.
  int sign() {
    if (take('-')) return -1;
    take('+');
    return 1;
  }

  /// Digits with an optional point; counts those after it. False when there is no digit.
  bool digits(int base, bool point_allowed, BigUnsigned& value, int& after_point) {
    bool any = false;
    bool after = false;
    after_point = 0;
    for (; !text_.empty(); text_.remove_prefix(1)) {
      if (point_allowed && !after && text_.front() == '.') {
        after = true;
        continue;
      }
      const int digit = digit_value(text_.front(), base);
      if (digit < 0) break;
      value.multiply_add(static_cast<std::uint32_t>(base), 0);
      if (digit != 0 && value.zero()) value = BigUnsigned(static_cast<std::uint64_t>(digit));
      else value.multiply_add(1, static_cast<std::uint32_t>(digit));
      any = true;
      after_point += after ? 1 : 0;
    }
    return any;
  }

  /// A signed decimal integer, held within +-10^8.
  bool integer(std::int32_t& value) {
    const int negative = sign();
    std::int32_t magnitude = 0;
    bool any = false;
    for (; !text_.empty() && text_.front() >= '0' && text_.front() <= '9'; text_.remove_prefix(1)) {
      magnitude = std::min(magnitude * 10 + (text_.front() - '0'), 100000000);
      any = true;
    }
    value = negative * magnitude;
    return any;
  }

 private:
  std::string_view text_;
};

ExactUnpacked scale_by_power_of_two(ExactUnpacked x, std::int64_t exponent) {
  if (x.number_class == NumberClass::zero) return x;
  const std::int64_t binade = exponent + x.exponent + bit_width(x.significand) - 1;
  if (binade > kOutside || binade < -kOutside) return outside(binade > 0);
  x.exponent += static_cast<std::int32_t>(exponent);
  return x;
}

bool parse_hex_float(Reader in, ExactUnpacked& out) {
  BigUnsigned value;
  int places = 0;
  std::int32_t exponent = 0;
  if (!in.take('0') || !in.take_any('x', 'X') || !in.digits(16, true, value, places)) return false;
  if (!in.take_any('p', 'P') || !in.integer(exponent) || !in.done()) return false;
  out = scale_by_power_of_two(divide(value, BigUnsigned(1), 0), std::int64_t{exponent} - 4 * places);
  return true;
}

bool parse_power_of_two(Reader in, ExactUnpacked& out) {
  std::int32_t exponent = 0;
  if (!in.take('2') || !in.take('^') || !in.integer(exponent) || !in.done()) return false;
  out = scale_by_power_of_two(divide(BigUnsigned(1), BigUnsigned(1), 0), exponent);
  return true;
}

bool parse_decimal(Reader in, ExactUnpacked& out) {
  BigUnsigned value;
  int places = 0;
  std::int32_t exponent = 0;
  if (!in.digits(10, true, value, places)) return false;
  if (in.take_any('e', 'E') && !in.integer(exponent)) return false;
  if (!in.done()) return false;
  const std::int32_t power = exponent - places;
  if (value.zero()) {
    out = {};
    return true;
  }
  constexpr std::int32_t kMaxPower = 30000;  // with at most 4096 digits, beyond it the value is outside every format
  if (power > kMaxPower || power < -kMaxPower) {
    out = outside(power > 0);
    return true;
  }
  BigUnsigned scale(1);
  for (std::int32_t left = power < 0 ? -power : power; left > 0; left -= 9) {
    std::uint32_t factor = 1;
    for (std::int32_t i = 0; i < std::min(left, 9); ++i) factor *= 10;
    (power < 0 ? scale : value).multiply_add(factor, 0);
  }
  out = scale_by_power_of_two(divide(value, scale, 0), 0);
  return true;
}

LiteralError parse_fraction(Reader in, ExactUnpacked& out) {
  BigUnsigned numerator;
  BigUnsigned denominator;
  int places = 0;
  if (!in.digits(10, false, numerator, places) || !in.take('/')) return LiteralError::malformed;
  if (!in.digits(10, false, denominator, places) || !in.done()) return LiteralError::malformed;
  if (denominator.zero()) return LiteralError::zero_denominator;
  out = divide(numerator, denominator, 0);
  return LiteralError::none;
}

}  // namespace

Literal parse_literal(std::string_view text) {
  Literal literal;
  if (text.empty()) literal.error = LiteralError::empty;
  if (text.size() > kMaxLiteral) literal.error = LiteralError::too_long;
  if (literal.error != LiteralError::none) return literal;

  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  const Reader in(text);
  ExactUnpacked& x = literal.value;
  if (text == "inf" || text == "infinity" || text == "Infinity" || text == "INF") {
    x.number_class = NumberClass::infinity;
  } else if (text == "nan" || text == "NaN" || text == "NAN") {
    x.number_class = NumberClass::nan;
  } else if (!parse_decimal(in, x) && !parse_hex_float(in, x) && !parse_power_of_two(in, x)) {
    literal.error = parse_fraction(in, x);
  }
  x.negative = negative;
  return literal;
}

}  // namespace halfulp
