// What a kernel source may use: CUDA itself under nvcc, the thread shim of host/ elsewhere. One source serves both.
//
// In<T>, Out<T>: buffers that a kernel reads, or reads and writes. HALFULP_SHARED(T, name, count): an array of the block.
// Under nvcc these are plain pointers and __shared__ arrays; on the host every access through them is checked.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)

#define HALFULP_KERNEL __global__ void
#define HALFULP_DEVICE __device__ inline
#define HALFULP_SHARED(T, name, count) __shared__ alignas(128) T name[count]

namespace halfulp::gpu {

template <class T>
using In = const T*;
template <class T>
using Out = T*;

/// Byte address of an array inside the shared memory of the block, as matrix descriptors want it.
template <class T>
HALFULP_DEVICE std::uint32_t shared_address(const T* array) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(array));
}

}  // namespace halfulp::gpu

#else

#include "gpu_check/host/arrays.hpp"
#include "gpu_check/host/intrinsics.hpp"
#include "gpu_check/host/scheduler.hpp"

#define HALFULP_KERNEL inline void
#define HALFULP_DEVICE inline
#define HALFULP_SHARED(T, name, count) const auto name = ::halfulp::gpu::host::shared_array<T>(#name, count)

#endif
