// Every cast kernel, for the compile tier.
#include "gpu_check/kernels/sweep.cuh"

namespace halfulp::gpu {

#define HALFULP_SWEEP(method)                                                                                                                       \
  template __global__ void sweep<CastMethod::method>(DeviceCast, Domain, Runs, In<std::uint64_t>, In<TableStep>, unsigned, std::uint64_t, \
                                                     Out<unsigned long long>);
HALFULP_SWEEP(engine)
HALFULP_SWEEP(header)
HALFULP_SWEEP(ptx)

}  // namespace halfulp::gpu
