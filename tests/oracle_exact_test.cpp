// Exact rationals and the literals of the command line.
#include "halfulp/oracle/exact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/oracle/value.hpp"

namespace {

using halfulp::oracle::Exact;
using halfulp::oracle::parse_exact;
using halfulp::oracle::parse_value;
using halfulp::oracle::to_decimal_string;
using halfulp::oracle::to_fraction_string;
using halfulp::oracle::to_hex_float;

TEST(Exact, ReadsEveryFormOfLiteral) {
  struct Row {
    const char *text, *fraction, *decimal, *hex;
  };
  const std::vector<Row> rows = {
      {"0.1", "1/10", "0.1", ""},
      {"-1e-3", "-1/1000", "-0.001", ""},
      {"0x1.8p-3", "3/16", "0.1875", "0x1.8p-3"},
      {"0X1.8P+3", "12", "12", "0x1.8p+3"},
      {"3/32", "3/32", "0.09375", "0x1.8p-4"},
      {"6/64", "3/32", "0.09375", "0x1.8p-4"},
      {"-1/3", "-1/3", "", ""},
      {"2^-9", "1/512", "0.001953125", "0x1p-9"},
      {"-2^3", "-8", "-8", "-0x1p+3"},
      {"448", "448", "448", "0x1.cp+8"},
      {"+.5", "1/2", "0.5", "0x1p-1"},
      {"5.", "5", "5", "0x1.4p+2"},
      {"1.25e2", "125", "125", "0x1.f4p+6"},
      {"0", "0", "0", "0x0p+0"},
      {"-0.0", "0", "0", "0x0p+0"},
      {"0x.08p4", "1/2", "0.5", "0x1p-1"},
      {"123456789012345678901234567890", "123456789012345678901234567890", "123456789012345678901234567890",
       "0x1.8ee90ff6c373e0ee4e3f0ad2p+96"},
  };
  for (const Row& row : rows) {
    const auto x = parse_exact(row.text);
    ASSERT_TRUE(x) << row.text;
    EXPECT_EQ(to_fraction_string(*x), row.fraction) << row.text;
    EXPECT_EQ(to_decimal_string(*x), row.decimal) << row.text;
    EXPECT_EQ(to_hex_float(*x), row.hex) << row.text;
  }
}

TEST(Exact, RejectsWhatIsNotALiteralAndSaysWhy) {
  const std::vector<std::string> bad = {"",
                                        "-",
                                        "+",
                                        "abc",
                                        "1.2.3",
                                        "1e",
                                        "1e+",
                                        "1e--3",
                                        "0x10",
                                        "0x1p",
                                        "0xp3",
                                        "3/0",
                                        "3/",
                                        "/3",
                                        "1.5/2",
                                        "3^2",
                                        "2^",
                                        "2^x",
                                        "2^40001",
                                        "1e12001",
                                        "1 ",
                                        " 1",
                                        "--1",
                                        "1/-2",
                                        "0x1.gp1",
                                        "1e99999999999",
                                        "1_000",
                                        "1,5",
                                        ".",
                                        "inf",
                                        "nan",
                                        "0x1p-99999",
                                        std::string(4097, '1')};
  for (const std::string& text : bad) {
    std::string why;
    EXPECT_FALSE(parse_exact(text, &why)) << text;
    EXPECT_FALSE(why.empty()) << text;
  }
  EXPECT_TRUE(parse_exact(std::string(4096, '1')));
  EXPECT_TRUE(parse_exact("2^-40000"));
}

TEST(Exact, ValuesKeepTheSignOfZeroAndReadInfAndNan) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"-0", "-0"},     {"0", "0"},      {"+0.0", "0"},  {"-0x0p0", "-0"}, {"inf", "inf"},
      {"-inf", "-inf"}, {"+inf", "inf"}, {"nan", "nan"}, {"-nan", "nan"},  {"-2^-3", "-0.125"}};
  for (const auto& [text, printed] : rows) {
    const auto value = parse_value(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(to_string(*value), printed) << text;
  }
  EXPECT_TRUE(parse_value("-nan")->negative);
  EXPECT_EQ(to_hex_string(*parse_value("-0")), "-0x0p+0");
  EXPECT_FALSE(parse_value("infinity"));
  EXPECT_FALSE(parse_value("-"));
}

