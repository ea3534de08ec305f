// The promotion step of a blocked FP8 product: acc = rn(acc + rn(partial * scale)). Multiply and add round on their own; a compiler that
// fuses them changes bits, and the assertions on PTX and cubin look for that.
#pragma once

#include "gpu_check/kernel_language.hpp"

namespace halfulp::gpu {

HALFULP_KERNEL promote(In<float> partial, float scale, Out<float> acc, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float before = acc[i], product = partial[i] * scale;
  acc[i] = before + product;
}

}  // namespace halfulp::gpu
