// Kernels of one instruction each: the self-test of the opcode table.
#include <cstdint>

__global__ void known_add(const float* a, float* d) { d[threadIdx.x] = __fadd_rn(a[threadIdx.x], a[threadIdx.x + 32]); }
__global__ void known_multiply(const float* a, float* d) { d[threadIdx.x] = __fmul_rn(a[threadIdx.x], a[threadIdx.x + 32]); }
__global__ void known_fma(const float* a, float* d) { d[threadIdx.x] = __fmaf_rn(a[threadIdx.x], a[threadIdx.x + 32], a[threadIdx.x + 64]); }
__global__ void known_mufu(const float* a, float* d) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a[threadIdx.x]));
  d[threadIdx.x] = y;
}
__global__ void known_pack(const float* a, unsigned short* d) {
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(d[threadIdx.x]) : "f"(a[threadIdx.x]), "f"(a[threadIdx.x + 32]));
}
