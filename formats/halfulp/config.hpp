// Host/device markers and the few primitives that the standard library does not offer in device code.
//
// std::bit_cast and std::countl_zero need --expt-relaxed-constexpr under nvcc; the shims below need no flag.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define HALFULP_HD __host__ __device__
#else
#define HALFULP_HD
#endif

#if defined(__GNUC__)
#define HALFULP_INLINE inline __attribute__((always_inline))
#else
#define HALFULP_INLINE inline
#endif

namespace halfulp {

/// 128-bit significands carry exact literals; source formats fit 64 bits.
__extension__ typedef unsigned __int128 uint128;

/// Number of bits needed to write `value`; 0 for 0.
HALFULP_HD constexpr int bit_width(std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) return 64 - __clzll(static_cast<long long>(value));
  int width = 0;
  for (; value != 0; value >>= 1) ++width;
  return width;
#else
  return value == 0 ? 0 : 64 - __builtin_clzll(value);
#endif
}

HALFULP_HD constexpr int bit_width(uint128 value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? 64 + bit_width(high) : bit_width(static_cast<std::uint64_t>(value));
}

/// 2^n - 1 for 0 <= n <= 64.
HALFULP_HD constexpr std::uint64_t low_mask(int n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }

}  // namespace halfulp
