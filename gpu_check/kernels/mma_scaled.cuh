// Block-scaled mma.sync, sm_120a: FP8, FP6 and FP4 with a scale for every 32 or 16 products.
//
// Scales come in one register of every lane. Selectors say which lanes of a quad and which bytes of the register count; the kernel
// takes other selectors for every tile and fills all that they leave out with NaN codes.
#pragma once

#include "gpu_check/kernels/mma.cuh"

namespace halfulp::gpu {

/// PTX ISA, block scaling of mma.sync: {byte-id, thread-id} of a and of b.
struct ScaleSelectors {
  std::uint16_t byte_a, thread_a, byte_b, thread_b;
};
/// A valid choice for each tile; all of them come in turn, neighbours far apart. One scale is a byte of four, two are a pair of bytes,
/// four the whole register.
HALFULP_HD constexpr ScaleSelectors selectors_of(unsigned tile, unsigned scales) {
  const unsigned places = 4 / scales, choice = tile * 37 % (8 * places * places);
  return {static_cast<std::uint16_t>(choice / 8 % places * scales), static_cast<std::uint16_t>(choice % 2), static_cast<std::uint16_t>(choice / 8 / places * scales),
          static_cast<std::uint16_t>(choice / 2 % 4)};
}
/// A register that holds the scales of `word` from a byte on, and NaN codes elsewhere.
HALFULP_HD constexpr std::uint32_t scale_register(std::uint32_t word, unsigned scales, unsigned byte) {
  const std::uint32_t used = 0xffffffffu >> (8 * (4 - scales)) << (8 * byte);
  return (word << (8 * byte) & used) | ~used;
}

/// What one lane gives: its fragments and its registers of scales.
struct ScaledFragments {
  Fragments f;
  std::uint32_t scale_a, scale_b;
};

#if defined(__CUDACC__)

#define HALFULP_MMA_SCALED(text)                                                                                                             \
  {                                                                                                                                          \
    float r[4] = {__uint_as_float(x.f.c[0]), __uint_as_float(x.f.c[1]), __uint_as_float(x.f.c[2]), __uint_as_float(x.f.c[3])};                \
    asm("mma.sync.aligned." text                                                                                                             \
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%11, %12}, {%13}, {%14, %15};"                              \
        : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3])                                                                                     \
        : "r"(x.f.a[0]), "r"(x.f.a[1]), "r"(x.f.a[2]), "r"(x.f.a[3]), "r"(x.f.b[0]), "r"(x.f.b[1]), "r"(x.scale_a), "h"(s.byte_a),            \
          "h"(s.thread_a), "r"(x.scale_b), "h"(s.byte_b), "h"(s.thread_b));                                                                  \
    for (int i = 0; i < 4; ++i) d[i] = __float_as_uint(r[i]);                                                                                \
  }

template <MmaInstruction I>
HALFULP_DEVICE void mma_sync_scaled([[maybe_unused]] std::uint32_t (&d)[4], [[maybe_unused]] const ScaledFragments& x,
                                    [[maybe_unused]] const ScaleSelectors& s) {
#if HALFULP_HAS_NARROW_MMA_SYNC
#define HALFULP_MX "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32."
  if constexpr (I == MmaInstruction::mx_e4m3) HALFULP_MMA_SCALED(HALFULP_MX "e4m3.e4m3.f32.ue8m0")
  if constexpr (I == MmaInstruction::mx_e5m2) HALFULP_MMA_SCALED(HALFULP_MX "e5m2.e5m2.f32.ue8m0")
  if constexpr (I == MmaInstruction::mx_e2m1) HALFULP_MMA_SCALED(HALFULP_MX "e2m1.e2m1.f32.ue8m0")
  if constexpr (I == MmaInstruction::mx_e3m2_e2m3) HALFULP_MMA_SCALED(HALFULP_MX "e3m2.e2m3.f32.ue8m0")
#undef HALFULP_MX
  if constexpr (I == MmaInstruction::mxf4) HALFULP_MMA_SCALED("m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0")
  if constexpr (I == MmaInstruction::nvf4) HALFULP_MMA_SCALED("m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3")
#endif
}

#else

template <MmaInstruction I>
void mma_sync_scaled(std::uint32_t (&d)[4], const ScaledFragments& mine, const ScaleSelectors& s) {
  constexpr int kDepth = kind_of(I).k();
  constexpr unsigned kScales = MmaNumbers<I>::kScales;
  const auto all = host::exchange(0xffffffffu, mine, {"mma_sync_scaled", 0});
  std::array<Fragments, kWarp> fragments;
  for (unsigned lane = 0; lane < kWarp; ++lane) fragments[lane] = all[lane].f;
  host::WarpTile tile;
  host::gather<I>(tile, fragments);
  const auto bytes = [](std::uint32_t word, unsigned first, std::uint32_t (&scales)[4]) {
    for (unsigned i = 0; i < kScales; ++i) scales[i] = word >> (8 * (first + i)) & 0xff;
  };
  host::each_output(d, [&](int row, int column) {
    // Of a pair of lanes of the quad that holds rows g and g + 8 the first gives the scales of row g; one lane gives those of a column.
    std::uint32_t scale_a[4], scale_b[4];
    bytes(all[static_cast<unsigned>(row % 8 * 4 + 2 * s.thread_a + row / 8)].scale_a, s.byte_a, scale_a);
    bytes(all[static_cast<unsigned>(column * 4 + s.thread_b)].scale_b, s.byte_b, scale_b);
    return host::model_dot(I, {tile.a[row], kDepth}, {tile.b[column], kDepth}, tile.c[row][column], {scale_a, kScales}, {scale_b, kScales});
  });
}

#endif

/// One warp per block and tile of 16 x 8 outputs. Words of scales hold those of one row or column, the first in the low byte.
template <MmaInstruction I>
HALFULP_KERNEL mma_scaled_tiles(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, In<std::uint32_t> scale_a, In<std::uint32_t> scale_b,
                                Out<std::uint32_t> out) {
  using Numbers = MmaNumbers<I>;
  const unsigned tile = blockIdx.x, lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const ScaleSelectors s = selectors_of(tile, Numbers::kScales);
  ScaledFragments x;
  for (unsigned r = 0; r < 4; ++r) x.f.a[r] = a[tile * 128 + (g + 8 * (r & 1)) * 8 + t + 4 * (r >> 1)] << Numbers::kShiftA;
  for (unsigned r = 0; r < 2; ++r) x.f.b[r] = b[tile * 64 + g * 8 + t + 4 * r] << Numbers::kShiftB;
  x.scale_a = t / 2 == s.thread_a ? scale_register(scale_a[tile * 16 + g + 8 * (t % 2)], Numbers::kScales, s.byte_a) : 0xffffffffu;
  x.scale_b = t == s.thread_b ? scale_register(scale_b[tile * 8 + g], Numbers::kScales, s.byte_b) : 0xffffffffu;
  const unsigned top = tile * 128 + g * 8 + 2 * t, bottom = top + 64;
  x.f.c[0] = c[top];
  x.f.c[1] = c[top + 1];
  x.f.c[2] = c[bottom];
  x.f.c[3] = c[bottom + 1];
  std::uint32_t d[4] = {};
  mma_sync_scaled<I>(d, x, s);
  out[top] = d[0];
  out[top + 1] = d[1];
  out[bottom] = d[2];
  out[bottom + 1] = d[3];
}

}  // namespace halfulp::gpu
