// Products by matrix instructions: the instruction on a device, the model of the modelled GPU on the host, both through the
// fragment layout of the PTX manual ("Matrix fragments for mma.m16n8k32", "wgmma.mma_async": "Register fragments", "K-major").
//
// All operands are 32 bytes deep: 32 codes of 8 bits, 16 of 16 bits. With g = lane / 4 and t = lane % 4,
// A: registers 0..3 hold bytes 4t.. of rows g, g + 8, then bytes 16 + 4t.. of the same rows; B: registers 0, 1 hold bytes 4t..
// and 16 + 4t.. of column g; D: registers 0..3 hold (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1).
#pragma once

#include "gpu_check/attention/plan.hpp"
#include "gpu_check/kernel_language.hpp"

#if !defined(__CUDACC__)
#include "gpu_check/attention/host_mma.hpp"
#endif

namespace halfulp::gpu {

enum class MmaType : std::uint8_t { e4m3, e5m2, s8, f16 };
inline constexpr unsigned kMmaBytes = 32, kMmaRows = 16, kMmaColumns = 8;

struct AFragment {
  std::uint32_t word[4];
};
struct BFragment {
  std::uint32_t word[2];
};
struct DFragment {
  std::uint32_t word[4];
};

/// Place of element (n, k) of a B operand in shared memory: cores of 8 columns by 16 bytes, `depth` elements deep.
template <class Code>
HALFULP_DEVICE unsigned core_index(unsigned n, unsigned k, unsigned depth) {
  constexpr unsigned kWide = 16 / sizeof(Code);
  return ((n / 8) * (depth / kWide) + k / kWide) * 8 * kWide + n % 8 * kWide + k % kWide;
}

#if defined(__CUDACC__)

/// mma.sync m16n8: d = a * b + d.
template <MmaType Type>
HALFULP_DEVICE void mma_sync([[maybe_unused]] DFragment& d, [[maybe_unused]] const AFragment& a, [[maybe_unused]] const BFragment& b) {
#define HALFULP_MMA(text)                                                                                                              \
  asm volatile("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                              \
               : "+r"(d.word[0]), "+r"(d.word[1]), "+r"(d.word[2]), "+r"(d.word[3])                                                    \
               : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]), "r"(b.word[1]))
#if defined(__CUDA_ARCH__)
  if constexpr (Type == MmaType::e4m3) HALFULP_MMA("m16n8k32.row.col.f32.e4m3.e4m3.f32");
  if constexpr (Type == MmaType::e5m2) HALFULP_MMA("m16n8k32.row.col.f32.e5m2.e5m2.f32");
  if constexpr (Type == MmaType::s8) HALFULP_MMA("m16n8k32.row.col.s32.s8.s8.s32");
  if constexpr (Type == MmaType::f16) HALFULP_MMA("m16n8k16.row.col.f32.f16.f16.f32");
#endif
#undef HALFULP_MMA
}

/// wgmma m64n8: four warps with 16 rows each; B by its address in shared memory, cores `core_bytes` apart in k and 8 columns
/// apart by `column_bytes`. Waits for the result. Compiles to a trap where there is no wgmma.
template <MmaType Type>
HALFULP_DEVICE void wgmma([[maybe_unused]] DFragment& d, [[maybe_unused]] const AFragment& a, [[maybe_unused]] std::uint32_t b_address,
                          [[maybe_unused]] std::uint32_t core_bytes, [[maybe_unused]] std::uint32_t column_bytes) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  const auto field = [](std::uint32_t bytes) { return static_cast<std::uint64_t>((bytes & 0x3ffff) >> 4); };
  const std::uint64_t descriptor = field(b_address) | field(core_bytes) << 16 | field(column_bytes) << 32;
#define HALFULP_WGMMA(text)                                                                                                            \
  asm volatile("wgmma.fence.sync.aligned;\n"                                                                                           \
               "wgmma.mma_async.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1;\n"                              \
               "wgmma.commit_group.sync.aligned;\n"                                                                                    \
               "wgmma.wait_group.sync.aligned 0;"                                                                                      \
               : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])                                                                        \
               : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "l"(descriptor)                                        \
               : "memory")
  float x[4];
  for (int i = 0; i < 4; ++i) x[i] = __uint_as_float(d.word[i]);
  if constexpr (Type == MmaType::e4m3) HALFULP_WGMMA("m64n8k32.f32.e4m3.e4m3");
  if constexpr (Type == MmaType::e5m2) HALFULP_WGMMA("m64n8k32.f32.e5m2.e5m2");
  for (int i = 0; i < 4; ++i) d.word[i] = __float_as_uint(x[i]);
#undef HALFULP_WGMMA
#else
  __trap();
#endif
}

/// Writes to shared memory become visible to wgmma; a barrier must follow.
HALFULP_DEVICE void publish_operands() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

#else

template <MmaType Type>
void mma_sync(DFragment& d, const AFragment& a, const BFragment& b) {
  const auto all_a = host::exchange(0xffffffffu, a, {__FILE__, __LINE__});
  const auto all_b = host::exchange(0xffffffffu, b, {__FILE__, __LINE__});
  const unsigned g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; ++i) {
    std::array<std::uint32_t, 8> row, column;  // 32 bytes each
    const unsigned n = 2 * t + i % 2;
    for (unsigned lane = 0; lane < 4; ++lane) {
      row[lane] = all_a[4 * g + lane].word[i / 2];
      row[4 + lane] = all_a[4 * g + lane].word[2 + i / 2];
      column[lane] = all_b[4 * n + lane].word[0];
      column[4 + lane] = all_b[4 * n + lane].word[1];
    }
    d.word[i] = host::modelled_dot(host::MatrixUnit::mma_sync, static_cast<int>(Type), row, column, d.word[i]);
  }
}

template <MmaType Type>
void wgmma(DFragment& d, const AFragment& a, std::uint32_t b_address, std::uint32_t core_bytes, std::uint32_t column_bytes) {
  const auto all_a = host::exchange(0xffffffffu, a, {__FILE__, __LINE__});
  const unsigned g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;
  for (unsigned i = 0; i < 4; ++i) {
    std::array<std::uint32_t, 8> row;
    for (unsigned lane = 0; lane < 4; ++lane) {
      row[lane] = all_a[4 * g + lane].word[i / 2];
      row[4 + lane] = all_a[4 * g + lane].word[2 + i / 2];
    }
    const unsigned n = 2 * t + i % 2;
    const auto column = host::shared_column(b_address + n / 8 * column_bytes + n % 8 * 16, core_bytes);
    d.word[i] = host::modelled_dot(host::MatrixUnit::wgmma, static_cast<int>(Type), row, column, d.word[i]);
  }
}

inline void publish_operands() {}

#endif

}  // namespace halfulp::gpu
