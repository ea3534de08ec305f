// KV caches as engines store them: FP8, KIVI, NVFP4, and the integers of attention kernels.
#include <array>

#include "halfulp/recipes/registry.hpp"
#include "halfulp/recipes/registry_parts.hpp"

namespace halfulp::recipes {
namespace {

// Statements that several entries share.
#define KV_FP8_FACTS                                                                            \
  "fact no clamp before the cast: NaN gives 0x7f, Inf and overflow give 448 of their sign\n"    \
  "fact one byte per value; -1.0 in a checkpoint means no scale; one kv_scale serves K and V\n" \
  "fact scale 0: 0/0 is NaN (0x7f), every other value +-448; all read back as NaN or 0\n"

#define KIVI_STEPS                                                                                         \
  "precision f16\n"                                                                                        \
  "element uint2 uint4 uint8\n"                                                                            \
  "amax propagate\n"                                                                                       \
  "h = to(f16 x)\n"                                                                                        \
  "zero f16:positive lo\n"                                                                                 \
  "scale f16:positive (to(f16 hi) - Z) / levels\n"                                                         \
  "code element rne(min(max((h - Z) / S, 0), levels))\n"                                                   \
  "value v * S + Z\n"                                                                                      \
  "fact every step in binary16; the minimum is stored as it is, so zero need not be representable\n"       \
  "fact mx = mn: the original divides 0 by 0 and leaves the code to the device; here code 0, which reads " \
  "back mn\n"                                                                                              \
  "fact a step that underflows to 0: the maximum divides to Inf and gives the largest code; all read "     \
  "back mn\n"                                                                                              \
  "fact a NaN in the group makes minimum and step NaN; codes 0, values NaN\n"                              \
  "fact Inf, or a range above 65504, makes the step Inf; codes 0, values NaN\n"                            \
  "fact the most recent 128 tokens stay in full precision: kv_cache.hpp\n"

#define SAGE_FACTS                                                                                    \
  "fact the codes are those of K minus its mean over the tokens; q·mean shifts all scores of a row " \
  "alike\n"                                                                                           \
  "fact mean: column_means() in kv_cache.hpp, rounded to the input's type; 0 for Q\n"                 \
  "fact one byte per value\n"

constexpr auto kTable = std::to_array<NamedRecipe>({
    {"kv_fp8/vllm",
     "granularity tensor\n"
     "input scale per block = 1\n"
     "scale f32:positive scale\n"
     "code e4m3:positive x / S\n"
     "value to(bf16 v * S)\n"
     "fact read: FP8 to half is exact, times the scale in binary32, rounded once to bf16\n" KV_FP8_FACTS,
     "source"},
    {"kv_fp8/vllm_packed",
     "granularity tensor\n"
     "input scale per block = 1\n"
     "scale f32:positive scale\n"
     "code e4m3:positive x / S\n"
     "value to(bf16 to(f16 v * S))\n"
     "fact read of 2 or 4 values at once: the product is rounded to half, then to bf16\n" KV_FP8_FACTS,
     "source"},
    {"kv_fp8/vllm_half",
     "granularity tensor\n"
     "input scale per block = 1\n"
     "scale f32:positive scale\n"
     "code e4m3:positive x / S\n"
     "value to(f16 v * S)\n"
     "fact read into half: scalar and packed reads agree\n" KV_FP8_FACTS,
     "source"},
    {"kv_fp8/vllm_per_head",
     "granularity row\n"
     "input scale per block = 1\n"
     "scale f32:positive scale\n"
     "code e4m3:positive x / S\n"
     "value to(bf16 v * S)\n"
     "fact a row holds all tokens and channels of one kv head\n" KV_FP8_FACTS,
     "source"},
    {"kv_fp8/vllm_calculated",
     "granularity tensor\n"
     "amax propagate\n"
     "input range = 200\n"
     "scale f32:positive A / range\n"
     "code e4m3:positive x / S\n"
     "value to(bf16 v * S)\n"
     "fact the scale of the first batch: A/200 for Q and K, not A/448\n"
     "fact an all-zero first batch has scale 0 and codes 0x7f\n" KV_FP8_FACTS,
     "source"},
    {"kv_fp8/vllm_calculated_v",
     "granularity tensor\n"
     "amax propagate\n"
     "input range = 100\n"
     "scale f32:positive A / range\n"
     "code e4m3:positive x / S\n"
     "value to(bf16 v * S)\n"
     "fact the scale of the first batch: A/100 for V, not A/448\n"
     "fact an all-zero first batch has scale 0 and codes 0x7f\n" KV_FP8_FACTS,
     "source"},
    {"kv_fp8/scale_1",
     "granularity tensor\n"
     "code e4m3:positive x\n"
     "value v\n"
     "fact what a cache does without calibration: 448 and above saturate, 2^-10 and below vanish\n"
     "fact no scale is stored; one byte per value\n",
     "derived"},
    {"kivi/k",
     "granularity tile 32 1\n" KIVI_STEPS
     "fact a group is 32 consecutive tokens of one channel and head; rows are the tokens of one head\n"
     "fact packed in int32 along the tokens, element j of a word at bit b·j\n",
     "source"},
    {"kivi/v",
     "granularity group 32\n" KIVI_STEPS "fact a group is 32 consecutive channels of one token\n"
     "fact packed in int32 along the channels, element j of a word at bit b·j\n",
     "source"},
    {"sage/int8_qk",
     "granularity tile 64 128\n"
     "input mean per column = 0\n"
     "y = x - mean\n"
     "m = max(largest(y), 1e-7)\n"
     "scale f32 m / 127\n"
     "f = 127 / m\n"
     "code int8:nan_to_zero y * f\n"
     "value v * S\n"
     "fact stored m/127, used 127/m; a NaN is left out of the maximum and gives 0\n"
     "fact 64 tokens of one head of 128 channels; Q takes 128 tokens\n" SAGE_FACTS,
     "source"},
    {"sage/int8_qk_triton",
     "granularity tile 64 128\n"
     "input mean per column = 0\n"
     "y = to(f16 x) - to(f16 mean) @f16\n"
     "scale f32 largest(y) / 127\n"
     "t = y / S\n"
     "code int8:nan_to_zero trunc(t + if_less(t, 0, -0.5, 0.5))\n"
     "value v * S\n"
     "fact half away from zero as a rounded sum and a truncation: 0x1.fffffep-2 gives 1\n"
     "fact no floor: a zero block divides 0 by 0; here codes 0, scale 0\n" SAGE_FACTS,
     "source"},
    {"sage/int8_qk_triton_thread",
     "granularity tile 16 128\n"
     "input mean per column = 0\n"
     "y = to(f16 x) - to(f16 mean) @f16\n"
     "scale f32 largest(y) / 127 + 1e-7\n"
     "t = y / S\n"
     "code int8:nan_to_zero trunc(t + if_less(t, 0, -0.5, 0.5))\n"
     "value v * S\n"
     "fact the rows of a thread t = 0..3 gathered: tokens 8i + 2t and 8i + 2t + 1 of 64 (Q: tokens 8i + t "
     "of 32)\n"
     "fact half away from zero as a rounded sum and a truncation: 0x1.fffffep-2 gives 1\n" SAGE_FACTS,
     "source"},
    {"nvfp4_kv/vllm",
     "granularity group 16\n"
     "input k_scale = 1\n"
     "tensor_scale f32 k_scale\n"
     "G = 1 / T\n"
     "scale ue4m3 G * (a * rcp_approx(6))\n"
     "enc = if_zero(S, 0, rcp_approx(S * rcp_approx(G)))\n"
     "code e2m1:nan_to_max x * enc\n"
     "value v * (S * T)\n"
     "fact scale layout 4x4_kv; a page holds K data, K scales, V data, V scales; low nibble first\n"
     "fact a scale that underflows to 0 gives codes 0 (8 for negatives); NaN gives +6\n",
     "source"},
});

#undef KV_FP8_FACTS
#undef KIVI_STEPS
#undef SAGE_FACTS

}  // namespace

std::span<const NamedRecipe> cache_recipes() {
  static const std::vector<NamedRecipe> all = [] {
    std::vector<NamedRecipe> table(kTable.begin(), kTable.end());
    for (const auto part : {integer_recipes(), ggml_recipes()})
      table.insert(table.end(), part.begin(), part.end());
    return table;
  }();
  return all;
}

}  // namespace halfulp::recipes
