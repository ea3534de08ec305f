// Block FP8: one scale per 1 x 128 activations or 128 x 128 weights (`block=128x128`), in every producer's
// steps.
//
// Float constants: 1e-4 = 0x1.a36e2ep-14, 1e-10 = 0x1.b7cdfep-34, MIN = 1 / (448 * 512) = 0x1.24924ap-18.
#include <array>

#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {
namespace {

// clang-format off
constexpr auto kTable = std::to_array<NamedRecipe>({
{"fp8_block/deepseek", R"(
granularity group 128
amax drop
s = max(a, 0x1.a36e2ep-14) / 448
scale f32 s
code e4m3:positive x / S
value v * S
fact no clamp before the saturating cast; NaN element: 0x7F; the producer's division need not be correctly rounded
fact zero block: scale 0x1.df595ap-23, codes 0
fact edges that are no multiple of 128 count as zeros in the amax; block=128x128 for weights
fact the stored scale is a multiplier although it is named weight_scale_inv
fact 1 x 128 scales stored transposed, [ceil(K/128), roundup(M, 4)]; 128 x 128 [ceil(M/128), roundup(ceil(K/128), 4)]
)", "source, derived"},
{"fp8_block/deepseek_ue8m0", R"(
granularity group 128
amax drop
s = max(a, 0x1.a36e2ep-14) / 448
p = exp2(ceil(log2(s)))
scale e8m0:overflow p
code e4m3:positive x / p
value v * S
fact the power of two is found by a float logarithm: scales just above a power of two can stay on it
fact zero block: scale 2^-22 (byte 105); an infinite amax: 0xFF
fact no clamp before the saturating cast; block=128x128 for weights
fact 1 x 128 scales stored transposed, [ceil(K/128), roundup(M, 4)]
)", "source, derived"},
{"fp8_block/deepgemm", R"(
granularity group 128
amax propagate
s = if_nan(a, a, max(a, 0x1.a36e2ep-14)) / 448
scale f32 s
r = 1 / S
code e4m3:positive,overflow x * r
value v * S
fact multiplies by the rounded reciprocal; no clamp; the cast does not saturate, and no finite element reaches 464
fact zero block: scale 0x1.df595ap-23, codes 0; a NaN in the block makes its scale NaN and every code 0x7F
fact edges that are no multiple of 128 count as zeros in the amax; block=128x128 for weights
fact 1 x 128 scales stored transposed, [ceil(K/128), roundup(M, 4)]; 128 x 128 [ceil(M/128), roundup(ceil(K/128), 4)]
)", "source, derived"},
{"fp8_block/deepgemm_ue8m0", R"(
granularity group 128
amax propagate
s = if_nan(a, a, max(a, 0x1.a36e2ep-14)) / 448
p = max(min(pow2_ceil(s), 0x1p+127), 0x1p-126)   # bits: exponent + (significand != 0), clamped to 1..254; NaN gives 254
scale e8m0 p
r = 1 / S
code e4m3:positive,overflow x * r
value v * S
fact zero block: scale 2^-22 (byte 105), codes 0
fact a NaN or Inf in the block: byte 254; the cast does not saturate, Inf gives 0x7F and -Inf 0xFF
fact block=128x128 for weights; four scale bytes along k in one int32, first lowest
)", "source, derived"},
{"fp8_block/vllm_cuda", R"(
granularity group 128
amax drop 0x1.b7cdfep-34
s = a / 448
scale f32 s
code e4m3:positive clamp(x / S, 448)
value v * S
fact the maximum starts at 1e-10; zero block: scale 0x1.f6a246p-43, codes 0; NaN element: 0x7E
fact scales linear, or transposed on request; block=128x128 for weights
)", "source, derived"},
{"fp8_block/vllm_cuda_ue8m0", R"(
granularity group 128
amax drop 0x1.b7cdfep-34
s = a / 448
p = exp2(ceil(log2(max(s, 0x1.b7cdfep-34))))
scale e8m0:overflow p
code e4m3:positive clamp(x / p, 448)
value v * S
fact the power of two is found by a float logarithm: scales just above a power of two can stay on it
fact zero block: scale 2^-33 (byte 94), codes 0; NaN element: 0x7E; an infinite amax: 0xFF
)", "source, derived"},
{"fp8_block/vllm_native", R"(
granularity group 128
amax drop
s = max(a / 448, 0x1.24924ap-18)
scale f32 s
code e4m3:positive clamp(x / S, 448)
value v * S
fact zero block: scale 0x1.24924ap-18, codes 0
fact NaN element: left out of the amax, 0x7E; a framework whose amax and clamp keep NaN gives scale NaN and 0x7F for the block
fact a partial last block is padded with zeros
)", "source"},
{"fp8_block/vllm_native_pow2", R"(
granularity group 128
amax drop
p = exp2(ceil(log2(a / 448)))
s = max(p, 0x1.24924ap-18)
scale f32 s
code e4m3:positive clamp(x / S, 448)
value v * S
fact the floor comes after the power of two: small blocks have scale 0x1.24924ap-18, which is none
fact the power of two is found by a float logarithm
)", "source"},
{"fp8_block/transformer_engine", R"(
granularity group 128
amax drop
input eps = 0                                    # floor of the amax
input largest = 0x1.fffffep+127                  # of the input's type; 65504 for f16
b = max(a, eps)
q = 448 / b
full = if_finite(b, if_zero(b, 1, if_finite(q, q, largest)), 1)
encode = pow2_floor(full)
scale f32 1 / encode
code e4m3:positive clamp(x * encode, 448)
value v * S
fact the stored scale is 1 / encode, 2^-127 (0x00400000, as E8M0 byte 0x00) in tiny blocks
fact amax 0, Inf or NaN: scale 1; NaN element: 0x7E; block=128x128 for weights
fact power-of-two scales are the default of the producer
fact 1 x 128 scales stored transposed, [ceil(K/128), roundup(M, 4)]; 128 x 128 [ceil(M/128), roundup(ceil(K/128), 4)]
)", "source"},
{"fp8_block/transformer_engine_fp32", R"(
granularity group 128
amax drop
input eps = 0
input largest = 0x1.fffffep+127
b = max(a, eps)
q = 448 / b
encode = if_finite(b, if_zero(b, 1, if_finite(q, q, largest)), 1)
scale f32 1 / encode
code e4m3:positive clamp(x * encode, 448)
value v * S
fact the stored scale is 1 / encode; amax 0, Inf or NaN: scale 1; NaN element: 0x7E; block=128x128 for weights
fact 1 x 128 scales stored transposed, [ceil(K/128), roundup(M, 4)]; 128 x 128 [ceil(M/128), roundup(ceil(K/128), 4)]
)", "source"},
});
// clang-format on

}  // namespace

std::span<const NamedRecipe> block_fp8_recipes() {
  return kTable;
}

}  // namespace halfulp::recipes
