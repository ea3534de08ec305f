// wgmma with A in registers and B in shared memory, sm_90a: the instruction on a device; on the host the accumulation model,
// through the register fragments of the PTX ISA ("wgmma.mma_async", A and D of m64nNk32) and the descriptor of B.
#pragma once

#include "gpu_check/kernels/wgmma.cuh"

namespace halfulp::gpu {

/// Place of element (n, k) of a B operand in shared memory, `depth` elements deep: cores of 8 columns by 16 bytes, along k first.
template <class Code>
HALFULP_DEVICE unsigned core_index(unsigned n, unsigned k, unsigned depth) {
  constexpr unsigned kWide = 16 / sizeof(Code);
  return ((n / 8) * (depth / kWide) + k / kWide) * 8 * kWide + n % 8 * kWide + k % kWide;
}

#if defined(__CUDACC__)

/// d (64 x 8, spread over four warps) += a * b; waits for the result. Nothing where there is no wgmma.
template <MmaInstruction I>
HALFULP_DEVICE void wgmma_from_registers([[maybe_unused]] std::uint32_t (&d)[4], [[maybe_unused]] const std::uint32_t (&a)[4],
                                         [[maybe_unused]] std::uint64_t b) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  float r[4] = {__uint_as_float(d[0]), __uint_as_float(d[1]), __uint_as_float(d[2]), __uint_as_float(d[3])};
#define HALFULP_WGMMA(type)                                                                                                      \
  asm volatile(                                                                                                                  \
      "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k32.f32." type "." type                                      \
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"    \
      : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])                                                                           \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                                                       \
      : "memory")
  if constexpr (I == MmaInstruction::wgmma_e4m3_f32) HALFULP_WGMMA("e4m3");
  if constexpr (I == MmaInstruction::wgmma_e5m2_f32) HALFULP_WGMMA("e5m2");
#undef HALFULP_WGMMA
  for (int i = 0; i < 4; ++i) d[i] = __float_as_uint(r[i]);
#endif
}

#else

template <MmaInstruction I>
void wgmma_from_registers(std::uint32_t (&d)[4], const std::uint32_t (&a)[4], std::uint64_t b) {
  const auto all = host::exchange(0xffffffffu, std::array<std::uint32_t, 4>{a[0], a[1], a[2], a[3]}, {__FILE__, __LINE__});
  const unsigned g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;
  const auto start = static_cast<std::uint32_t>(b & 0x3fff) << 4, along_k = static_cast<std::uint32_t>(b >> 16 & 0x3fff) << 4;
  for (unsigned i = 0; i < 4; ++i) {
    std::uint32_t row[32], column[32];
    for (unsigned k = 0; k < 32; ++k) {
      // Registers 0 and 2 hold row g, 1 and 3 row g + 8; 0 and 1 the bytes below 16, 2 and 3 the others.
      row[k] = all[4 * g + k % 16 / 4][i / 2 + k / 16 * 2] >> (8 * (k % 4)) & 0xff;
      const std::uint32_t address = start + k / 16 * along_k + (2 * t + i % 2) * 16 + k % 16;
      std::uint32_t first = 0;
      host::Memory* memory = host::shared_memory_at(address, first);
      column[k] = 0xff;
      if (memory == nullptr || memory->bytes() != memory->count()) {
        host::report(host::FaultKind::out_of_range, "a matrix descriptor leads to byte " + std::to_string(address) + ", which is no operand");
      } else if (memory->check_read(address - first)) {
        column[k] = static_cast<std::uint32_t>(memory->data()[address - first]);
      }
    }
    d[i] = host::model_dot(I, row, column, d[i]);
  }
}

#endif

}  // namespace halfulp::gpu
