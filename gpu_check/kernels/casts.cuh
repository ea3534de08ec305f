// One cast of kLanes words, by the method that a CastPlanOnDevice names. Used by the sweep of sweep.cuh.
#pragma once

#include "gpu_check/cast_cases.hpp"
#include "gpu_check/kernel_language.hpp"
#include "halfulp/cast.hpp"

#if defined(__CUDACC__) || defined(HALFULP_HAVE_CUDA_HEADERS)
#define HALFULP_HEADER_CASTS 1
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#endif

namespace halfulp::gpu {

/// A CastCase as a kernel gets it.
struct DeviceCast {
  FormatSpec from, to;
  CastPolicy policy;
  CastMethod method;
  Cvt cvt;
  std::uint8_t source, target;  ///< kSources, kTargets below
  bool saturate;
  int lanes, code_bits;
  std::uint32_t random;  ///< the random word of a stochastic cast
};

enum Source : std::uint8_t { kFromF32, kFromF16, kFromBf16, kFromCode };
enum Target : std::uint8_t { kToE4m3, kToE5m2, kToE2m3, kToE3m2, kToE2m1, kToE8m0, kToHalf };

constexpr std::uint8_t target_of(std::string_view name) {
  constexpr std::string_view names[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "e8m0"};
  for (std::uint8_t i = 0; i < std::size(names); ++i) {
    if (names[i] == name) return i;
  }
  return kToHalf;
}

constexpr DeviceCast device_cast(const CastCase& cast, std::uint32_t random) {
  DeviceCast d{};
  d.from = format_spec(cast.from);
  d.to = format_spec(cast.to);
  d.policy = policy_of(cast);
  d.method = cast.method;
  d.cvt = cast.cvt;
  d.source = cast.from == "f32" ? kFromF32 : cast.from == "f16" ? kFromF16 : cast.from == "bf16" ? kFromBf16 : kFromCode;
  d.target = d.source == kFromCode ? target_of(cast.from) : target_of(cast.to);
  d.saturate = cast.dialect == "cuda_satfinite";
  d.lanes = cast.lanes;
  d.code_bits = cast.code_bits;
  d.random = random;
  return d;
}

inline constexpr int kMaxLanes = 4;

/// Words of the lanes; lane 0 is the low part of a packed operand.
struct LaneWords {
  std::uint32_t word[kMaxLanes];
};

HALFULP_DEVICE std::uint32_t engine_code(const DeviceCast& d, std::uint32_t word, std::uint32_t random) {
  return static_cast<std::uint32_t>(cast(d.from, word, d.to, d.policy, random).code);
}

/// The engine on every lane, packed as the instruction packs.
HALFULP_DEVICE std::uint32_t engine_cast(const DeviceCast& d, const LaneWords& in) {
  std::uint32_t packed = 0;
  for (int lane = 0; lane < d.lanes; ++lane) {
    const std::uint32_t random = d.policy.sr_bits == 8 ? d.random >> (8 * lane) : lane >= 2 ? d.random >> 16 : d.random;
    packed |= engine_code(d, in.word[lane], random) << (d.code_bits * lane % 32);
  }
  return packed;
}

#ifdef HALFULP_HEADER_CASTS
HALFULP_DEVICE __half_raw half_of(std::uint32_t word) {
  __half_raw x;
  x.x = static_cast<unsigned short>(word);
  return x;
}
HALFULP_DEVICE __nv_bfloat16_raw bfloat_of(std::uint32_t word) {
  __nv_bfloat16_raw x;
  x.x = static_cast<unsigned short>(word);
  return x;
}

/// NVIDIA's header: pairs of FP8, single codes of the others.
HALFULP_DEVICE std::uint32_t header_cast(const DeviceCast& d, const LaneWords& in) {
#ifdef HALFULP_SEED_SOFTWARE_HEADER  // for the test of the assertions on PTX
  if (d.source == kFromF16 || d.target == kToE2m1) return engine_cast(d, in);
#endif
  const __nv_saturation_t saturation = d.saturate ? __NV_SATFINITE : __NV_NOSAT;
  const __nv_fp8_interpretation_t fp8 = d.target == kToE4m3 ? __NV_E4M3 : __NV_E5M2;
  const __nv_fp6_interpretation_t fp6 = d.target == kToE2m3 ? __NV_E2M3 : __NV_E3M2;
  const cudaRoundMode e8m0 = d.policy.rounding == Rounding::toward_positive ? cudaRoundPosInf : cudaRoundZero;
  const std::uint32_t word = in.word[0];
  const auto byte = static_cast<unsigned char>(word);
  if (d.source == kFromCode) {
    if (d.target == kToE4m3 || d.target == kToE5m2) {
      const __half2_raw pair = __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(byte | (in.word[1] & 0xff) << 8), fp8);
      return static_cast<std::uint32_t>(pair.x) | static_cast<std::uint32_t>(pair.y) << 16;
    }
    if (d.target == kToE2m1) return __nv_cvt_fp4_to_halfraw(byte, __NV_E2M1).x;
    if (d.target == kToE8m0) return __nv_cvt_e8m0_to_bf16raw(byte).x;
    return __nv_cvt_fp6_to_halfraw(byte, fp6).x;
  }
  if (d.source == kFromF32) {
    const float x = __uint_as_float(word);
    if (d.target == kToE4m3 || d.target == kToE5m2) {
      float2 pair;
      pair.x = x;
      pair.y = __uint_as_float(in.word[1]);
      return __nv_cvt_float2_to_fp8x2(pair, saturation, fp8);
    }
    if (d.target == kToE2m1) return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest);
    if (d.target == kToE8m0) return __nv_cvt_float_to_e8m0(x, saturation, e8m0);
    return __nv_cvt_float_to_fp6(x, fp6, cudaRoundNearest);
  }
  if (d.source == kFromF16) {
    if (d.target == kToE2m1) return __nv_cvt_halfraw_to_fp4(half_of(word), __NV_E2M1, cudaRoundNearest);
    __half2_raw pair;
    pair.x = static_cast<unsigned short>(word);
    pair.y = static_cast<unsigned short>(in.word[1]);
    return __nv_cvt_halfraw2_to_fp8x2(pair, saturation, fp8);
  }
  if (d.target == kToE8m0) return __nv_cvt_bfloat16raw_to_e8m0(bfloat_of(word), saturation, e8m0);
  __nv_bfloat162_raw pair;
  pair.x = static_cast<unsigned short>(word);
  pair.y = static_cast<unsigned short>(in.word[1]);
  return __nv_cvt_bfloat16raw2_to_fp8x2(pair, saturation, fp8);
}
#endif

