// Exact dot products in every width, against rationals: rounded into many formats, with specials, at every vector level.
#include <gtest/gtest.h>

#include <random>

#include "halfulp/accumulation/exact_dot.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::accumulation {
namespace {

/// The sum by rationals; NaN and infinities as IEEE 754 has them for the sum of all terms.
oracle::Value sum_of(const FormatSpec& fa, const FormatSpec& fb, const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                     const std::vector<int>& exponents, std::size_t block) {
  oracle::Exact sum;
  bool plus = false, minus = false, nan = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const oracle::Value x = oracle::value_of(fa, a[k]), y = oracle::value_of(fb, b[k]);
    const bool infinite = x.cls == oracle::ValueClass::infinity || y.cls == oracle::ValueClass::infinity;
    const bool zero = x.cls == oracle::ValueClass::zero || y.cls == oracle::ValueClass::zero;
    if (x.cls == oracle::ValueClass::nan || y.cls == oracle::ValueClass::nan || (infinite && zero)) nan = true;
    else if (infinite) (x.negative != y.negative ? minus : plus) = true;
    else sum += (x.number() * y.number()).times_pow2(exponents.empty() ? 0 : exponents[k / block]);
  }
  if (nan || (plus && minus)) return oracle::nan_value(false);
  if (plus || minus) return oracle::infinity_value(minus);
  return oracle::value_from(sum);
}

/// Sums of these formats are exact in binary64.
std::uint64_t in_f64(const ExactUnpacked& sum) { return rounded_dot(sum, spec_of("f64"), {.overflow = Overflow::overflow}).code; }

void check(const std::string& name_a, const std::string& name_b, int specials_in, std::mt19937_64& random, std::size_t& sums) {
  const FormatSpec fa = find_format(name_a)->spec, fb = find_format(name_b)->spec;
  const ExactDot dot(fa, fb);
  const auto word = [&](const FormatSpec& format) {
    for (;;) {
      const auto code = static_cast<std::uint32_t>((random() & ((std::uint64_t{1} << format.width) - 1)) << format.storage_shift);
      if (oracle::value_of(format, code).is_finite() || random() % 100 < static_cast<std::uint64_t>(specials_in)) return code;
    }
  };
  for (int i = 0; i < 40; ++i, ++sums) {
    const std::size_t count = random() % 200, block = 1 + random() % 40;
    std::vector<std::uint32_t> a, b;
    std::vector<int> exponents;
    for (std::size_t k = 0; k < count; ++k) {
      a.push_back(word(fa));
      b.push_back(word(fb));
      if (k % block == 0) exponents.push_back(static_cast<int>(random() % 509) - 254);
    }
    if (dot.decodes()) {
      const ExactUnpacked decoded = dot.value(dot.decoded_a(a), dot.decoded_b(b));
      EXPECT_EQ(in_f64(decoded), in_f64(dot.value(a, b))) << name_a << " " << name_b << ", decoded";
    }
    const ExactUnpacked plain = dot.value(a, b), scaled = dot.scaled_value(a, b, exponents, block);
    for (const char* target : {"f32", "bf16", "e4m3", "e5m2fnuz", "f64"}) {
      const FormatSpec to = find_format(target)->spec;
      const CastPolicy policy = {.overflow = Overflow::overflow};
      EXPECT_EQ(rounded_dot(plain, to, policy).code, oracle::nearest(sum_of(fa, fb, a, b, {}, 1), to, policy).code)
          << name_a << " " << name_b << " -> " << target << ", " << count << " products";
      EXPECT_EQ(rounded_dot(scaled, to, policy).code, oracle::nearest(sum_of(fa, fb, a, b, exponents, block), to, policy).code)
          << name_a << " " << name_b << " -> " << target << ", scaled";
    }
  }
}

TEST(ExactDots, EveryWidthIsRationalArithmetic) {
  std::mt19937_64 random(5);
  for (const std::string_view level : simd_targets()) {
    ASSERT_TRUE(set_simd_level(level));
    std::size_t sums = 0;
    for (const char* pair : {"e4m3 e4m3", "e5m2 e5m2", "e4m3 e5m2", "e4m3fnuz e4m3fnuz", "e5m2fnuz e4m3fnuz", "e3m2 e2m3", "e2m1 e2m1", "int8 uint8",
                             "f16 f16", "bf16 bf16", "tf32 tf32", "f32 f32", "f32 e2m1", "e4m3_ieee e3m4_ieee"}) {
      const std::string text(pair);
      for (const int specials : {0, 3}) check(text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1), specials, random, sums);
    }
    std::printf("%s: %zu sums into 5 formats, plain and scaled\n", std::string(level).c_str(), sums);
  }
  set_simd_level("");
}

