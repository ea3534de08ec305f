// Exact text of values; see text.hpp.
#include "halfulp/text.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace halfulp {
namespace {

/// An unsigned integer of any size in base 10^9, least significant limb first: it prints without a
/// division.
class DecimalInteger {
 public:
  explicit DecimalInteger(std::uint64_t value) {
    for (; value != 0; value /= kBase) limbs_.push_back(static_cast<std::uint32_t>(value % kBase));
  }

  /// *this *= base^count.
  void multiply_power(std::uint32_t base, int count) {
    std::uint32_t chunk = base;  // the greatest power of `base` within 32 bits
    int per_chunk = 1;
    while (std::uint64_t{chunk} * base <= UINT32_MAX) {
      chunk *= base;
      ++per_chunk;
    }
    for (; count >= per_chunk; count -= per_chunk) multiply(chunk);
    for (; count > 0; --count) multiply(base);
  }

  std::string digits() const {
    std::string text;
    for (auto limb = limbs_.rbegin(); limb != limbs_.rend(); ++limb) {
      const std::string part = std::to_string(*limb);
      if (limb != limbs_.rbegin()) text.append(kDigits - part.size(), '0');
      text += part;
    }
    return text;
  }

 private:
  static constexpr std::uint32_t kBase = 1000000000;
  static constexpr std::size_t kDigits = 9;

  void multiply(std::uint32_t factor) {
    std::uint64_t carry = 0;  // below 2^32: limb * factor + carry < 10^9 * 2^32
    for (std::uint32_t& limb : limbs_) {
      carry += std::uint64_t{limb} * factor;
      limb = static_cast<std::uint32_t>(carry % kBase);
      carry /= kBase;
    }
    for (; carry != 0; carry /= kBase) limbs_.push_back(static_cast<std::uint32_t>(carry % kBase));
  }

  std::vector<std::uint32_t> limbs_;
};

/// Appends what is not a finite non-zero number, and the sign of what is. True when nothing is left to
/// append.
bool append_special(std::string& text, const Unpacked& x, const char* zero) {
  if (x.number_class == NumberClass::nan) {
    text += "nan";
    return true;
  }
  if (x.negative) text += '-';
  if (x.number_class == NumberClass::infinity) text += "inf";
  if (x.number_class == NumberClass::zero) text += zero;
  return x.number_class == NumberClass::infinity || x.number_class == NumberClass::zero;
}

template <class Integer>
void append_integer(std::string& text, Integer value, int base = 10) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
  text.append(digits, end);
}

/// The fraction significand / 2^places with an odd significand: exactly `places` digits after the point.
void append_fraction(std::string& text, std::uint64_t significand, int places) {
  if (places < 60) {  // ten times what is left below the point stays under 2^64
    append_integer(text, significand >> places);
    text += '.';
    for (std::uint64_t rest = significand & low_mask(places); rest != 0; rest &= low_mask(places)) {
      rest *= 10;
      text += static_cast<char>('0' + static_cast<char>(rest >> places));
    }
    return;
  }
  DecimalInteger scaled(significand);
  scaled.multiply_power(5, places);
  const std::string digits = scaled.digits();
  const auto after = static_cast<std::size_t>(places);
  if (digits.size() <= after) {
    text.append("0.").append(after - digits.size(), '0').append(digits);
  } else {
    text.append(digits, 0, digits.size() - after).append(".").append(digits, digits.size() - after);
  }
}

}  // namespace

void append_decimal(std::string& text, const Unpacked& x) {
  if (append_special(text, x, "0")) return;
  const int zeros = __builtin_ctzll(x.significand);
  const std::uint64_t odd = x.significand >> zeros;
  const int exponent = x.exponent + zeros;
  if (exponent < 0) {
    append_fraction(text, odd, -exponent);
  } else if (exponent + bit_width(odd) <= 64) {
    append_integer(text, odd << exponent);
  } else {
    DecimalInteger value(odd);
    value.multiply_power(2, exponent);
    text += value.digits();
  }
}

void append_hex_float(std::string& text, const Unpacked& x) {
  if (append_special(text, x, "0x0p+0")) return;
  const int places = bit_width(x.significand) - 1;
  text += "0x1";
  if (std::uint64_t fraction = x.significand & low_mask(places); fraction != 0) {
    fraction <<= 64 - places;
    text += '.';
    for (; fraction != 0; fraction <<= 4) append_integer(text, static_cast<unsigned>(fraction >> 60), 16);
  }
  const int exponent = x.exponent + places;
  text += exponent < 0 ? "p-" : "p+";
  append_integer(text, exponent < 0 ? -exponent : exponent);
}

std::string decimal_text(const Unpacked& x) {
  std::string text;
  append_decimal(text, x);
  return text;
}

std::string hex_float_text(const Unpacked& x) {
  std::string text;
  append_hex_float(text, x);
  return text;
}

}  // namespace halfulp
