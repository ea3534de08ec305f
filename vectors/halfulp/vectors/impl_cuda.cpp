// NVIDIA's cuda_fp8.h, cuda_fp6.h, cuda_fp4.h, cuda_fp16.h and cuda_bf16.h, compiled for the host. No GPU
// is used.
//
// The headers mark their host path with the same functions that device code calls where no instruction
// exists.
#include "halfulp/vectors/implementation.hpp"

#ifdef HALFULP_HAVE_CUDA_HEADERS
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <bit>
#endif

namespace halfulp::vectors {

#ifdef HALFULP_HAVE_CUDA_HEADERS
namespace {

// Source words as the headers' types.
struct F64 {
  using Word = std::uint64_t;
  static constexpr const char* kName = "f64";
  static double read(Word w) { return std::bit_cast<double>(w); }
};
struct F32 {
  using Word = std::uint32_t;
  static constexpr const char* kName = "f32";
  static float read(Word w) { return std::bit_cast<float>(w); }
};
struct F16 {
  using Word = std::uint16_t;
  static constexpr const char* kName = "f16";
  static __half_raw read(Word w) { return __half_raw{w}; }
};
struct Bf16 {
  using Word = std::uint16_t;
  static constexpr const char* kName = "bf16";
  static __nv_bfloat16_raw read(Word w) { return __nv_bfloat16_raw{w}; }
};

// One overload set per target family.
auto to_fp8(double x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return __nv_cvt_double_to_fp8(x, s, f);
}
auto to_fp8(float x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return __nv_cvt_float_to_fp8(x, s, f);
}
auto to_fp8(__half_raw x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return __nv_cvt_halfraw_to_fp8(x, s, f);
}
auto to_fp8(__nv_bfloat16_raw x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return __nv_cvt_bfloat16raw_to_fp8(x, s, f);
}
auto to_fp6(double x, __nv_fp6_interpretation_t f, cudaRoundMode r) {
  return __nv_cvt_double_to_fp6(x, f, r);
}
auto to_fp6(float x, __nv_fp6_interpretation_t f, cudaRoundMode r) {
  return __nv_cvt_float_to_fp6(x, f, r);
}
auto to_fp6(__half_raw x, __nv_fp6_interpretation_t f, cudaRoundMode r) {
  return __nv_cvt_halfraw_to_fp6(x, f, r);
}
auto to_fp6(__nv_bfloat16_raw x, __nv_fp6_interpretation_t f, cudaRoundMode r) {
  return __nv_cvt_bfloat16raw_to_fp6(x, f, r);
}
auto to_fp4(double x, cudaRoundMode r) {
  return __nv_cvt_double_to_fp4(x, __NV_E2M1, r);
}
auto to_fp4(float x, cudaRoundMode r) {
  return __nv_cvt_float_to_fp4(x, __NV_E2M1, r);
}
auto to_fp4(__half_raw x, cudaRoundMode r) {
  return __nv_cvt_halfraw_to_fp4(x, __NV_E2M1, r);
}
auto to_fp4(__nv_bfloat16_raw x, cudaRoundMode r) {
  return __nv_cvt_bfloat16raw_to_fp4(x, __NV_E2M1, r);
}
auto to_e8m0(double x, __nv_saturation_t s, cudaRoundMode r) {
  return __nv_cvt_double_to_e8m0(x, s, r);
}
auto to_e8m0(float x, __nv_saturation_t s, cudaRoundMode r) {
  return __nv_cvt_float_to_e8m0(x, s, r);
}
auto to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t s, cudaRoundMode r) {
  return __nv_cvt_bfloat16raw_to_e8m0(x, s, r);
}
__half_raw to_f16(double x) {
  return __double2half(x);
}
__half_raw to_f16(float x) {
  return __float2half_rn(x);
}
__nv_bfloat16_raw to_bf16(double x) {
  return __double2bfloat16(x);
}
__nv_bfloat16_raw to_bf16(float x) {
  return __float2bfloat16_rn(x);
}

/// Adds the claim that `convert` follows `spec`.
template <class From, class To, class Convert>
void add(std::vector<Claim>& claims, std::string spec, Convert convert) {
  claims.push_back({std::move(spec), [convert] {
                      return Kernel([convert](std::span<const std::byte> in, std::span<std::byte> out) {
                        map_words<From, To>(in, out, convert);
                      });
                    }});
}

template <class Source>
std::string spec(const char* to, const char* dialect, const char* options = "") {
  return "cast:" + std::string(Source::kName) + ":" + to + "@" + dialect + options;
}

template <class Source>
void add_narrow(std::vector<Claim>& claims) {
  using Word = typename Source::Word;
  for (const bool sat : {true, false}) {
    const __nv_saturation_t mode = sat ? __NV_SATFINITE : __NV_NOSAT;
    const char* dialect = sat ? "cuda_satfinite" : "cuda_nosat";
    for (const bool e4m3 : {true, false}) {
      const __nv_fp8_interpretation_t format = e4m3 ? __NV_E4M3 : __NV_E5M2;
      add<Word, std::uint8_t>(claims, spec<Source>(e4m3 ? "e4m3" : "e5m2", dialect),
                              [=](Word w) { return to_fp8(Source::read(w), mode, format); });
    }
    if constexpr (!std::is_same_v<Source, F16>) {
      for (const bool up : {false, true}) {
        const cudaRoundMode round = up ? cudaRoundPosInf : cudaRoundZero;
        add<Word, std::uint8_t>(
            claims,
            spec<Source>("e8m0", dialect, up ? ",rounding=toward_positive" : ",rounding=toward_zero"),
            [=](Word w) { return to_e8m0(Source::read(w), mode, round); });
      }
    }
  }
  for (const bool nearest : {true, false}) {
    const cudaRoundMode round = nearest ? cudaRoundNearest : cudaRoundZero;
    const char* options = nearest ? "" : ",rounding=toward_zero";
    add<Word, std::uint8_t>(claims, spec<Source>("e2m3", "cuda_satfinite", options),
                            [=](Word w) { return to_fp6(Source::read(w), __NV_E2M3, round); });
    add<Word, std::uint8_t>(claims, spec<Source>("e3m2", "cuda_satfinite", options),
                            [=](Word w) { return to_fp6(Source::read(w), __NV_E3M2, round); });
    add<Word, std::uint8_t>(claims, spec<Source>("e2m1", "cuda_satfinite", options),
                            [=](Word w) { return to_fp4(Source::read(w), round); });
  }
}

template <class Source>
void add_wide(std::vector<Claim>& claims) {
  using Word = typename Source::Word;
  add<Word, std::uint16_t>(claims, spec<Source>("f16", "cuda_satfinite"),
                           [](Word w) { return to_f16(Source::read(w)).x; });
  add<Word, std::uint16_t>(claims, spec<Source>("bf16", "cuda_satfinite"),
                           [](Word w) { return to_bf16(Source::read(w)).x; });
}

void add_decodes(std::vector<Claim>& claims) {
  using Byte = std::uint8_t;
  using Half = std::uint16_t;
  add<Byte, Half>(claims, "cast:e4m3:f16@cuda_satfinite",
                  [](Byte w) { return __nv_cvt_fp8_to_halfraw(w, __NV_E4M3).x; });
  add<Byte, Half>(claims, "cast:e5m2:f16@cuda_satfinite",
                  [](Byte w) { return __nv_cvt_fp8_to_halfraw(w, __NV_E5M2).x; });
  add<Byte, Half>(claims, "cast:e2m3:f16@cuda_satfinite",
                  [](Byte w) { return __nv_cvt_fp6_to_halfraw(w, __NV_E2M3).x; });
  add<Byte, Half>(claims, "cast:e3m2:f16@cuda_satfinite",
                  [](Byte w) { return __nv_cvt_fp6_to_halfraw(w, __NV_E3M2).x; });
  add<Byte, Half>(claims, "cast:e2m1:f16@cuda_satfinite",
                  [](Byte w) { return __nv_cvt_fp4_to_halfraw(w, __NV_E2M1).x; });
  add<Byte, Half>(claims, "cast:e8m0:bf16@cuda_satfinite",
                  [](Byte w) { return __nv_cvt_e8m0_to_bf16raw(w).x; });
}

}  // namespace
#endif

Implementation cuda_headers() {
  Implementation library;
  library.name = "cuda-headers";
  library.about = "NVIDIA cuda_fp8.h, fp6, fp4, fp16, bf16 on the host compiler";
#ifdef HALFULP_HAVE_CUDA_HEADERS
  library.version =
      std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
  add_narrow<F32>(library.claims);
  add_narrow<F64>(library.claims);
  add_narrow<F16>(library.claims);
  add_narrow<Bf16>(library.claims);
  add_wide<F32>(library.claims);
  add_wide<F64>(library.claims);
  add_decodes(library.claims);
#else
  library.missing = "the CUDA headers were not found when this was built";
#endif
  return library;
}

}  // namespace halfulp::vectors