TEST(ExactDots, WidthsAreTheStatedOnes) {
  const auto width = [](const char* a, const char* b) { return ExactDot(find_format(a)->spec, find_format(b)->spec).width(); };
  EXPECT_EQ(width("e4m3", "e4m3"), ExactDot::Width::bits64);
  EXPECT_EQ(width("e2m1", "e3m2"), ExactDot::Width::bits64);
  EXPECT_EQ(width("int8", "int8"), ExactDot::Width::bits64);
  EXPECT_EQ(width("e5m2", "e5m2"), ExactDot::Width::bits128);
  EXPECT_EQ(width("f16", "f16"), ExactDot::Width::bits128);
  EXPECT_EQ(width("bf16", "bf16"), ExactDot::Width::wide);
  EXPECT_EQ(width("f32", "f32"), ExactDot::Width::wide);
}

TEST(ExactDots, MatricesAreTheirDots) {
  const CastPolicy policy = {.overflow = Overflow::overflow};
  std::mt19937_64 random(8);
  for (const char* name : {"e4m3", "e4m3fnuz", "e2m3"}) {
    const FormatSpec format = find_format(name)->spec, f64 = spec_of("f64");
    const ExactDot dot(format, format);
    ASSERT_TRUE(dot.decodes());
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{33}, std::size_t{128}}) {
      constexpr std::size_t kRows = 3, kColumns = 37;  // more than one block of columns
      std::vector<std::vector<std::uint32_t>> words(kRows + kColumns);
      std::vector<ExactDot::Decoded> a, b;
      for (std::size_t r = 0; r < words.size(); ++r) {
        for (std::size_t k = 0; k < count; ++k) {  // NaN in some rows only
          auto code = static_cast<std::uint32_t>(random() & ((std::uint64_t{1} << format.width) - 1));
          if (r % 5 != 1 && !oracle::value_of(format, code).is_finite()) code = 1;
          words[r].push_back(code);
        }
        r < kRows ? a.push_back(dot.decoded_a(words[r])) : b.push_back(dot.decoded_b(words[r]));
      }
      for (const std::string_view level : simd_targets()) {
        ASSERT_TRUE(set_simd_level(level));
        std::vector<ExactUnpacked> out(kRows * kColumns, ExactUnpacked{.negative = true, .sticky = true, .exponent = 7, .significand = 99, .payload = 5});
        dot.values(a, b, out);
        for (std::size_t i = 0; i < out.size(); ++i) {
          const auto &x = words[i / kColumns], &y = words[kRows + i % kColumns];
          EXPECT_EQ(out[i], dot.value(a[i / kColumns], b[i % kColumns]));
          EXPECT_EQ(in_f64(out[i]), oracle::nearest(sum_of(format, format, x, y, {}, 1), f64, policy).code) << name << " " << level << " " << count << " " << i;
        }
      }
    }
    std::vector<ExactDot::Decoded> rows = {dot.decoded_a(std::vector<std::uint32_t>(5)), dot.decoded_a(std::vector<std::uint32_t>(6))};
    std::vector<ExactUnpacked> out(4);
    EXPECT_THROW(dot.values(rows, rows, out), std::invalid_argument);
    EXPECT_THROW(dot.values(std::span(rows).first(1), std::span(rows).first(1), out), std::invalid_argument);
  }
  set_simd_level("");
}

TEST(ExactDots, NarrowFormatsAreDecodedOnce) {
  const auto decodes = [](const char* a, const char* b) { return ExactDot(find_format(a)->spec, find_format(b)->spec).decodes(); };
  EXPECT_TRUE(decodes("e4m3", "e4m3"));
  EXPECT_TRUE(decodes("e3m2", "e2m1"));
  EXPECT_FALSE(decodes("e5m2", "e5m2"));
  EXPECT_FALSE(decodes("f16", "f16"));
  // Long rows of the largest numbers, of both signs and of one: 32-bit lanes would overflow were they not emptied.
  const FormatSpec e4m3 = spec_of("e4m3");
  const ExactDot dot(e4m3, e4m3);
  for (const std::size_t count : {std::size_t{8191}, std::size_t{8200}, std::size_t{65536}}) {
    std::vector<std::uint32_t> a(count, 0x7e), b(count, 0x7e);
    for (const std::string_view level : simd_targets()) {
      ASSERT_TRUE(set_simd_level(level));
      const ExactUnpacked sum = dot.value(dot.decoded_a(a), dot.decoded_b(b));
      EXPECT_EQ(sum.significand, static_cast<uint128>(count) * 448 * 448 * 512 * 512) << level;
      EXPECT_EQ(sum.exponent, -18);
      a[count / 2] = 0xfd;
      b[count - 1] = 0xc1;
      EXPECT_EQ(in_f64(dot.value(dot.decoded_a(a), dot.decoded_b(b))), in_f64(dot.value(a, b))) << level;
      a[count / 2] = b[count - 1] = 0x7e;
    }
  }
  set_simd_level("");
}

}  // namespace
}  // namespace halfulp::accumulation
