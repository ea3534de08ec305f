// Every kernel of the study of approximate functions, for the compile tier.
#include "gpu_check/kernels/mufu.cuh"

namespace halfulp::gpu {

#define HALFULP_STUDY(function)                                                                                                                \
  template __global__ void mufu_sweep<MufuFunction::function>(std::uint64_t, std::uint64_t, std::uint64_t, In<Pair>, Out<unsigned long long>,  \
                                                              Out<unsigned long long>);                                                        \
  template __global__ void mufu_window<MufuFunction::function>(std::uint32_t, std::uint32_t, In<Pair>, Out<std::int8_t>);
HALFULP_STUDY(ex2)
HALFULP_STUDY(ex2_ftz)
HALFULP_STUDY(rcp)
HALFULP_STUDY(rcp_ftz)

}  // namespace halfulp::gpu
