// Exact text of values against the C library's printf, which prints every digit of a double, and against
// literals.
#include "halfulp/text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <random>
#include <string>

#include "halfulp/formats.hpp"
#include "halfulp/literal.hpp"

namespace {

using namespace halfulp;

/// "%.1100f" without trailing zeros: a double has at most 1074 digits after the point.
std::string printf_decimal(double value) {
  char buffer[1500];
  std::string text(buffer,
                   static_cast<std::size_t>(std::snprintf(buffer, sizeof buffer, "%.1100f", value)));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

TEST(Text, of_doubles_is_what_printf_gives_with_every_digit) {
  constexpr FormatSpec f64 = spec_of("f64");
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t word = random();
    if (i % 4 == 1) word >>= 12;  // subnormal, with the sign lost
    if (i % 4 == 2) word = (word & ~(0x7ffull << 52)) | ((0x3ffull - 80 + word % 160) << 52);  // near 1
    const Unpacked x = unpack(f64, word);
    if (x.number_class == NumberClass::nan || x.number_class == NumberClass::infinity) continue;
    const auto value = std::bit_cast<double>(word);
    ASSERT_EQ(decimal_text(x), printf_decimal(value)) << std::hex << word;
    if (x.number_class != NumberClass::normal) continue;
    char hex[64];
    std::snprintf(hex, sizeof hex, "%a", value);
    ASSERT_EQ(hex_float_text(x), hex);
  }
}

TEST(Text, of_special_values_is_fixed) {
  constexpr FormatSpec e5m2 = spec_of("e5m2");
  const struct {
    std::uint64_t code;
    const char* decimal;
    const char* hex_float;
  } rows[] = {{0x00, "0", "0x0p+0"},
              {0x80, "-0", "-0x0p+0"},
              {0x7c, "inf", "inf"},
              {0xfc, "-inf", "-inf"},
              {0x7e, "nan", "nan"},
              {0xff, "nan", "nan"},
              {0x01, "0.0000152587890625", "0x1p-16"},
              {0x03, "0.0000457763671875", "0x1.8p-15"},
              {0xfb, "-57344", "-0x1.cp+15"}};
  for (const auto& row : rows) {
    EXPECT_EQ(decimal_text(unpack(e5m2, row.code)), row.decimal);
    EXPECT_EQ(hex_float_text(unpack(e5m2, row.code)), row.hex_float);
  }
}

/// True when a literal reads back as exactly x.
bool reads_back(const std::string& text, const Unpacked& x) {
  const Literal literal = parse_literal(text);
  if (literal.error != LiteralError::none || literal.value.sticky || literal.value.negative != x.negative)
    return false;
  if (x.significand == 0) return literal.value.significand == 0;
  const int width = bit_width(literal.value.significand);
  const uint128 aligned = static_cast<uint128>(x.significand) << (width - bit_width(x.significand));
  return literal.value.significand == aligned &&
         literal.value.exponent + width == x.exponent + bit_width(x.significand);
}

TEST(Text, reads_back_as_the_same_value_in_every_small_format) {
  for (const Format& format : kFormats) {
    if (format.spec.width > 16) continue;
    for (std::uint64_t code = 0; code <= low_mask(format.spec.width);
         code += format.spec.width > 8 ? 97 : 1) {
      const Unpacked x = unpack(format.spec, code);
      if (x.number_class == NumberClass::nan || x.number_class == NumberClass::infinity) continue;
      EXPECT_TRUE(reads_back(decimal_text(x), x)) << format.name << " " << decimal_text(x);
      EXPECT_TRUE(reads_back(hex_float_text(x), x)) << format.name << " " << hex_float_text(x);
    }
  }
}

TEST(Text, of_the_widest_exponents_has_every_digit) {
  const FormatSpec spec = parse_p3109("binary16p1ue").value();
  const std::string huge = decimal_text(unpack(spec, 0xfffd));  // 2^32765
  EXPECT_EQ(huge.size(), 9864u);
  EXPECT_EQ(huge.substr(huge.size() - 3),
            "232");  // the last three digits of 2^n repeat every 100: 2^65 = …232
  const std::string tiny = decimal_text(unpack(spec, 1));  // 2^-32767
  EXPECT_EQ(tiny.size(), 2u + 32767u);
  EXPECT_EQ(tiny.substr(tiny.size() - 3), "125");
  EXPECT_EQ(tiny.substr(0, 100), "0." + std::string(98, '0'));
}

}  // namespace
