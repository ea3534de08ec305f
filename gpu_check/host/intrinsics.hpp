// CUDA's device functions on the host, for the fibers of scheduler.hpp. Arithmetic is IEEE 754, one rounding each.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "gpu_check/host/arrays.hpp"

namespace halfulp::gpu {

// The place of a call, for reports: defaults of its last two parameters.
#define HALFULP_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(HALFULP_HERE) { host::wait_for_block({file, line}); }
inline void __syncwarp(unsigned mask = 0xffffffffu, HALFULP_HERE) { host::wait_for_warp(mask, true, {file, line}); }

namespace host {

/// The values of all lanes of the warp; lanes outside the mask hold whatever they gave last.
template <class T>
std::array<T, kWarp> exchange(unsigned mask, const T& mine, const Where& where) {
  static_assert(sizeof(T) <= kLaneBytes);
  std::memcpy(lane_bytes(threadIdx.x % kWarp), &mine, sizeof mine);
  wait_for_warp(mask, false, where);
  std::array<T, kWarp> all;
  for (unsigned lane = 0; lane < kWarp; ++lane) std::memcpy(&all[lane], lane_bytes(lane), sizeof(T));
  wait_for_warp(mask, false, where);
  return all;
}

}  // namespace host

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, HALFULP_HERE) {
  return host::exchange(mask, value, {file, line})[static_cast<unsigned>(lane) % kWarp];
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, HALFULP_HERE) {
  return host::exchange(mask, value, {file, line})[(threadIdx.x % kWarp ^ static_cast<unsigned>(lanes)) % kWarp];
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, HALFULP_HERE) {
  const unsigned from = threadIdx.x % kWarp + lanes;
  const auto all = host::exchange(mask, value, {file, line});
  return from < kWarp ? all[from] : value;
}
inline unsigned __ballot_sync(unsigned mask, bool vote, HALFULP_HERE) {
  const auto all = host::exchange(mask, vote, {file, line});
  unsigned votes = 0;
  for (unsigned lane = 0; lane < kWarp; ++lane) votes |= ((mask >> lane & 1) != 0 && all[lane] ? 1u : 0u) << lane;
  return votes;
}
inline int __any_sync(unsigned mask, bool vote, HALFULP_HERE) {
  return __ballot_sync(mask, vote, file, line) != 0 ? 1 : 0;
}
inline int __all_sync(unsigned mask, bool vote, HALFULP_HERE) {
  return __ballot_sync(mask, vote, file, line) == mask ? 1 : 0;
}

namespace host {

template <class T, class Change>
T atomic_change(const Pointer<T>& at, Change change) {
  if (!at.memory->check_write(at.index, true)) return all_ones<T>();
  const auto lock = at.memory->atomic_lock();
  const T before = at.load();
  at.store(change(before));
  return before;
}

}  // namespace host

template <class T>
T atomicAdd(const host::Pointer<T>& at, std::type_identity_t<T> value) {
  return host::atomic_change(at, [value](T before) { return static_cast<T>(before + value); });
}
template <class T>
T atomicMin(const host::Pointer<T>& at, std::type_identity_t<T> value) {
  return host::atomic_change(at, [value](T before) { return value < before ? value : before; });
}
template <class T>
T atomicMax(const host::Pointer<T>& at, std::type_identity_t<T> value) {
  return host::atomic_change(at, [value](T before) { return before < value ? value : before; });
}

inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline float __double2float_rn(double x) { return static_cast<float>(x); }

}  // namespace halfulp::gpu
