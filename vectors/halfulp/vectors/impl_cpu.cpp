// Conversion instructions of the CPU: x86 F16C and AVX512-BF16, Arm FCVT. Compiled for one function each,
// used only where the processor has them.
#include "halfulp/names.hpp"
#include "halfulp/vectors/implementation.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#define HALFULP_X86 1
#elif defined(__aarch64__)
#include <bit>
#endif

namespace halfulp::vectors {
namespace {

#ifdef HALFULP_X86

/// One bit of CPUID; register 0..3 is eax..edx.
bool cpuid_bit(unsigned leaf, unsigned subleaf, int index, int bit) {
  unsigned registers[4] = {};
  if (!__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]))
    return false;
  return ((registers[index] >> bit) & 1) != 0;
}

/// The last, partial vector goes through a padded copy so that every word takes the same instruction.
template <std::size_t Lanes, class From, class To, class Vector>
void by_vectors(std::span<const std::byte> in, std::span<std::byte> out, Vector vector) {
  const std::size_t count = in.size() / sizeof(From);
  std::size_t i = 0;
  for (; i + Lanes <= count; i += Lanes) vector(in.data() + i * sizeof(From), out.data() + i * sizeof(To));
  if (i == count) return;
  std::byte source[Lanes * sizeof(From)] = {};
  std::byte target[Lanes * sizeof(To)] = {};
  std::memcpy(source, in.data() + i * sizeof(From), (count - i) * sizeof(From));
  vector(source, target);
  std::memcpy(out.data() + i * sizeof(To), target, (count - i) * sizeof(To));
}

template <int Mode>
__attribute__((target("avx,f16c"))) void f16c_vector(const std::byte* in, std::byte* out) {
  const __m256 x = _mm256_loadu_ps(reinterpret_cast<const float*>(in));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtps_ph(x, Mode));
}

template <int Mode>
Kernel f16c_kernel() {
  return [](auto in, auto out) { by_vectors<8, std::uint32_t, std::uint16_t>(in, out, f16c_vector<Mode>); };
}

__attribute__((target("avx,f16c"))) void f16c_back_vector(const std::byte* in, std::byte* out) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  _mm256_storeu_ps(reinterpret_cast<float*>(out), _mm256_cvtph_ps(x));
}

__attribute__((target("avx512f,avx512bf16"))) void bf16_vector(const std::byte* in, std::byte* out) {
  const __m512 x = _mm512_loadu_ps(in);
  const __m256bh y = _mm512_cvtneps_pbh(x);
  std::memcpy(out, &y, sizeof y);
}

#endif

}  // namespace

Implementation cpu_f16c() {
  Implementation cpu;
  cpu.name = "cpu-f16c";
  cpu.about = "x86 F16C instructions VCVTPS2PH and VCVTPH2PS";
  cpu.version = "this processor";
#ifdef HALFULP_X86
  if (!__builtin_cpu_supports("avx") || !cpuid_bit(1, 0, 2, 29)) {
    cpu.missing = "this processor has no F16C";
    return cpu;
  }
  cpu.claims = {{"cast:f32:f16@x86_f16c", f16c_kernel<_MM_FROUND_TO_NEAREST_INT>},
                {"cast:f32:f16@x86_f16c,rounding=toward_zero", f16c_kernel<_MM_FROUND_TO_ZERO>},
                {"cast:f32:f16@x86_f16c,rounding=toward_positive", f16c_kernel<_MM_FROUND_TO_POS_INF>},
                {"cast:f32:f16@x86_f16c,rounding=toward_negative", f16c_kernel<_MM_FROUND_TO_NEG_INF>},
                {"cast:f16:f32@x86_f16c", [] {
                   return Kernel([](auto in, auto out) {
                     by_vectors<8, std::uint16_t, std::uint32_t>(in, out, f16c_back_vector);
                   });
                 }}};
#else
  cpu.missing = "not an x86-64 build";
#endif
  return cpu;
}

Implementation cpu_avx512_bf16() {
  Implementation cpu;
  cpu.name = "cpu-avx512-bf16";
  cpu.about = "x86 AVX512-BF16 instruction VCVTNEPS2BF16";
  cpu.version = "this processor";
#ifdef HALFULP_X86
  if (!__builtin_cpu_supports("avx512f") || !cpuid_bit(7, 1, 0, 5)) {
    cpu.missing = "this processor has no AVX512-BF16";
    return cpu;
  }
  cpu.claims = {{"cast:f32:bf16@x86_avx512_bf16", [] {
                   return Kernel([](auto in, auto out) {
                     by_vectors<16, std::uint32_t, std::uint16_t>(in, out, bf16_vector);
                   });
                 }}};
#else
  cpu.missing = "not an x86-64 build";
#endif
  return cpu;
}

Implementation cpu_arm_fcvt() {
  Implementation cpu;
  cpu.name = "cpu-arm-fcvt";
  cpu.about = "Arm FCVT between single, double and half precision";
  cpu.version = "this processor";
#ifdef __aarch64__
  cpu.claims = {
      {"cast:f32:f16@arm_fcvt",
       [] {
         return Kernel([](auto in, auto out) {
           map_words<std::uint32_t, std::uint16_t>(in, out, [](std::uint32_t word) {
             return std::bit_cast<std::uint16_t>(static_cast<__fp16>(std::bit_cast<float>(word)));
           });
         });
       }},
      {"cast:f64:f16@arm_fcvt", [] {
         return Kernel([](auto in, auto out) {
           map_words<std::uint64_t, std::uint16_t>(in, out, [](std::uint64_t word) {
             return std::bit_cast<std::uint16_t>(static_cast<__fp16>(std::bit_cast<double>(word)));
           });
         });
       }}};
#else
  cpu.missing = "not an aarch64 build";
#endif
  return cpu;
}

}  // namespace halfulp::vectors
