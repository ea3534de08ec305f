// Matrix instructions as functions of a warp or warp group, and kernels that run one instruction per tile.
//
// Device bodies are the instructions; host bodies gather the fragments of all lanes by the layout that the PTX ISA gives for
// each element, and call the accumulation model. The kernels load fragments by words, so the two index maps are independent.
#pragma once

#include "gpu_check/kernel_language.hpp"
#include "gpu_check/mma_kinds.hpp"
#include "halfulp/config.hpp"

#if !defined(__CUDACC__)
#include "gpu_check/host/mma_models.hpp"
#endif

namespace halfulp::gpu {

/// Registers of one lane: four of a, two of b, four of c and d (two when they are packed f16).
struct Fragments {
  std::uint32_t a[4], b[2], c[4];
};

#if defined(__CUDACC__)

#define HALFULP_MMA_F32(text)                                                                                                                \
  {                                                                                                                                          \
    float r[4] = {__uint_as_float(f.c[0]), __uint_as_float(f.c[1]), __uint_as_float(f.c[2]), __uint_as_float(f.c[3])};                        \
    asm("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                           \
        : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])                                                                                     \
        : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1]));                                                     \
    for (int i = 0; i < 4; ++i) d[i] = __float_as_uint(r[i]);                                                                                \
  }
#define HALFULP_MMA_WORDS(text)                                                                          \
  {                                                                                                      \
    for (int i = 0; i < 4; ++i) d[i] = f.c[i];                                                           \
    asm("mma.sync.aligned." text " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"       \
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                                 \
        : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1]));                 \
  }
#define HALFULP_MMA_F16(text)                                                                                 \
  {                                                                                                           \
    for (int i = 0; i < 2; ++i) d[i] = f.c[i];                                                                \
    asm("mma.sync.aligned." text " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"                            \
        : "+r"(d[0]), "+r"(d[1])                                                                              \
        : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1]));                      \
  }

template <MmaInstruction I>
HALFULP_DEVICE void mma_sync(std::uint32_t (&d)[4], const Fragments& f) {
  if constexpr (I == MmaInstruction::f16_f32) HALFULP_MMA_F32("m16n8k16.row.col.f32.f16.f16.f32")
  if constexpr (I == MmaInstruction::bf16_f32) HALFULP_MMA_F32("m16n8k16.row.col.f32.bf16.bf16.f32")
  if constexpr (I == MmaInstruction::tf32_f32) HALFULP_MMA_F32("m16n8k8.row.col.f32.tf32.tf32.f32")
  if constexpr (I == MmaInstruction::f16_f16) HALFULP_MMA_F16("m16n8k16.row.col.f16.f16.f16.f16")
  if constexpr (I == MmaInstruction::s8_s32) HALFULP_MMA_WORDS("m16n8k32.row.col.s32.s8.s8.s32")
#if __CUDA_ARCH__ >= 890
  if constexpr (I == MmaInstruction::e4m3_f32) HALFULP_MMA_F32("m16n8k32.row.col.f32.e4m3.e4m3.f32")
  if constexpr (I == MmaInstruction::e5m2_f32) HALFULP_MMA_F32("m16n8k32.row.col.f32.e5m2.e5m2.f32")
  if constexpr (I == MmaInstruction::e4m3_f16) HALFULP_MMA_F16("m16n8k32.row.col.f16.e4m3.e4m3.f16")
  if constexpr (I == MmaInstruction::e5m2_f16) HALFULP_MMA_F16("m16n8k32.row.col.f16.e5m2.e5m2.f16")
#endif
}

#else