#if defined(__CUDA_ARCH__)

#if defined(__CUDA_ARCH_FEAT_SM100_ALL) || defined(__CUDA_ARCH_FEAT_SM103_ALL)
#define HALFULP_CVT_RS 1
#endif
#if defined(HALFULP_CVT_RS) || defined(__CUDA_ARCH_FEAT_SM110_ALL) || defined(__CUDA_ARCH_FEAT_SM120_ALL) || defined(__CUDA_ARCH_FEAT_SM121_ALL)
#define HALFULP_CVT_BLACKWELL 1
#endif

// In PTX the first operand goes to the high half of the result.
#define HALFULP_CVT_PAIR(text)                                                                                             \
  {                                                                                                                        \
    unsigned short packed;                                                                                                 \
    asm(text " %0, %2, %1;" : "=h"(packed) : "f"(__uint_as_float(in.word[0])), "f"(__uint_as_float(in.word[1])));          \
    return packed;                                                                                                         \
  }
#define HALFULP_CVT_HALVES(text)                                                             \
  {                                                                                          \
    unsigned short packed;                                                                   \
    asm(text " %0, %1;" : "=h"(packed) : "r"((in.word[0] & 0xffff) | in.word[1] << 16));     \
    return packed;                                                                           \
  }
#define HALFULP_CVT_CODES(text)                                                                                               \
  {                                                                                                                           \
    std::uint32_t packed;                                                                                                     \
    asm(text " %0, %1;" : "=r"(packed) : "h"(static_cast<unsigned short>((in.word[0] & 0xff) | (in.word[1] & 0xff) << 8)));   \
    return packed;                                                                                                            \
  }
