// exp2_p6 and tanh_fma: pinned bits, their stated errors against independent values, the same bits at every SIMD level.
// Over all float32: `attention_study exp2` and `tanh` (docs/attention.md).
#include "halfulp/attention/exp2.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/transcendental.hpp"

namespace halfulp::attention {
namespace {

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float number(std::uint64_t word) { return std::bit_cast<float>(static_cast<std::uint32_t>(word)); }

/// 2^x to binary64 by the 300-bit oracle.
double exact_exp2(float x) {
  constexpr FormatSpec kF32 = spec_of("f32"), kF64 = spec_of("f64");
  return std::bit_cast<double>(oracle::nearest(oracle::exp2_rounded(oracle::value_of(kF32, bits(x)), kF64), kF64, {}).code);
}

double ulps(float y, double exact) { return std::fabs(y - exact) / std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23); }

TEST(Exp2, PinnedBits) {
  for (int n = -126; n < 128; ++n) EXPECT_EQ(bits(exp2_p6(static_cast<float>(n))), static_cast<std::uint32_t>(n + 127) << 23) << n;
  EXPECT_EQ(bits(exp2_p6(-10.221991f)), 0x3a5b7d5du);
  EXPECT_EQ(bits(exp2_p6(std::nextafter(-126.0f, -200.0f))), 0u);
  EXPECT_EQ(bits(exp2_p6(-std::numeric_limits<float>::infinity())), 0u);
  EXPECT_EQ(bits(exp2_p6(128.0f)), 0x7f800000u);
  EXPECT_EQ(bits(exp2_p6(std::nextafter(128.0f, 0.0f))) >> 23, 254u);
  EXPECT_EQ(bits(exp2_p6(number(0xffc00001))), 0x7fffffffu);
  EXPECT_EQ(bits(exp2_p6(-0.0f)), 0x3f800000u);
  for (const std::uint32_t tiny : {0x00000001u, 0x80000001u, 0x007fffffu}) EXPECT_EQ(bits(exp2_p6(number(tiny))), 0x3f800000u);
}

TEST(Exp2, WithinItsStatedErrorOfTheOracle) {
  double worst = 0;
  int not_nearest = 0, count = 0;
  const auto check = [&](std::uint64_t word) {
    const float x = number(word), y = exp2_p6(x);
    const double exact = exact_exp2(x), error = ulps(y, exact);
    worst = std::max(worst, error);
    not_nearest += y != static_cast<float>(exact);
    ++count;
  };
  for (std::uint64_t word = 0x80000000; word <= 0xc2fc0000; word += 400009) check(word);
  for (std::uint64_t word = 0; word <= 0x41100000; word += 400009) check(word);
  for (std::uint64_t word = 0xbeff9abf - 200; word <= 0xbeff9abf + 200; ++word) check(word);
  EXPECT_EQ(bits(number(0xbeff9abf)), 0xbeff9abfu);
  EXPECT_LE(worst, 0.7783);
  EXPECT_GE(worst, 0.7781);  // at 0xbeff9abf
  EXPECT_GT(not_nearest, 0);
  EXPECT_GT(count, 5000);
}

/// The kernel's exponents run in vectors: one row of scores, every level, every place in a vector.
TEST(Exp2, TheKernelGivesTheseBitsAtEveryLevel) {
  const KernelSpec spec = parse_spec("reference,qk_model=exact,q_format=f32,k_format=f32,offset=0,tile=1000000");
  std::vector<std::uint32_t> k = {0};
  for (std::uint64_t word = 0x80000001; word <= 0xc3100000; word += 99991) k.push_back(static_cast<std::uint32_t>(word));
  const std::uint32_t one = 0x3f800000;
  const std::vector<std::uint32_t> v(k.size(), 0x38);
  for (const std::string_view level : simd_targets()) {
    ASSERT_TRUE(set_simd_level(level));
    const Stages got = run(spec, {{.keys = k.size()}, {&one, 1}, k, v, {}, {}, {}}, Keep::all);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < k.size(); ++i) wrong += got.P[i] != bits(exp2_p6(number(got.t[i])));
    EXPECT_EQ(wrong, 0u) << level;
    EXPECT_EQ(got.t[100], k[100]);
  }
  set_simd_level("");
}

TEST(Tanh, PinnedBitsAndSymmetry) {
  EXPECT_EQ(bits(tanh_fma(0.0f)), 0u);
  EXPECT_EQ(bits(tanh_fma(-0.0f)), 0x80000000u);
  EXPECT_EQ(tanh_fma(100.0f), 1.0f);
  EXPECT_EQ(tanh_fma(-std::numeric_limits<float>::infinity()), -1.0f);
  EXPECT_EQ(bits(tanh_fma(number(0xffc00001))), 0x7fffffffu);
  for (std::uint64_t word = 0; word < 0x00800000; word += 4099) EXPECT_EQ(bits(tanh_fma(number(word))), word);  // subnormals
  for (std::uint64_t word = 0; word <= 0x7f800000; word += 10007) EXPECT_EQ(bits(tanh_fma(number(word | 0x80000000))), bits(tanh_fma(number(word))) | 0x80000000);
}

TEST(Tanh, WithinItsStatedErrorAndNeverFalling) {
  double small = 0, large = 0;
  float before = 0;
  for (std::uint64_t word = 0x00800000; word <= 0x41200000; word += 1009) {
    const float x = number(word), y = tanh_fma(x);
    const auto exact = static_cast<double>(std::tanh(static_cast<long double>(x)));
    double& worst = x < 0.5625f ? small : large;
    worst = std::max(worst, ulps(y, exact));
    EXPECT_GE(y, before);
    before = y;
  }
  EXPECT_LE(small, 0.7484);
  EXPECT_LE(large, 1.3602);
  EXPECT_GE(large, 1.2);  // the figures mean something
}

}  // namespace
}  // namespace halfulp::attention
