// Cast kernels in device code, without any extra nvcc flag. Compiled by tests/consumers/run.sh where there is an nvcc.
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

__global__ void quantize(const unsigned* in, unsigned char* out, int n) {
  constexpr halfulp::FormatSpec from = halfulp::spec_of("f32"), to = halfulp::spec_of("e4m3");
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = static_cast<unsigned char>(halfulp::cast<from, to>(in[i]).code);
}

__global__ void run_time(const unsigned* in, unsigned char* out, halfulp::FormatSpec from, halfulp::FormatSpec to,
                         halfulp::CastPolicy policy) {
  out[threadIdx.x] = static_cast<unsigned char>(halfulp::cast(from, in[threadIdx.x], to, policy).code);
}
