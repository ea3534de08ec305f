// tanh_fma: tanh with the same bits on every platform, on host and device, for soft caps.
//
// With a = |x|. Below 9/16: a + a z Q(z), z = a^2: nothing cancels, and a small a comes back as it is. From there on:
// e = exp2_p6(-2 log2(e) a), r = 1 / (1 + e) by two Newton steps, 1 - 2 e r in one fma. Callers compile without contraction.
#pragma once

#include "halfulp/attention/exp2.hpp"

namespace halfulp::attention {

/// Coefficients of Q, float32 bits, constant term first.
inline constexpr std::uint32_t kTanhCoefficients[5] = {0xbeaaaaa4, 0x3e088639, 0xbd5c84a3, 0x3cac17d8, 0xbbca800d};
inline constexpr std::uint32_t kTanhPolynomialBelow = 0x3f100000;  ///< 9/16
inline constexpr std::uint32_t kTanhExponent = 0xc038aa3b;         ///< -2 log2(e)
/// The line that starts the reciprocal of 1 + e for e in [0, 0.325]: off by at most 1 %.
inline constexpr std::uint32_t kTanhSlope = 0xbf413522, kTanhIntercept = 0x3f7dcc64;

/// tanh(x) in float32; odd. NaN gives 0x7fffffff. Accuracy: docs/attention.md.
HALFULP_HD inline float tanh_fma(float x) {
  if (x != x) return detail::float_of(0x7fffffff);
  const std::uint32_t sign = detail::bits_of(x) & 0x80000000u;
  const float a = detail::float_of(detail::bits_of(x) ^ sign);
  float y;
  if (a < detail::float_of(kTanhPolynomialBelow)) {
    const float z = a * a;
    float q = detail::constant<kTanhCoefficients[4]>();
    q = detail::fused(q, z, detail::constant<kTanhCoefficients[3]>());
    q = detail::fused(q, z, detail::constant<kTanhCoefficients[2]>());
    q = detail::fused(q, z, detail::constant<kTanhCoefficients[1]>());
    q = detail::fused(q, z, detail::constant<kTanhCoefficients[0]>());
    y = detail::fused(a * z, q, a);
  } else {
    const float e = exp2_p6(a * detail::float_of(kTanhExponent));
    float r = detail::fused(e, detail::float_of(kTanhSlope), detail::float_of(kTanhIntercept));
    for (int i = 0; i < 2; ++i) r = detail::fused(r, detail::fused(-e, r, 1.0f - r), r);
    y = detail::fused(-2.0f * e, r, 1.0f);
  }
  return detail::float_of(detail::bits_of(y) | sign);
}

}  // namespace halfulp::attention