namespace host {

/// Element i of a lane's registers: bits of `bytes` bytes, lowest first.
inline std::uint32_t element(const std::uint32_t* registers, int i, int bytes) {
  const int per_word = 4 / bytes;
  const std::uint32_t word = registers[i / per_word];
  return bytes == 4 ? word : word >> (8 * bytes * (i % per_word)) & ((1u << (8 * bytes)) - 1);
}

/// Where the PTX ISA puts element i of a lane: row and k of a, k and column of b. `g` = lane / 4, `t` = lane % 4.
struct Place {
  int outer, k;
};
inline Place place_of_a(int bytes, int g, int t, int i) {
  switch (bytes) {
    case 2: return {i == 0 || i == 1 || i == 4 || i == 5 ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    case 1: return {i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    default: return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  }
}
inline Place place_of_b(int bytes, int g, int t, int i) {
  switch (bytes) {
    case 2: return {g, t * 2 + (i & 1) + (i >= 2 ? 8 : 0)};
    case 1: return {g, t * 4 + (i & 3) + (i >= 4 ? 16 : 0)};
    default: return {g, i == 0 ? t : t + 4};
  }
}

}  // namespace host

template <MmaInstruction I>
void mma_sync(std::uint32_t (&d)[4], const Fragments& mine) {
  constexpr MmaKind kKind = kind_of(I);
  constexpr int kBytes = kKind.element_bytes, kDepth = kKind.k();
  const auto all = host::exchange(0xffffffffu, mine, {"mma_sync", 0});
  std::uint32_t a[16][32], b[8][32], c[16][8];
  for (int lane = 0; lane < 32; ++lane) {
    const Fragments& f = all[static_cast<std::size_t>(lane)];
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 16 / kBytes; ++i) {
      const host::Place at = host::place_of_a(kBytes, g, t, i);
      a[at.outer][at.k] = host::element(f.a, i, kBytes);
    }
    for (int i = 0; i < 8 / kBytes; ++i) {
      const host::Place at = host::place_of_b(kBytes, g, t, i);
      b[at.outer][at.k] = host::element(f.b, i, kBytes);
    }
    for (int i = 0; i < 4; ++i) c[i < 2 ? g : g + 8][t * 2 + (i & 1)] = kKind.output == "f16" ? host::element(f.c, i, 2) : f.c[i];
  }
  const int g = static_cast<int>(threadIdx.x % kWarp) / 4, t = static_cast<int>(threadIdx.x % kWarp) % 4;
  std::uint32_t r[4];
  for (int i = 0; i < 4; ++i) {
    const int row = i < 2 ? g : g + 8, column = t * 2 + (i & 1);
    r[i] = host::model_dot(I, {a[row], kDepth}, {b[column], kDepth}, c[row][column]);
  }
  for (int i = 0; i < 4; ++i) d[i] = kKind.output != "f16" ? r[i] : i < 2 ? r[2 * i] | r[2 * i + 1] << 16 : 0;
}

#endif

/// One warp per tile of 16 x 8 outputs. Words of c and d hold one output each, f16 in the low half.
template <MmaInstruction I, bool F16>
HALFULP_KERNEL mma_tiles(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, Out<std::uint32_t> out, unsigned tiles) {
  const unsigned tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (tile >= tiles) return;
  const unsigned g = lane / 4, t = lane % 4;
  Fragments f;
  for (unsigned r = 0; r < 4; ++r) f.a[r] = a[tile * 128 + (g + 8 * (r & 1)) * 8 + t + 4 * (r >> 1)];
  for (unsigned r = 0; r < 2; ++r) f.b[r] = b[tile * 64 + g * 8 + t + 4 * r];
  const unsigned top = tile * 128 + g * 8 + 2 * t, bottom = top + 64;
  const std::uint32_t c4[4] = {c[top], c[top + 1], c[bottom], c[bottom + 1]};
  for (int i = 0; i < 4; ++i) f.c[i] = F16 ? (i < 2 ? c4[2 * i] | c4[2 * i + 1] << 16 : 0) : c4[i];
  std::uint32_t d[4] = {};
  mma_sync<I>(d, f);
  if (F16) {
    out[top] = d[0] & 0xffff;
    out[top + 1] = d[0] >> 16;
    out[bottom] = d[1] & 0xffff;
    out[bottom + 1] = d[1] >> 16;
  } else {
    out[top] = d[0];
    out[top + 1] = d[1];
    out[bottom] = d[2];
    out[bottom + 1] = d[3];
  }
}

}  // namespace halfulp::gpu
