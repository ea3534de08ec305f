// ex2.approx and rcp.approx over runs of consecutive words, against the correctly rounded values.
#pragma once

#include "gpu_check/kernels/exp2_exact.hpp"

#if !defined(__CUDACC__)
#include "gpu_check/host/stand_in.hpp"
#endif

namespace halfulp::gpu {

enum class MufuFunction : int { ex2, ex2_ftz, rcp, rcp_ftz };

/// The hardware function; on the host a stand-in of float32 steps that is not correctly rounded either.
template <MufuFunction F>
HALFULP_DEVICE std::uint32_t approximate(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  float y;
  const float x = __uint_as_float(word);
  if constexpr (F == MufuFunction::ex2) asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (F == MufuFunction::ex2_ftz) asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (F == MufuFunction::rcp) asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  if constexpr (F == MufuFunction::rcp_ftz) asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return __float_as_uint(y);
#elif defined(__CUDACC__)
  return word;
#else
  return host::stand_in(F == MufuFunction::rcp || F == MufuFunction::rcp_ftz, F == MufuFunction::ex2_ftz || F == MufuFunction::rcp_ftz, word);
#endif
}

/// 1/x rounded once: the quotient of doubles has its boundaries further from float32 ties than its own error (docs/gpu_check.md).
HALFULP_DEVICE std::uint32_t reciprocal_rounded_f32(std::uint32_t word) {
  if ((word & 0x7fffffff) > 0x7f800000u) return 0x7fffffff;
  return __float_as_uint(__double2float_rn(__ddiv_rn(1.0, static_cast<double>(__uint_as_float(word)))));
}

/// What is counted, one unsigned 64-bit word each. A deviation is the distance in float32 codes, of one sign, clamped to kFar.
enum MufuCount : unsigned { kMufuInputs, kMufuClose, kMufuOther, kMufuDeviation0, kFar = 8, kMufuCounts = kMufuDeviation0 + 2 * kFar + 1 };

/// Inputs first + i * stride, i < count. `exponents`: for each sign and exponent field of the input the number of deviating inputs and the
/// largest deviation.
template <MufuFunction F>
HALFULP_KERNEL mufu_sweep(std::uint64_t first, std::uint64_t stride, std::uint64_t count, In<Pair> table, Out<unsigned long long> counts,
                          Out<unsigned long long> exponents) {
  constexpr bool kRcp = F == MufuFunction::rcp || F == MufuFunction::rcp_ftz;
  constexpr bool kFtz = F == MufuFunction::ex2_ftz || F == MufuFunction::rcp_ftz;
  const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  unsigned long long inputs = 0, close_ones = 0, other = 0, deviations[2 * kFar + 1] = {};
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
    const auto word = static_cast<std::uint32_t>(first + i * stride);
    bool close = false;
    std::uint32_t source = word;
    if (kFtz && (word & 0x7f800000u) == 0) source = word & 0x80000000u;  // subnormal inputs are zeros of their sign
    std::uint32_t right = kRcp ? reciprocal_rounded_f32(source) : exp2_rounded_f32(source, table, close);
    if (kFtz && (right & 0x7f800000u) == 0) right &= 0x80000000u;
    const std::uint32_t got = approximate<F>(word);
    ++inputs;
    close_ones += close ? 1 : 0;
    const bool got_nan = (got & 0x7fffffff) > 0x7f800000u, right_nan = (right & 0x7fffffff) > 0x7f800000u;
    if (got_nan || right_nan || (got ^ right) >> 31 != 0) {
      other += got_nan && right_nan ? 0 : 1;  // NaN for a number, or the other sign
      continue;
    }
    long long delta = static_cast<long long>(got & 0x7fffffff) - static_cast<long long>(right & 0x7fffffff);
    delta = delta > static_cast<long long>(kFar) ? static_cast<long long>(kFar) : delta < -static_cast<long long>(kFar) ? -static_cast<long long>(kFar) : delta;
    ++deviations[delta + static_cast<long long>(kFar)];
    if (delta == 0) continue;
    const unsigned row = word >> 23;
    atomicAdd(&exponents[2 * row], 1ull);
    atomicMax(&exponents[2 * row + 1], static_cast<unsigned long long>(delta < 0 ? -delta : delta));
  }
  atomicAdd(&counts[kMufuInputs], inputs);
  atomicAdd(&counts[kMufuClose], close_ones);
  atomicAdd(&counts[kMufuOther], other);
  for (unsigned i = 0; i <= 2 * kFar; ++i) atomicAdd(&counts[kMufuDeviation0 + i], deviations[i]);
}

/// The deviations of first, first + 1, ...: one signed byte each, -128 where a NaN or a sign is wrong.
template <MufuFunction F>
HALFULP_KERNEL mufu_window(std::uint32_t first, std::uint32_t count, In<Pair> table, Out<std::int8_t> deltas) {
  constexpr bool kRcp = F == MufuFunction::rcp || F == MufuFunction::rcp_ftz;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    bool close = false;
    const std::uint32_t right = kRcp ? reciprocal_rounded_f32(first + i) : exp2_rounded_f32(first + i, table, close);
    const std::uint32_t got = approximate<F>(first + i);
    const auto delta = static_cast<long long>(got) - static_cast<long long>(right);
    deltas[i] = static_cast<std::int8_t>(delta > 127 || delta < -127 ? -128 : delta);
  }
}

}  // namespace halfulp::gpu
