// wgmma with both operands in shared memory, sm_90a. The host body follows the matrix descriptors through shared memory.
#pragma once

#include "gpu_check/kernels/mma.cuh"

namespace halfulp::gpu {

/// Operands lie in shared memory as core matrices of 8 rows of 16 bytes, no swizzle, k fastest: matrix (rows r/8, bytes k/16) begins at
/// ((r / 8) * 2 + k / 16) * 128.
inline constexpr std::uint32_t kAlongK = 128, kAlongRows = 256;
HALFULP_HD constexpr std::uint32_t core_word(std::uint32_t row, std::uint32_t word) {
  return ((row / 8) * 2 + word / 4) * 32 + (row % 8) * 4 + word % 4;
}

/// PTX ISA, matrix descriptor of wgmma: address, leading and stride byte offsets in units of 16 bytes; swizzle 0.
HALFULP_HD constexpr std::uint64_t wgmma_descriptor(std::uint32_t address) {
  return (address >> 4 & 0x3fff) | static_cast<std::uint64_t>(kAlongK >> 4) << 16 | static_cast<std::uint64_t>(kAlongRows >> 4) << 32;
}

#if defined(__CUDACC__)

/// d (of the warp group's 64 x 8 outputs, as the PTX ISA spreads them) += a * b.
template <MmaInstruction I>
HALFULP_DEVICE void wgmma(std::uint32_t (&d)[4], std::uint64_t a, std::uint64_t b) {
#if HALFULP_HAS_WGMMA
  if constexpr (I == MmaInstruction::wgmma_e4m3_f16) {
    asm volatile(
        "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%0, %1}, %2, %3, 1, 1, 1;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
        : "+r"(d[0]), "+r"(d[1])
        : "l"(a), "l"(b)
        : "memory");
  } else {
    float r[4] = {__uint_as_float(d[0]), __uint_as_float(d[1]), __uint_as_float(d[2]), __uint_as_float(d[3])};
    if constexpr (I == MmaInstruction::wgmma_e4m3_f32) {
      asm volatile(
          "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;\n"
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
          : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
          : "l"(a), "l"(b)
          : "memory");
    } else {
      asm volatile(
          "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;\n"
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
          : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])
          : "l"(a), "l"(b)
          : "memory");
    }
    for (int i = 0; i < 4; ++i) d[i] = __float_as_uint(r[i]);
  }
#endif
}

HALFULP_DEVICE void fence_shared_for_matrix_unit() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#else

namespace host {

/// The first bytes of one row through a matrix descriptor without swizzle.
template <std::uint32_t N>
void read_bytes(std::uint64_t descriptor, std::uint32_t row, std::uint32_t (&bytes)[N]) {
  const auto start = static_cast<std::uint32_t>(descriptor & 0x3fff) << 4;
  const auto along_k = static_cast<std::uint32_t>(descriptor >> 16 & 0x3fff) << 4, along_rows = static_cast<std::uint32_t>(descriptor >> 32 & 0x3fff) << 4;
  for (std::uint32_t k = 0; k < N; ++k) {
    const std::uint32_t address = start + row / 8 * along_rows + k / 16 * along_k + row % 8 * 16 + k % 16;
    std::uint32_t first = 0;
    Memory* memory = shared_memory_at(address, first);
    bytes[k] = 0xff;
    if (memory == nullptr) {
      report(FaultKind::out_of_range, "a matrix descriptor leads to byte " + std::to_string(address) + " outside the shared arrays");
    } else if (memory->check_read((address - first) / 4)) {
      bytes[k] = static_cast<std::uint32_t>(memory->data()[address - first]);
    }
  }
}

}  // namespace host

template <MmaInstruction I>
void wgmma(std::uint32_t (&d)[4], std::uint64_t a, std::uint64_t b) {
  constexpr bool kF16 = kind_of(I).output == "f16";
  const std::uint32_t warp = threadIdx.x / kWarp, g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;
  std::uint32_t r[4];
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::uint32_t row[32], column[32];
    host::read_bytes(a, warp * 16 + g + (i < 2 ? 0 : 8), row);
    host::read_bytes(b, t * 2 + (i & 1), column);
    r[i] = host::model_dot(I, row, column, kF16 ? host::element(d, static_cast<int>(i), 16) : d[i]);
  }
  for (int i = 0; i < 4; ++i) d[i] = !kF16 ? r[i] : i < 2 ? r[2 * i] | r[2 * i + 1] << 16 : 0;
}

inline void fence_shared_for_matrix_unit() {}

#endif

/// One warp group per tile of 64 x 8 outputs.
template <MmaInstruction I, bool F16>
HALFULP_KERNEL wgmma_tiles(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, Out<std::uint32_t> out) {
  HALFULP_SHARED(std::uint32_t, left, 64 * 8);
  HALFULP_SHARED(std::uint32_t, right, 8 * 8);
  const unsigned tile = blockIdx.x, thread = threadIdx.x;
  for (unsigned i = thread; i < 64 * 8; i += 128) left[core_word(i / 8, i % 8)] = a[tile * 512 + i];
  if (thread < 64) right[core_word(thread / 8, thread % 8)] = b[tile * 64 + thread];
  fence_shared_for_matrix_unit();
  __syncthreads();
  const unsigned g = thread % 32 / 4, t = thread % 4;
  const unsigned top = tile * 512 + (thread / 32 * 16 + g) * 8 + 2 * t, bottom = top + 64;
  std::uint32_t d[4] = {c[top], c[top + 1], c[bottom], c[bottom + 1]};
  if (F16) {
    d[0] |= d[1] << 16;
    d[1] = d[2] | d[3] << 16;
  }
  wgmma<I>(d, wgmma_descriptor(shared_address(left)), wgmma_descriptor(shared_address(right)));
  out[top] = F16 ? d[0] & 0xffff : d[0];
  out[top + 1] = F16 ? d[0] >> 16 : d[1];
  out[bottom] = F16 ? d[1] & 0xffff : d[2];
  out[bottom + 1] = F16 ? d[1] >> 16 : d[3];
}

}  // namespace halfulp::gpu
