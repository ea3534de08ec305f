// A CUDA kernel as a library for `halfulp verify cast:f32:e4m3 --lib ./cuda_library.so`. Replace `cast_codes` by your kernel.
//   nvcc -std=c++17 -O2 -arch=sm_90 -shared -Xcompiler -fPIC -I ../../vectors cuda_library.cu -o cuda_library.so
#include <cuda_fp8.h>
#include <stdio.h>

#include "halfulp/kernel.h"

__global__ void cast_codes(const float* in, unsigned char* out, unsigned long long count) {
  const unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
  if (i < count) out[i] = __nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, __NV_E4M3);
}

extern "C" const halfulp_kernel_description* halfulp_kernel_info(void) {
  static const char* const specs[] = {"cast:f32:e4m3"};
  static const halfulp_kernel_description description = {sizeof description, HALFULP_KERNEL_ABI, HALFULP_DEVICE_MEMORY, "my CUDA cast", 1, specs};
  return &description;
}

// The columns are device pointers; these formats have no gaps between rows.
extern "C" int32_t halfulp_kernel_run(const halfulp_job* job, halfulp_result* result) {
  const unsigned blocks = (unsigned)((job->rows + 255) / 256);
  cast_codes<<<blocks, 256>>>((const float*)job->inputs[0].data, (unsigned char*)job->outputs[0].data, job->rows);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) snprintf(result->message, result->message_size, "cast_codes: %s", cudaGetErrorString(error));
  return result->error = error == cudaSuccess ? 0 : 1;
}