TEST(Exact, ArithmeticIsThatOfRationals) {
  const Exact third = Exact::ratio(1, 3);
  EXPECT_EQ(third + third + third, Exact(1));
  EXPECT_EQ(third * Exact(-6), Exact(-2));
  EXPECT_EQ(Exact(1) / Exact(-3), -third);
  EXPECT_EQ(third - third, Exact());
  EXPECT_TRUE((third - third).is_zero());
  EXPECT_LT(third, Exact::ratio(34, 100));
  EXPECT_GT(third, Exact::ratio(33, 100));
  EXPECT_LT(-third, Exact::ratio(-33, 100));
  EXPECT_EQ(Exact::ratio(-7, 2).floor(), Exact(-4));
  EXPECT_EQ(Exact::ratio(7, 2).floor(), Exact(3));
  EXPECT_EQ(third.floor(), Exact());
  EXPECT_EQ((-third).floor(), Exact(-1));
  EXPECT_EQ(third.floor_log2(), -2);
  EXPECT_EQ(Exact::ratio(5, 3).floor_log2(), 0);
  EXPECT_EQ(Exact::ratio(-7, 3).floor_log2(), 1);
  EXPECT_EQ(Exact::pow2(-1074).floor_log2(), -1074);
  EXPECT_TRUE(Exact::pow2(-5).is_power_of_two());
  EXPECT_FALSE(Exact(3).is_power_of_two());
  EXPECT_FALSE(third.is_dyadic());
  EXPECT_EQ(Exact(std::numeric_limits<std::int64_t>::min()).to_int64(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_FALSE(Exact::pow2(63).to_int64());
  EXPECT_EQ(Exact::from_unsigned(~0ull).to_uint64(), ~0ull);
  EXPECT_FALSE(Exact::pow2(64).to_uint64());
  EXPECT_FALSE(Exact::ratio(1, 2).to_int64());
  EXPECT_THROW(third / Exact(), std::domain_error);
  EXPECT_THROW(Exact::ratio(1, 0), std::domain_error);
  EXPECT_THROW(Exact().floor_log2(), std::domain_error);
  EXPECT_THROW(Exact::from_double(std::numeric_limits<double>::infinity()), std::domain_error);
}

/// Doubles of every binade: the C library prints and reads them exactly, so it must agree digit for digit.
TEST(Exact, AgreesWithTheCLibraryOnDoubles) {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 5000; ++i) {
    double x;
    const std::uint64_t bits = random();
    std::memcpy(&x, &bits, sizeof x);
    if (!std::isfinite(x)) continue;
    const Exact exact = Exact::from_double(x);
    EXPECT_EQ(exact, halfulp::oracle::value_of(halfulp::spec_of("f64"), bits).number());
    char text[2048];
    std::snprintf(text, sizeof text, "%.1100f", x);
    std::string decimal = text;
    decimal.erase(decimal.find_last_not_of('0') + 1);
    if (decimal.back() == '.') decimal.pop_back();
    EXPECT_EQ(to_decimal_string(exact), decimal);
    EXPECT_EQ(parse_exact(decimal), exact);
    EXPECT_EQ(parse_exact(to_hex_float(exact)), exact);
    EXPECT_EQ(parse_exact(to_fraction_string(exact)), exact);
    if (std::isnormal(x)) {
      std::snprintf(text, sizeof text, "%a", x);
      EXPECT_EQ(to_hex_float(exact), text);
    }
  }
}

}  // namespace
