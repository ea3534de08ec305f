// Stand-ins for the approximate functions of a GPU: of the same kind (a few last places off), not the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace halfulp::gpu::host {

/// The polynomial of the reference attention kernel for 2^x, the truncated quotient for 1/x. `flush`: subnormals in and out are zeros.
inline std::uint32_t stand_in(bool reciprocal, bool flush, std::uint32_t word) {
  const auto flushed = [flush](std::uint32_t bits) { return flush && (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits; };
  word = flushed(word);
  const float x = std::bit_cast<float>(word);
  if (std::isnan(x)) return 0x7fffffff;
  if (reciprocal) {
    if (x == 0 || std::isinf(x)) return std::bit_cast<std::uint32_t>(1.0f / x);
    const double quotient = 1.0 / static_cast<double>(x);
    const auto nearest = static_cast<float>(quotient);
    const bool above = std::fabs(static_cast<double>(nearest)) > std::fabs(quotient);
    return flushed(std::bit_cast<std::uint32_t>(nearest) - (above ? 1u : 0u));
  }
  if (x >= 128.0f) return 0x7f800000u;
  if (x < -149.5f) return 0;
  const float n = std::nearbyintf(x), r = x - n;
  float p = std::bit_cast<float>(0x392109f3);
  for (const std::uint32_t c : {0x3aafa1c4u, 0x3c1d9693u, 0x3d635785u, 0x3e75fdeeu, 0x3f317218u, 0x3f800000u}) p = std::fmaf(p, r, std::bit_cast<float>(c));
  return flushed(std::bit_cast<std::uint32_t>(static_cast<float>(std::ldexp(static_cast<double>(p), static_cast<int>(n)))));
}

}  // namespace halfulp::gpu::host
