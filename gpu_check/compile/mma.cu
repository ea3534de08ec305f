// Every matrix kernel, for the compile tier.
#include "gpu_check/kernels/promote.cuh"
#include "gpu_check/kernels/tcgen05.cuh"

namespace halfulp::gpu {

using enum MmaInstruction;
#define HALFULP_TILES(kind, f16) \
  template __global__ void mma_tiles<kind, f16>(In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, Out<std::uint32_t>, unsigned);
HALFULP_TILES(f16_f32, false)
HALFULP_TILES(f16_f16, true)
HALFULP_TILES(bf16_f32, false)
HALFULP_TILES(tf32_f32, false)
HALFULP_TILES(e4m3_f32, false)
HALFULP_TILES(e5m2_f32, false)
HALFULP_TILES(e4m3_f16, true)
HALFULP_TILES(e5m2_f16, true)
HALFULP_TILES(s8_s32, false)
HALFULP_TILES(e3m2_f32, false)
HALFULP_TILES(e2m3_f32, false)
HALFULP_TILES(e2m1_f32, false)
HALFULP_TILES(e4m3_e2m1_f32, false)
#define HALFULP_GROUP_TILES(kind, f16) \
  template __global__ void wgmma_tiles<kind, f16>(In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, Out<std::uint32_t>);
HALFULP_GROUP_TILES(wgmma_e4m3_f32, false)
HALFULP_GROUP_TILES(wgmma_e5m2_f32, false)
HALFULP_GROUP_TILES(wgmma_e4m3_f16, true)
#define HALFULP_SCALED_TILES(kernel, kind)                                                                                                    \
  template __global__ void kernel<kind>(In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>,        \
                                        Out<std::uint32_t>);
HALFULP_SCALED_TILES(mma_scaled_tiles, mx_e4m3)
HALFULP_SCALED_TILES(mma_scaled_tiles, mx_e5m2)
HALFULP_SCALED_TILES(mma_scaled_tiles, mx_e2m1)
HALFULP_SCALED_TILES(mma_scaled_tiles, mx_e3m2_e2m3)
HALFULP_SCALED_TILES(mma_scaled_tiles, mxf4)
HALFULP_SCALED_TILES(mma_scaled_tiles, nvf4)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_e4m3_f32)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_e5m2_f32)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_e4m3_f16)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_e3m2_e2m3_f32)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_e4m3_e2m1_f32)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_mx_e4m3)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_mx_e5m2_e3m2)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_mxf4)
HALFULP_SCALED_TILES(tcgen05_tiles, tcgen05_nvf4)

}  // namespace halfulp::gpu
