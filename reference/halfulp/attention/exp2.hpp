// exp2_p6: exp2 with the same bits on every platform, on host and device.
//
// Callers compile without contraction (-ffp-contract=off, nvcc -fmad=false): every step below is one IEEE operation.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "halfulp/config.hpp"

namespace halfulp::attention {

/// Horner coefficients of 2^r on |r| <= 1/2, float32 bits; the constant term is 1.
inline constexpr std::uint32_t kExp2Coefficients[6] = {0x3f317218, 0x3e75fdee, 0x3d635785, 0x3c1d9693, 0x3aafa1c4, 0x392109f3};

namespace detail {
HALFULP_HD inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
/// An entry of a table that device code does not have.
template <std::uint32_t Bits>
HALFULP_HD inline float constant() {
  return float_of(Bits);
}
HALFULP_HD inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
HALFULP_HD inline float fused(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
}  // namespace detail

/// 2^x in float32, at most 0.7782 ulp off in [-126, 0] and 0.7698 in [0, 9], exact at integers; not strictly monotone.
/// NaN gives 0x7fffffff, x < -126 gives +0, x >= 128 gives +Inf.
HALFULP_HD inline float exp2_p6(float x) {
  if (x != x) return detail::float_of(0x7fffffff);
  if (x < -126.0f) return 0.0f;
  if (x >= 128.0f) return detail::float_of(0x7f800000);
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, ties to even
  const float shifted = x + kMagic;
  const float r = x - (shifted - kMagic);
  float p = detail::constant<kExp2Coefficients[5]>();
  p = detail::fused(p, r, detail::constant<kExp2Coefficients[4]>());
  p = detail::fused(p, r, detail::constant<kExp2Coefficients[3]>());
  p = detail::fused(p, r, detail::constant<kExp2Coefficients[2]>());
  p = detail::fused(p, r, detail::constant<kExp2Coefficients[1]>());
  p = detail::fused(p, r, detail::constant<kExp2Coefficients[0]>());
  p = detail::fused(p, r, 1.0f);
  return detail::float_of(detail::bits_of(p) + ((detail::bits_of(shifted) - 0x4b400000u) << 23));
}

}  // namespace halfulp::attention
