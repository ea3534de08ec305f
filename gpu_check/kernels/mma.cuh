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

/// Numbers of a kind that kernels use.
template <MmaInstruction I>
struct MmaNumbers {
  static constexpr unsigned kScales = static_cast<unsigned>(kind_of(I).scales());
  static constexpr unsigned kBitsA = static_cast<unsigned>(MmaKind::code_bits(kind_of(I).a)), kBitsB = static_cast<unsigned>(MmaKind::code_bits(kind_of(I).b));
  static constexpr std::uint32_t kOutputMask = kind_of(I).output == "f16" ? 0xffff : 0xffffffff;
  static constexpr bool kBytes = kind_of(I).element_bits == 8;  ///< a byte for each element
  /// Lowest bit of a code in the byte that mma.sync takes: FP4 stands in the middle, all others at the bottom.
  static constexpr unsigned kShiftA = kBytes && kBitsA == 4 ? 2 : 0, kShiftB = kBytes && kBitsB == 4 ? 2 : 0;
};

// Targets that have instructions of their own.
#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL) || !defined(__CUDACC__)
#define HALFULP_HAS_TCGEN05 1
#else
#define HALFULP_HAS_TCGEN05 0
#endif
#if defined(__CUDA_ARCH_FEAT_SM120_ALL) || defined(__CUDA_ARCH_FEAT_SM121_ALL) || !defined(__CUDACC__)
#define HALFULP_HAS_NARROW_MMA_SYNC 1
#else
#define HALFULP_HAS_NARROW_MMA_SYNC 0
#endif
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDACC__)
#define HALFULP_HAS_WGMMA 1
#else
#define HALFULP_HAS_WGMMA 0
#endif
/// Whether this code was compiled for a target with the unit.
HALFULP_DEVICE bool is_compiled(MmaUnit unit) {
  return unit == MmaUnit::tcgen05           ? HALFULP_HAS_TCGEN05 != 0
         : unit == MmaUnit::narrow_mma_sync ? HALFULP_HAS_NARROW_MMA_SYNC != 0
         : unit == MmaUnit::wgmma           ? HALFULP_HAS_WGMMA != 0
                                            : true;
}

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
#if HALFULP_HAS_NARROW_MMA_SYNC
  if constexpr (I == MmaInstruction::e3m2_f32) HALFULP_MMA_F32("m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32")
  if constexpr (I == MmaInstruction::e2m3_f32) HALFULP_MMA_F32("m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m3.f32")
  if constexpr (I == MmaInstruction::e2m1_f32) HALFULP_MMA_F32("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32")
  if constexpr (I == MmaInstruction::e4m3_e2m1_f32) HALFULP_MMA_F32("m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32")
#endif
}

#else

namespace host {

/// Element i of a lane's registers, `bits` bits wide, lowest first.
inline std::uint32_t element(const std::uint32_t* registers, int i, int bits) {
  const int per_word = 32 / bits;
  return registers[i / per_word] >> (bits * (i % per_word)) & static_cast<std::uint32_t>(low_mask(bits));
}

/// Where the PTX ISA puts element i of a lane: row and k of a, k and column of b. `g` = lane / 4, `t` = lane % 4.
struct Place {
  int outer, k;
};
inline Place place_of_a(int bits, int g, int t, int i) {
  switch (bits) {
    case 4: return {i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
    case 8: return {i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    case 16: return {i == 0 || i == 1 || i == 4 || i == 5 ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    default: return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  }
}
inline Place place_of_b(int bits, int g, int t, int i) {
  switch (bits) {
    case 4: return {g, t * 8 + (i & 7) + (i >= 8 ? 32 : 0)};
    case 8: return {g, t * 4 + (i & 3) + (i >= 4 ? 16 : 0)};
    case 16: return {g, t * 2 + (i & 1) + (i >= 2 ? 8 : 0)};
    default: return {g, i == 0 ? t : t + 4};
  }
}

/// The matrices of a warp, gathered from the registers of its lanes.
struct WarpTile {
  std::uint32_t a[16][64], b[8][64], c[16][8];
};
template <MmaInstruction I, class Lanes>
void gather(WarpTile& tile, const Lanes& all) {
  constexpr MmaKind kKind = kind_of(I);
  using Numbers = MmaNumbers<I>;
  constexpr int kBits = kKind.element_bits;
  const auto code = [](std::uint32_t bits, unsigned width, unsigned shift) { return Numbers::kBytes ? bits >> shift & ((1u << width) - 1) : bits; };
  for (int lane = 0; lane < 32; ++lane) {
    const Fragments& f = all[static_cast<std::size_t>(lane)];
    const int g = lane / 4, t = lane % 4;
    for (int i = 0; i < 128 / kBits; ++i) {
      const Place at = place_of_a(kBits, g, t, i);
      tile.a[at.outer][at.k] = code(element(f.a, i, kBits), Numbers::kBitsA, Numbers::kShiftA);
    }
    for (int i = 0; i < 64 / kBits; ++i) {
      const Place at = place_of_b(kBits, g, t, i);
      tile.b[at.outer][at.k] = code(element(f.b, i, kBits), Numbers::kBitsB, Numbers::kShiftB);
    }
    for (int i = 0; i < 4; ++i) tile.c[i < 2 ? g : g + 8][t * 2 + (i & 1)] = kKind.output == "f16" ? element(f.c, i, 16) : f.c[i];
  }
}

/// Calls dot(row, column) for the four outputs of the running lane.
template <class Dot>
void each_output(std::uint32_t (&d)[4], Dot dot) {
  const int g = static_cast<int>(threadIdx.x % kWarp) / 4, t = static_cast<int>(threadIdx.x % kWarp) % 4;
  for (int i = 0; i < 4; ++i) d[i] = dot(i < 2 ? g : g + 8, t * 2 + (i & 1));
}

}  // namespace host

template <MmaInstruction I>
void mma_sync(std::uint32_t (&d)[4], const Fragments& mine) {
  constexpr MmaKind kKind = kind_of(I);
  constexpr int kDepth = kKind.k();
  const auto all = host::exchange(0xffffffffu, mine, {"mma_sync", 0});
  host::WarpTile tile;
  host::gather<I>(tile, all);
  std::uint32_t r[4];
  host::each_output(r, [&](int row, int column) { return host::model_dot(I, {tile.a[row], kDepth}, {tile.b[column], kDepth}, tile.c[row][column]); });
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
  for (unsigned r = 0; r < 4; ++r) f.a[r] = a[tile * 128 + (g + 8 * (r & 1)) * 8 + t + 4 * (r >> 1)] << MmaNumbers<I>::kShiftA;
  for (unsigned r = 0; r < 2; ++r) f.b[r] = b[tile * 64 + g * 8 + t + 4 * r] << MmaNumbers<I>::kShiftB;
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
