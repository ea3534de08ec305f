// An order-free digest of (input, code) pairs: the sum modulo 2^64 of weight(code) * (input^2 + kLinear * input + kConstant).
// Because the second factor is a polynomial, the digest of a run of consecutive inputs with one code has a closed form, and
// the host needs no pass over 2^32 inputs.
#pragma once

#include <cstdint>

#include "halfulp/config.hpp"

namespace halfulp::gpu {

inline constexpr std::uint64_t kDigestLinear = 0x9e3779b97f4a7c15, kDigestConstant = 0xd1b54a32d192ed03;

/// An odd number for every code and lane.
HALFULP_HD constexpr std::uint64_t digest_weight(std::uint32_t code, unsigned lane) {
  std::uint64_t x = (static_cast<std::uint64_t>(lane) << 32 | code) + 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) | 1;
}

HALFULP_HD constexpr std::uint64_t digest_input(std::uint64_t input) { return input * input + kDigestLinear * input + kDigestConstant; }

/// Sum of digest_input over first, first + 1, ..., first + count - 1, modulo 2^64. Requires first + count <= 2^33.
constexpr std::uint64_t digest_inputs(std::uint64_t first, std::uint64_t count) {
  const auto below = [](std::uint64_t n, auto power) {  // sum of i^power for i < n
    const uint128 m = n;
    return power == 1 ? m * (m - 1) / 2 : m * (m - 1) / 2 * (2 * m - 1) / 3;
  };
  if (count == 0) return 0;
  const uint128 end = first + count;
  const auto squares = below(static_cast<std::uint64_t>(end), 2) - (first == 0 ? 0 : below(first, 2));
  const auto sum = below(static_cast<std::uint64_t>(end), 1) - (first == 0 ? 0 : below(first, 1));
  return static_cast<std::uint64_t>(squares) + kDigestLinear * static_cast<std::uint64_t>(sum) + kDigestConstant * count;
}

}  // namespace halfulp::gpu
