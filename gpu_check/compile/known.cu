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

#if defined(__CUDA_ARCH_FEAT_SM100_ALL)
__global__ void known_tensor_mma(std::uint64_t a, std::uint64_t b, std::uint32_t d, std::uint32_t instruction) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\ntcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p;\n}" ::"r"(d), "l"(a), "l"(b), "r"(instruction));
}
__global__ void known_scaled_tensor_mma(std::uint64_t a, std::uint64_t b, std::uint32_t d, std::uint32_t instruction) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\ntcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%0], [%0], p;\n}" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction));
}
__global__ void known_tensor_copy(std::uint32_t d, std::uint64_t rows) { asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(d), "l"(rows)); }
__global__ void known_tensor_store(std::uint32_t d, std::uint32_t word) { asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(d), "r"(word)); }
__global__ void known_tensor_load(std::uint32_t d, std::uint32_t* out) {
  std::uint32_t word;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;" : "=r"(word) : "r"(d));
  out[threadIdx.x] = word;
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM120_ALL)
#define HALFULP_KNOWN_MMA(name, text)                                                                                                    \
  __global__ void name(const std::uint32_t* x, float* d) {                                                                               \
    float r[4] = {};                                                                                                                     \
    asm volatile("mma.sync.aligned." text : "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])); \
    for (int i = 0; i < 4; ++i) d[i] = r[i];                                                                                             \
  }
#define HALFULP_KNOWN_OPERANDS " {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3}"
HALFULP_KNOWN_MMA(known_qmma, "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32" HALFULP_KNOWN_OPERANDS ";")
HALFULP_KNOWN_MMA(known_scaled_qmma,
                  "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0" HALFULP_KNOWN_OPERANDS ", {%6}, {0, 0}, {%7}, {0, 0};")
HALFULP_KNOWN_MMA(known_omma,
                  "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3" HALFULP_KNOWN_OPERANDS ", {%6}, {0, 0}, {%7}, {0, 0};")
#endif
