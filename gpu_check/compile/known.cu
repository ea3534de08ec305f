// Kernels of one instruction each: the self-test of the opcode table.
#include <cstdint>

__global__ void known_add(const float* a, float* d) { d[threadIdx.x] = __fadd_rn(a[threadIdx.x], a[threadIdx.x + 32]); }
__global__ void known_multiply(const float* a, float* d) { d[threadIdx.x] = __fmul_rn(a[threadIdx.x], a[threadIdx.x + 32]); }
__global__ void known_fma(const float* a, float* d) { d[threadIdx.x] = __fmaf_rn(a[threadIdx.x], a[threadIdx.x + 32], a[threadIdx.x + 64]); }
__global__ void known_pack(const float* a, unsigned short* d) {
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(d[threadIdx.x]) : "f"(a[threadIdx.x]), "f"(a[threadIdx.x + 32]));
}

// One MUFU each. A division seeds itself with MUFU.RCP and makes a NaN by MUFU.RSQ of a constant.
#define KNOWN_MUFU(name, instruction)                                                \
  __global__ void known_mufu_##name(const float* a, float* d) {                      \
    float y;                                                                         \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(a[threadIdx.x]));                     \
    d[threadIdx.x] = y;                                                              \
  }
KNOWN_MUFU(cos, "cos.approx.ftz.f32")
KNOWN_MUFU(sin, "sin.approx.ftz.f32")
KNOWN_MUFU(ex2, "ex2.approx.ftz.f32")
KNOWN_MUFU(lg2, "lg2.approx.ftz.f32")
KNOWN_MUFU(rcp, "rcp.approx.ftz.f32")
KNOWN_MUFU(rsq, "rsqrt.approx.ftz.f32")
KNOWN_MUFU(sqrt, "sqrt.approx.ftz.f32")
KNOWN_MUFU(tanh, "tanh.approx.f32")
__global__ void known_mufu_half_ex2(const unsigned short* a, unsigned short* d) { asm("ex2.approx.f16 %0, %1;" : "=h"(d[threadIdx.x]) : "h"(a[threadIdx.x])); }
__global__ void known_mufu_half_tanh(const unsigned short* a, unsigned short* d) { asm("tanh.approx.f16 %0, %1;" : "=h"(d[threadIdx.x]) : "h"(a[threadIdx.x])); }
__global__ void known_mufu_rcp64(const double* a, double* d) { asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(d[threadIdx.x]) : "d"(a[threadIdx.x])); }
__global__ void known_mufu_rsq64(const double* a, double* d) { asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(d[threadIdx.x]) : "d"(a[threadIdx.x])); }
__global__ void known_divide(const float* a, float* d) { d[threadIdx.x] = __fdiv_rn(a[threadIdx.x], a[threadIdx.x + 32]); }
__global__ void known_reciprocal(const float* a, float* d) { d[threadIdx.x] = __frcp_rn(a[threadIdx.x]); }
__global__ void known_quotient(const unsigned* a, unsigned* d) { d[threadIdx.x] = a[threadIdx.x] / a[threadIdx.x + 32]; }