#define HALFULP_CVT_FOUR(text)                                                                                              \
  {                                                                                                                         \
    std::uint32_t packed;                                                                                                   \
    asm(text " %0, {%4, %3, %2, %1}, %5;"                                                                                   \
        : "=r"(packed)                                                                                                      \
        : "f"(__uint_as_float(in.word[0])), "f"(__uint_as_float(in.word[1])), "f"(__uint_as_float(in.word[2])),             \
          "f"(__uint_as_float(in.word[3])), "r"(d.random));                                                                 \
    return packed;                                                                                                          \
  }

/// The instruction itself. An instruction that the architecture lacks gives all ones; is_available() keeps it from being asked.
HALFULP_DEVICE std::uint32_t instruction_cast(const DeviceCast& d, const LaneWords& in) {
#ifdef HALFULP_SEED_SOFTWARE_CAST  // for the test of the assertions on PTX
  return engine_cast(d, in);
#endif
  switch (d.cvt) {
#if __CUDA_ARCH__ >= 890 && !defined(HALFULP_SEED_SOFTWARE_CAST)
    case Cvt::e4m3x2_f32: HALFULP_CVT_PAIR("cvt.rn.satfinite.e4m3x2.f32")
    case Cvt::e5m2x2_f32: HALFULP_CVT_PAIR("cvt.rn.satfinite.e5m2x2.f32")
    case Cvt::e4m3x2_f16x2: HALFULP_CVT_HALVES("cvt.rn.satfinite.e4m3x2.f16x2")
    case Cvt::e5m2x2_f16x2: HALFULP_CVT_HALVES("cvt.rn.satfinite.e5m2x2.f16x2")
    case Cvt::f16x2_e4m3x2: HALFULP_CVT_CODES("cvt.rn.f16x2.e4m3x2")
    case Cvt::f16x2_e5m2x2: HALFULP_CVT_CODES("cvt.rn.f16x2.e5m2x2")
#endif
#ifdef HALFULP_CVT_BLACKWELL
    case Cvt::e2m1x2_f32: {
      std::uint32_t packed;
      asm("{ .reg .b8 byte; cvt.rn.satfinite.e2m1x2.f32 byte, %2, %1; cvt.u32.u8 %0, byte; }"
          : "=r"(packed)
          : "f"(__uint_as_float(in.word[0])), "f"(__uint_as_float(in.word[1])));
      return packed;
    }
    case Cvt::f16x2_e2m1x2: {
      std::uint32_t packed;
      asm("{ .reg .b8 byte; cvt.u8.u32 byte, %1; cvt.rn.f16x2.e2m1x2 %0, byte; }" : "=r"(packed) : "r"((in.word[0] & 0xf) | (in.word[1] & 0xf) << 4));
      return packed;
    }
    case Cvt::e2m3x2_f32: HALFULP_CVT_PAIR("cvt.rn.satfinite.e2m3x2.f32")
    case Cvt::e3m2x2_f32: HALFULP_CVT_PAIR("cvt.rn.satfinite.e3m2x2.f32")
    case Cvt::f16x2_e2m3x2: HALFULP_CVT_CODES("cvt.rn.f16x2.e2m3x2")
    case Cvt::f16x2_e3m2x2: HALFULP_CVT_CODES("cvt.rn.f16x2.e3m2x2")
    case Cvt::ue8m0x2_rz_f32: HALFULP_CVT_PAIR("cvt.rz.ue8m0x2.f32")
    case Cvt::ue8m0x2_rp_f32: HALFULP_CVT_PAIR("cvt.rp.ue8m0x2.f32")
    case Cvt::ue8m0x2_rz_sat_f32: HALFULP_CVT_PAIR("cvt.rz.satfinite.ue8m0x2.f32")
    case Cvt::ue8m0x2_rp_sat_f32: HALFULP_CVT_PAIR("cvt.rp.satfinite.ue8m0x2.f32")
    case Cvt::ue8m0x2_rz_bf16x2: HALFULP_CVT_HALVES("cvt.rz.ue8m0x2.bf16x2")
    case Cvt::ue8m0x2_rp_bf16x2: HALFULP_CVT_HALVES("cvt.rp.ue8m0x2.bf16x2")
    case Cvt::bf16x2_ue8m0x2: HALFULP_CVT_CODES("cvt.rn.bf16x2.ue8m0x2")
#endif
#ifdef HALFULP_CVT_RS
    case Cvt::e4m3x4_rs_f32: HALFULP_CVT_FOUR("cvt.rs.satfinite.e4m3x4.f32")
    case Cvt::e5m2x4_rs_f32: HALFULP_CVT_FOUR("cvt.rs.satfinite.e5m2x4.f32")
    case Cvt::e2m3x4_rs_f32: HALFULP_CVT_FOUR("cvt.rs.satfinite.e2m3x4.f32")
    case Cvt::e3m2x4_rs_f32: HALFULP_CVT_FOUR("cvt.rs.satfinite.e3m2x4.f32")
    case Cvt::e2m1x4_rs_f32: {
      unsigned short packed;
      asm("cvt.rs.satfinite.e2m1x4.f32 %0, {%4, %3, %2, %1}, %5;"
          : "=h"(packed)
          : "f"(__uint_as_float(in.word[0])), "f"(__uint_as_float(in.word[1])), "f"(__uint_as_float(in.word[2])), "f"(__uint_as_float(in.word[3])),
            "r"(d.random));
      return packed;
    }
#endif
    default: break;
  }
  return 0xffffffff;
}

