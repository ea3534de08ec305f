// The value of a code, class by class. Sections as in value.hpp. Twin: formats/halfulp/unpacked.hpp.
#include "halfulp/oracle/value.hpp"

#include <array>
#include <stdexcept>

namespace halfulp::oracle {

namespace {

/// The bits of a floating code, each field by itself.
struct Fields {
  bool sign;
  std::uint64_t exponent;
  std::uint64_t fraction;
  std::uint64_t exponent_ones;  ///< exponent field with every bit set
  std::uint64_t fraction_ones;
};

std::uint64_t ones(int bits) {
  return bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits);
}

Fields split(const FormatSpec& f, std::uint64_t bits) {
  return {.sign = f.is_signed && (bits >> (f.width - 1)) != 0,
          .exponent = (bits >> f.fraction_bits) & ones(f.exponent_bits),
          .fraction = bits & ones(f.fraction_bits),
          .exponent_ones = ones(f.exponent_bits),
          .fraction_ones = ones(f.fraction_bits)};
}

/// Inf or NaN when the format's rule gives this code away; empty for the codes that are numbers.
std::optional<Value> non_finite_of(const FormatSpec& f, std::uint64_t bits, const Fields& part) {
  const bool all_ones = part.exponent == part.exponent_ones && part.fraction == part.fraction_ones;
  const bool minus_zero = part.sign && part.exponent == 0 && part.fraction == 0;
  switch (f.non_finite) {
    case NonFinite::ieee:
      if (part.exponent != part.exponent_ones) return std::nullopt;
      if (part.fraction == 0) return infinity_value(part.sign);
      return nan_value(part.sign, part.fraction << (64 - f.fraction_bits));
    case NonFinite::nan_all_ones:
      if (all_ones) return nan_value(part.sign);
      return std::nullopt;
    case NonFinite::nan_minus_zero:
      if (minus_zero) return nan_value(false);
      return std::nullopt;
    case NonFinite::p3109_extended:
    case NonFinite::p3109_finite: {
      // P3109: NaN at 2^(K-1) (signed) or 2^K - 1 (unsigned); Inf one below the sign bit or
      // below NaN.
      const bool extended = f.non_finite == NonFinite::p3109_extended;
      const std::uint64_t last = ones(f.width);
      if (!f.is_signed) {
        if (bits == last) return nan_value(false);
        if (extended && bits == last - 1) return infinity_value(false);
        return std::nullopt;
      }
      if (minus_zero) return nan_value(false);
      if (extended && all_ones) return infinity_value(part.sign);
      return std::nullopt;
    }
    case NonFinite::none:
    case NonFinite::hifloat8: return std::nullopt;
  }
  return std::nullopt;
}

Value finite(bool negative, const Exact& magnitude, bool subnormal = false) {
  if (magnitude.is_zero()) return zero_value(negative);
  return {.cls = ValueClass::finite, .negative = negative, .subnormal = subnormal, .magnitude = magnitude};
}

/// (-1)^s * 2^(e - bias) * 1.f, and 2^(1 - bias) * 0.f in exponent field 0 unless that is an ordinary
/// binade.
Value floating_value(const FormatSpec& f, std::uint64_t bits) {
  const Fields part = split(f, bits);
  if (const auto special = non_finite_of(f, bits, part)) return *special;
  if (part.exponent == 0 && f.subnormals == Subnormals::gradual) {
    const Exact magnitude = Exact::scaled_unsigned(part.fraction, 1 - f.bias - f.fraction_bits);
    return finite(part.sign, magnitude, part.fraction != 0);
  }
  const std::uint64_t hidden = std::uint64_t{1} << f.fraction_bits;
  return finite(part.sign, Exact::scaled_unsigned(hidden + part.fraction, static_cast<int>(part.exponent) -
                                                                              f.bias - f.fraction_bits));
}

/// The integer in two's complement (or plain binary) times 2^-fraction_bits.
Value integer_value(const FormatSpec& f, std::uint64_t bits) {
  const bool negative = f.is_signed && (bits >> (f.width - 1)) != 0;
  const std::uint64_t magnitude = negative ? ones(f.width) - bits + 1 : bits;
  return finite(negative, Exact::scaled_unsigned(magnitude, -f.fraction_bits));
}

/// QLoRA (arXiv:2305.14314) appendix E: each value is a binary32 number, written here by its exact decimal
/// digits.
Value nf4_value(std::uint64_t code) {
  static const auto table = [] {
    // clang-format off
    constexpr std::array<double, 16> values = {
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
        -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
        0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
        0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0};
    // clang-format on
    std::array<Value, 16> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
      // Seventeen digits identify a double; the producer's value is the binary32 number that they print.
      result[i] = value_from(Exact::from_double(static_cast<double>(static_cast<float>(values[i]))));
    }
    return result;
  }();
  return table[code];
}

