// IEEE P3109 formats: the table for K = 8 and the closed formulas for every K, P, signedness and range,
// against what the oracle finds by looking at the codes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/oracle/limits.hpp"

namespace {

using namespace halfulp;
using oracle::Exact;
using oracle::Limits;
using oracle::ValueClass;

struct Half {
  int bias;
  std::string max_extended, max_finite, min_normal, min_positive;
};
struct Row {
  int precision;
  bool has_signed;
  Half with_sign, without_sign;
};

// clang-format off
const std::vector<Row> kWidth8 = {
    // P      bias  max se        max sf        min normal  min positive      bias  max ue         max uf         min normal  min positive
    {1, true, {64,  "2^62",       "2^63",       "2^-63",    "2^-63"},         {128, "2^125",       "2^126",       "2^-127",   "2^-127"}},
    {2, true, {32,  "2^31",       "0x1.8p31",   "2^-31",    "2^-32"},         {64,  "0x1.8p62",    "2^63",        "2^-63",    "2^-64"}},
    {3, true, {16,  "49152",      "57344",      "2^-15",    "2^-17"},         {32,  "0x1.4p31",    "0x1.8p31",    "2^-31",    "2^-33"}},
    {4, true, {8,   "224",        "240",        "2^-7",     "2^-10"},         {16,  "53248",       "57344",       "2^-15",    "2^-18"}},
    {5, true, {4,   "15",         "15.5",       "2^-3",     "2^-7"},          {8,   "232",         "240",         "2^-7",     "2^-11"}},
    {6, true, {2,   "3.875",      "3.9375",     "2^-1",     "2^-6"},          {4,   "15.25",       "15.5",        "2^-3",     "2^-8"}},
    {7, true, {1,   "1.96875",    "1.984375",   "1",        "2^-6"},          {2,   "3.90625",     "3.9375",      "2^-1",     "2^-7"}},
    {8, false, {0,  "",           "",           "",         ""},              {1,   "1.9765625",   "1.984375",    "1",        "2^-7"}},
};
// clang-format on

void check_row(const FormatSpec& spec, const Half& half, const std::string& max, std::uint64_t max_code) {
  const Limits& limits = oracle::limits_of(spec);
  EXPECT_EQ(spec.bias, half.bias);
  EXPECT_EQ(limits.largest.code, max_code);
  EXPECT_EQ(limits.largest.value, *oracle::parse_exact(max));
  EXPECT_EQ(limits.smallest_normal->value, *oracle::parse_exact(half.min_normal));
  EXPECT_EQ(limits.smallest_positive.value, *oracle::parse_exact(half.min_positive));
}

TEST(P3109Table, WidthEightIsTheTable) {
  for (const Row& row : kWidth8) {
    SCOPED_TRACE(row.precision);
    if (row.has_signed) {
      check_row(p3109(8, row.precision, true, true), row.with_sign, row.with_sign.max_extended, 0x7e);
      check_row(p3109(8, row.precision, true, false), row.with_sign, row.with_sign.max_finite, 0x7f);
    }
    check_row(p3109(8, row.precision, false, true), row.without_sign, row.without_sign.max_extended, 0xfd);
    check_row(p3109(8, row.precision, false, false), row.without_sign, row.without_sign.max_finite, 0xfe);
  }
}

/// The value of magnitude code `c` by the closed formula; P = 1 has no trailing significand and no
/// subnormals.
Exact closed_value(std::uint64_t c, int p, int bias) {
  if (c == 0) return {};
  if (p == 1) return Exact::pow2(static_cast<int>(c) - bias);
  const std::uint64_t binade = 1ull << (p - 1);
  const int field = static_cast<int>(c / binade);
  if (field == 0) return Exact::scaled_unsigned(c, 2 - bias - p);
  return Exact::scaled_unsigned(binade + c % binade, field - bias - p + 1);
}

TEST(P3109Table, TheClosedFormulasHoldForEveryFormat) {
  int formats = 0;
  for (int k = 3; k <= 8; ++k) {
    for (const bool is_signed : {true, false}) {
      for (int p = 1; p <= (is_signed ? k - 1 : k); ++p) {
        for (const bool extended : {true, false}) {
          const std::string name = "binary" + std::to_string(k) + "p" + std::to_string(p) +
                                   (is_signed ? "s" : "u") + (extended ? "e" : "f");
          SCOPED_TRACE(name);
          ++formats;
          const FormatSpec spec = find_format(name)->spec;
          EXPECT_EQ(spec, p3109(k, p, is_signed, extended));
          const std::uint64_t half = 1ull << (k - 1);
          const std::uint64_t nan = is_signed ? half : 2 * half - 1;
          const std::uint64_t infinity = is_signed ? half - 1 : 2 * half - 2;
          const std::uint64_t positives =
              is_signed ? half : 2 * half - 1;  // magnitudes before the NaN or the sign
          const std::uint64_t largest = extended ? infinity - 1 : positives - 1;
          const int bias = is_signed ? (p <= k - 1 ? 1 << (k - p - 1) : 0) : 1 << (k - p);
          EXPECT_EQ(spec.bias, bias);

          const Limits& limits = oracle::limits_of(spec);
          ASSERT_EQ(limits.nans.size(), 1u);
          EXPECT_EQ(limits.nans[0], (Limits::CodeRange{nan, nan}));
          EXPECT_EQ(limits.zero, 0u);
          EXPECT_FALSE(limits.minus_zero);
          EXPECT_EQ(limits.infinity.has_value(), extended);
          if (extended) {
            EXPECT_EQ(limits.infinity, infinity);
          }
          EXPECT_EQ(limits.minus_infinity.has_value(), extended && is_signed);
          if (extended && is_signed) {
            EXPECT_EQ(limits.minus_infinity, 2 * half - 1);
          }
          EXPECT_EQ(limits.largest, (Limits::Number{closed_value(largest, p, bias), largest}));
          EXPECT_EQ(spec.largest_magnitude(), largest);
          if (extended) {
            EXPECT_EQ(spec.infinity_magnitude(), infinity);
          }
          for (std::uint64_t c = 0; c <= largest; ++c) {
            EXPECT_EQ(oracle::value_of(spec, c).magnitude, closed_value(c, p, bias)) << c;
            if (is_signed && c > 0) {
              const auto negative = oracle::value_of(spec, half | c);
              EXPECT_EQ(negative.number(), -closed_value(c, p, bias)) << c;
              EXPECT_EQ(negative.cls, ValueClass::finite);
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(formats, 2 * (2 + 3 + 4 + 5 + 6 + 7) + 2 * (3 + 4 + 5 + 6 + 7 + 8));
}

TEST(P3109Table, TwoFiniteFormatsAreTheFnuzFormatsCodeForCode) {
  for (std::uint64_t code = 0; code < 256; ++code) {
    EXPECT_EQ(oracle::value_of(p3109(8, 4, true, false), code), oracle::value_of(spec_of("e4m3fnuz"), code))
        << code;
    EXPECT_EQ(oracle::value_of(p3109(8, 3, true, false), code), oracle::value_of(spec_of("e5m2fnuz"), code))
        << code;
  }
}

TEST(P3109Table, WideNamesHaveTheSameLimitsByBothSearches) {
  for (const char* name :
       {"binary16p11se", "binary16p1uf", "binary16p16ue", "binary15p1se", "binary12p12uf", "binary9p8sf"}) {
    const FormatSpec spec = find_format(name)->spec;
    EXPECT_EQ(oracle::bisect_limits(spec), oracle::enumerate_limits(spec)) << name;
  }
}

}  // namespace
