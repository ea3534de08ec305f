// Every attention kernel, for the compile tier.
#include "gpu_check/kernels/attention.cuh"

#ifdef HALFULP_SEED_EXP2F
// What a port with the C library's exp2 would be.
#define HALFULP_ATTENTION_KERNEL_FAULT kLibraryExp2
#else
#define HALFULP_ATTENTION_KERNEL_FAULT kNoFault
#endif

namespace halfulp::gpu {

template <class C, class Qk, class Pv>
struct Kernel {
  using Cache = C;
  using Code = typename C::Code;
  using QkUnit = Qk;
  using PvUnit = Pv;
};
#define HALFULP_ATTENTION(cache, qk, pv)                                                                                             \
  template __global__ void attention_parts<Kernel<cache, qk, pv>, HALFULP_ATTENTION_KERNEL_FAULT>(AttentionPlan, cache, AttentionInputs<cache::Code>, \
                                                                                                  StageBuffers, PartBuffers);
using enum MmaInstruction;
using Fp8Cache = ContiguousCache<std::uint8_t>;
HALFULP_ATTENTION(Fp8Cache, EmulatedUnit, EmulatedUnit)
#if !defined(HALFULP_SEED_EXP2F) && !defined(HALFULP_SEED_CONTRACTED)
HALFULP_ATTENTION(Fp8Cache, MmaSyncUnit<e4m3_f32>, MmaSyncUnit<e4m3_f32>)
HALFULP_ATTENTION(Fp8Cache, WgmmaUnit<wgmma_e4m3_f32>, WgmmaUnit<wgmma_e4m3_f32>)
HALFULP_ATTENTION(Fp8Cache, WgmmaUnit<wgmma_e5m2_f32>, WgmmaUnit<wgmma_e5m2_f32>)
HALFULP_ATTENTION(Fp8Cache, MmaSyncUnit<s8_s32>, EmulatedUnit)
HALFULP_ATTENTION(PagedCache, EmulatedUnit, EmulatedUnit)
HALFULP_ATTENTION(PagedCache, MmaSyncUnit<e4m3_f32>, MmaSyncUnit<e4m3_f32>)
HALFULP_ATTENTION(KiviCache, EmulatedUnit, EmulatedUnit)
HALFULP_ATTENTION(KiviCache, MmaSyncUnit<f16_f32>, MmaSyncUnit<f16_f32>)
#endif

}  // namespace halfulp::gpu