/// HiFloat8 (arXiv:2409.16626, unverified): a prefix gives the width D of the exponent field, which is a
/// sign bit and a magnitude with an implied leading 1; what is left is the fraction.
Value hifloat8_value(std::uint64_t code) {
  const bool negative = (code & 0x80) != 0;
  const std::uint64_t rest = code & 0x7f;
  if (code == 0x80) return nan_value(false);
  if (rest == 0x6f) return infinity_value(negative);
  if (rest < 8)
    return finite(negative, rest == 0 ? Exact() : Exact::pow2(static_cast<int>(rest) - 23), rest != 0);
  struct Prefix {
    std::uint64_t bits;
    int length;
    int exponent_width;
  };
  // clang-format off
  constexpr std::array<Prefix, 5> prefixes = {{
      {0b11, 2, 4}, {0b10, 2, 3}, {0b01, 2, 2}, {0b001, 3, 1}, {0b0001, 4, 0}}};
  // clang-format on
  for (const Prefix& prefix : prefixes) {
    if (rest >> (7 - prefix.length) != prefix.bits) continue;
    const int fraction_bits = 7 - prefix.length - prefix.exponent_width;
    const std::uint64_t field = (rest >> fraction_bits) & ones(prefix.exponent_width);
    int exponent = 0;
    if (prefix.exponent_width > 0) {
      const std::uint64_t leading = std::uint64_t{1} << (prefix.exponent_width - 1);
      exponent = static_cast<int>(leading | (field & (leading - 1)));
      if ((field & leading) != 0) exponent = -exponent;
    }
    const std::uint64_t hidden = std::uint64_t{1} << fraction_bits;
    return finite(negative,
                  Exact::scaled_unsigned(hidden | (rest & (hidden - 1)), exponent - fraction_bits));
  }
  throw std::logic_error("halfulp::oracle: no HiFloat8 prefix");
}

}  // namespace

Value value_from(const Exact& number) {
  return finite(number.sign() < 0, number.abs());
}
Value zero_value(bool negative) {
  return {.cls = ValueClass::zero, .negative = negative};
}
Value infinity_value(bool negative) {
  return {.cls = ValueClass::infinity, .negative = negative};
}
Value nan_value(bool negative, std::uint64_t payload) {
  return {.cls = ValueClass::nan, .negative = negative, .payload = payload};
}

bool is_code(const FormatSpec& format, std::uint64_t code) {
  return (code & ones(format.storage_shift)) == 0 &&
         (code >> format.storage_shift & ~ones(format.width)) == 0;
}

Value value_of(const FormatSpec& format, std::uint64_t code) {
  if (!is_code(format, code))
    throw std::invalid_argument("halfulp::oracle::value_of: not a code of the format");
  const std::uint64_t bits = code >> format.storage_shift;
  switch (format.encoding) {
    case Encoding::floating: return floating_value(format, bits);
    case Encoding::twos_complement: return integer_value(format, bits);
    case Encoding::codebook: return nf4_value(bits);
    case Encoding::hifloat8: return hifloat8_value(bits);
  }
  throw std::logic_error("halfulp::oracle::value_of: unknown encoding");
}

std::optional<Value> parse_value(std::string_view text, std::string* why) {
  const bool negative = !text.empty() && text[0] == '-';
  const bool has_sign = negative || (!text.empty() && text[0] == '+');
  const std::string_view word = text.substr(has_sign ? 1 : 0);
  if (word == "inf") return infinity_value(negative);
  if (word == "nan") return nan_value(negative);
  const auto number = parse_exact(text, why);
  if (!number) return std::nullopt;
  return finite(negative, number->abs());
}

std::string to_string(const Value& value) {
  const std::string sign = value.negative ? "-" : "";
  switch (value.cls) {
    case ValueClass::nan: return "nan";
    case ValueClass::infinity: return sign + "inf";
    case ValueClass::zero: return sign + "0";
    case ValueClass::finite: break;
  }
  return to_decimal_string(value.number());
}

std::string to_hex_string(const Value& value) {
  if (value.cls == ValueClass::nan || value.cls == ValueClass::infinity) return to_string(value);
  return (value.negative && value.cls == ValueClass::zero ? "-" : "") + to_hex_float(value.number());
}

}  // namespace halfulp::oracle
