// FP8 and INT8 with one scale per tensor, token or channel: every producer's order of steps.
//
// MIN = 1 / (448 * 512) = 0x1.24924ap-18; 2^-23 is binary32's epsilon. `clamp` drops NaN (C's fmin and
// fmax), `clamp_nan` keeps it (the clamp of array frameworks).
#include <array>

#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {
namespace {

// clang-format off
constexpr auto kTable = std::to_array<NamedRecipe>({
{"fp8_per_token/vllm_cuda", R"(
granularity row
amax drop
input ub = inf                                # upper bound of the amax
t = max(min(a, ub) / 448, 0x1.24924ap-18)
scale f32 t
code e4m3:positive clamp(x / S, 448)
value v * S
fact divides by the scale
fact zero row: scale 0x1.24924ap-18, codes 0
fact NaN element: left out of the amax, code 0x7E; Inf element: scale Inf, Inf / Inf is NaN, code 0x7E, all others 0
fact one byte per element; scales linear, one per row
)", "source"},
{"fp8_per_token/vllm_native", R"(
granularity row
amax drop
input ub = inf
t = max(min(a, ub) / 448, 0x1.24924ap-18)
scale f32 t
r = 1 / S
code e4m3:positive clamp(x * r, 448)
value v * S
fact multiplies by the rounded reciprocal of the scale
fact zero row: scale 0x1.24924ap-18, codes 0
fact NaN element: left out of the amax, code 0x7E, as fp8_per_token/vllm_cuda
fact the producer's array framework keeps NaN in amax and clamp instead: scale NaN and 0x7F for the whole row; not reproduced here
fact one byte per element; scales linear, one per row
)", "source"},
{"fp8_per_tensor/vllm", R"(
granularity tensor
amax drop
s = a / 448                                   # the largest of (row maximum / 448): division is monotone
scale f32 s
r = 1 / S
code e4m3:positive clamp(x * r, 448)
value v * S
fact no floor: a zero tensor has scale 0, factor Inf, 0 * Inf is NaN, and every code is 0x7E; read back as 0
fact a scale below 2^-128 has factor Inf
fact one byte per element
)", "source"},
{"fp8_per_tensor/vllm_native", R"(
granularity tensor
amax drop
s = max(a / 448, 0x1.24924ap-18)
scale f32 s
r = 1 / S
code e4m3:positive clamp(x * r, 448)
value v * S
fact zero tensor: scale 0x1.24924ap-18, codes 0
fact one byte per element
)", "source"},
{"fp8_static/vllm", R"(
granularity tensor
input scale per block                         # given; block=row, column, N or RxC for other granularities
scale f32 scale
r = 1 / S
code e4m3:positive clamp(x * r, 448)
value v * S
fact scale 0: factor Inf, every code is +-448 (0x7E for zeros), read back as 0
fact NaN element: 0x7E
fact one byte per element; scales linear
)", "source"},
{"fp8_channel/compressed_tensors", R"(
granularity row
amax propagate
t = a / 448
s = if_nan(t, t, max(t, 0x1p-23))
scale f32 s
code e4m3:positive clamp_nan(x / S, 448)
value v * S
fact a row is an output channel of a weight
fact zero row: scale 2^-23, codes 0; a NaN in the row makes its scale NaN and every code 0x7F
fact one byte per element; scales linear, one per row
)", "source"},
{"fp8_current/transformer_engine", R"(
granularity tensor
amax drop
input eps = 0                                 # floor of the amax
b = max(a, eps)
q = min(448 / b, 0x1.fffffep+127)
encode = if_finite(b, if_zero(b, 1, q), 1)
scale f32 1 / encode
code e4m3:positive x * encode
value v * S
fact the stored scale is 1 / encode; the factor applied is `encode` itself
fact amax 0, Inf or NaN: factor 1; a factor that overflows is the largest binary32 number
fact zero tensor: scale 1, codes 0; NaN element: 0x7F; Inf element: scale 1, code +-448
fact one byte per element
)", "source"},
{"fp8_train/torchao", R"(
granularity tensor
amax propagate
wide = 448 / if_nan(a, a, max(a, 1e-12)) @f64
encode = to(f32 wide)
scale f32 1 / encode
code e4m3:positive clamp_nan(x * encode, 448)
value v * S
fact the factor is made in binary64 and rounded once
fact zero tensor: amax 1e-12; NaN: every code 0x7F
fact block=row or column for one scale along an axis
fact one byte per element
)", "source"},
{"fp8_train/torchao_pow2", R"(
granularity tensor
amax propagate
wide = 448 / if_nan(a, a, max(a, 1e-12)) @f64
full = to(f32 wide)
encode = exp2(floor(log2(full)))
scale f32 1 / encode
code e4m3:positive clamp_nan(x * encode, 448)
value v * S
fact the power of two is found by a float logarithm: a factor just below a power of two can round up to it
fact zero tensor: amax 1e-12; NaN: every code 0x7F
fact block=row or column for one scale along an axis
fact one byte per element
)", "source"},
{"fp8_affine/torchao", R"(
granularity group 128
amax propagate
s = a / 448
scale f32 s
code e4m3:positive clamp_nan(x / S, 448)
value v * S
fact no floor: in a zero block 0 / 0 is NaN and every code is 0x7F
fact any block size: block=N, RxC, row, column or tensor
fact one byte per element
)", "source, report"},
{"int8_per_token/vllm", R"(
granularity row
amax drop
scale f32 a / 127
inv = if_zero(a, 0, 127 / a)
code int8:nan_to_zero x * inv
value v * S
fact the factor is 127 / a, not the reciprocal of the stored scale
fact zero row: scale 0, factor 0, codes 0; NaN element: 0; Inf element: factor 0, Inf * 0 is NaN, code 0
fact one byte per element; scales linear, one per row
)", "source"},
{"int8_static/vllm", R"(
granularity tensor
input scale per block
scale f32 scale
code int8:nan_to_zero x / S
value v * S
fact divides; saturates to -128 .. 127; NaN element: 0
fact one byte per element
)", "source"},
{"int8_azp/vllm", R"(
granularity row
least = min(lo, 0x1.fffffep+127)              # the searches start at the ends of binary32
most = max(hi, -0x1.fffffep+127)
s = (most - least) / 255
scale f32 s
zero int32:nan_to_zero rne(-128 - least / S)
r = 1 / S
q = to(int32:nan_to_zero rne(x * r))
code int8 q + Z @f64                          # an exact sum of integers
value (v - Z) * S
fact 0 need not lie in the range; block=tensor for one zero point per tensor
fact the zero point divides by the scale, the elements are multiplied by its reciprocal
fact maximum = minimum: scale 0 and no guard; the zero point saturates to 32 bits
fact one byte per element; zero points int32, one per scale
)", "source"},
{"int8/compressed_tensors", R"(
granularity row
amax propagate
t = a / 127.5
s = if_nan(t, t, max(t, 0x1p-23))
scale f32 s
code int8:nan_to_zero x / S
value v * S
fact full range -128 .. 127: the largest magnitude lands on 127.5, which rounds to 127 or -128
fact zero row: scale 2^-23; block=N for groups of N
fact NaN: the producer's cast to int8 is not defined; 0 here
fact one byte per element; scales linear
)", "source"},
{"int8_asym/compressed_tensors", R"(
granularity group 128
amax propagate
least = if_nan(lo, lo, min(lo, 0))
most = if_nan(hi, hi, max(hi, 0))
t = (most - least) / 255
s = if_nan(t, t, max(t, 0x1p-23))
scale f32 s
zero int8:nan_to_zero -128 - least / S
code int8:nan_to_zero x / S + Z
value (v - Z) * S
fact the range contains 0; the zero point is added before rounding
fact zero group: scale 2^-23, zero point -128, codes -128
fact block=N for groups of N, row for channels
fact NaN: the producer's cast to int8 is not defined; 0 here
fact one byte per element; zero points int8, one per scale
)", "source"},
{"int8/pytorch_cpp", R"(
granularity tensor
wide = max(abs(lo) / 128, max(hi, 0) / 127) @f64
scale f32 wide
code int8:nan_to_zero x / S
value v * S
fact the scale alone is known of the producer: binary64, so that -128 and 127 are both reached; stored here in binary32
fact elements here: x / s, ties to even, saturated; a zero tensor has scale 0 and codes 0
fact one byte per element
)", "report"},
});
// clang-format on

}  // namespace

std::span<const NamedRecipe> fp8_int8_recipes() {
  return kTable;
}

}  // namespace halfulp::recipes