#else

/// On the host the engine stands in for the instruction.
HALFULP_DEVICE std::uint32_t instruction_cast(const DeviceCast& d, const LaneWords& in) { return engine_cast(d, in); }

#endif

template <CastMethod Method>
HALFULP_DEVICE std::uint32_t cast_lanes(const DeviceCast& d, const LaneWords& in) {
  if constexpr (Method == CastMethod::engine) return engine_cast(d, in);
#ifdef HALFULP_HEADER_CASTS
  if constexpr (Method == CastMethod::header) return header_cast(d, in);
#endif
  return instruction_cast(d, in);
}

consteval DeviceCast pair_e4m3() {
  return device_cast({CastMethod::ptx, Cvt::e4m3x2_f32, "f32", "e4m3", "cuda_satfinite", Rounding::ties_to_even, 2, 8, Available::from_sm_89}, 0);
}

/// Pairs of float32 to pairs of E4M3: the cast as a kernel uses it, one instruction per pair.
HALFULP_KERNEL cast_pairs_e4m3(In<std::uint32_t> in, Out<std::uint16_t> out, unsigned pairs) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  constexpr DeviceCast kPair = pair_e4m3();
  out[i] = static_cast<std::uint16_t>(instruction_cast(kPair, {{in[2 * i], in[2 * i + 1]}}));
}

/// The integer engine with both formats known to the compiler.
HALFULP_KERNEL cast_codes_e4m3(In<std::uint32_t> in, Out<std::uint8_t> out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  constexpr DeviceCast kPair = pair_e4m3();
  out[i] = static_cast<std::uint8_t>(cast<kPair.from, kPair.to, kPair.policy>(in[i]).code);
}

}  // namespace halfulp::gpu
