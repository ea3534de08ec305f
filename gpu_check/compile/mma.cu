// Every matrix kernel, for the compile tier.
#include "gpu_check/kernels/promote.cuh"
#include "gpu_check/kernels/wgmma.cuh"

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
#define HALFULP_GROUP_TILES(kind, f16) \
  template __global__ void wgmma_tiles<kind, f16>(In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, Out<std::uint32_t>);
HALFULP_GROUP_TILES(wgmma_e4m3_f32, false)
HALFULP_GROUP_TILES(wgmma_e5m2_f32, false)
HALFULP_GROUP_TILES(wgmma_e4m3_f16, true)

}  // namespace halfulp::gpu
