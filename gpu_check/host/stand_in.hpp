// Stand-ins for the approximate functions of a GPU: of the same kind (a few last places off), not the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace halfulp::gpu::host {

/// A polynomial of degree 5 for 2^x, the truncated quotient for 1/x. `flush`: subnormals in and out are zeros.
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
  float p = 0x1.5f0p-10f;  // near ln(2)^5 / 120
  for (const float c : {0x1.3b2ab6p-7f, 0x1.c6b08cp-5f, 0x1.ebfbe0p-3f, 0x1.62e430p-1f, 1.0f}) p = std::fmaf(p, r, c);
  return flushed(std::bit_cast<std::uint32_t>(static_cast<float>(std::ldexp(static_cast<double>(p), static_cast<int>(n)))));
}

}  // namespace halfulp::gpu::host
