// SmoothQuant, and 8-bit weights that a 16-bit kernel unpacks.
//
// The smoothing factor of an input channel is made once (smoothquant/factor), divides the activations and
// multiplies the weights. Everything is f16.
#include <array>

#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {
namespace {

// clang-format off
constexpr auto kTable = std::to_array<NamedRecipe>({
{"smoothquant/factor", R"(
granularity tensor
input wmax per column                         # largest weight magnitude of each input channel
input alpha = 0.5
precision f16
w = max(to(f16 wmax), 1e-5)
up = to(f16 exp2(alpha * log2(to(f16 x)))) @f64       # pow, rounded to f16
down = to(f16 exp2((1 - alpha) * log2(w))) @f64
code f16 max(up / down, 1e-5)
value v
fact x: the largest activation magnitude of each input channel
fact the factor divides the weights of the normalization before the layer and multiplies the layer's weight columns
)", "source"},
{"smoothquant/weights", R"(
granularity tensor
amax propagate
input smooth per column = 1
precision f16
transform x * smooth @f16
t = if_nan(a, a, max(a, 1e-5))
scale f16 t / 127
code int32:nan_to_zero x / S
value v * S @f16
fact the levels o1, o2 and o3 quantize weights alike, one scale per tensor
fact every step f16: the floor of the scale is 2^-24; no clamp, so that tiny tensors can pass 127
)", "source"},
{"smoothquant/o1", R"(
granularity row
amax propagate
input smooth per column = 1
precision f16
transform x / smooth @f16
t = if_nan(a, a, max(a, 1e-5))
scale f16 t / 127
code int32:nan_to_zero x / S
value v * S @f16
fact activations, one scale per token, found at run time; weights: smoothquant/weights
fact every step f16: the floor of the scale is 2^-24; no clamp, so that tiny rows can pass 127
)", "source; levels unverified"},
{"smoothquant/o2", R"(
granularity tensor
amax propagate
input smooth per column = 1
precision f16
transform x / smooth @f16
t = if_nan(a, a, max(a, 1e-5))
scale f16 t / 127
code int32:nan_to_zero x / S
value v * S @f16
fact activations, one scale per tensor, found at run time; weights: smoothquant/weights
fact every step f16: the floor of the scale is 2^-24; no clamp, so that tiny tensors can pass 127
)", "source; levels unverified"},
{"smoothquant/o3", R"(
granularity tensor
input scale                                   # from calibration
input smooth per column = 1
precision f16
transform x / smooth @f16
scale f16 scale
code int8:nan_to_zero x / S
value v * S @f16
fact activations, one calibrated scale per tensor: what calibration did not see is clipped; weights: smoothquant/weights
)", "source; levels unverified"},
{"w8a16/marlin", R"(
granularity row
input scale per block = 1
scale f16 scale
code e4m3:positive clamp_nan(x / S, 448)
value if_nan(v, copysign(480, v), v) * S @f16
fact unpacking shifts the byte right by 1 into an f16 and multiplies by 2^8, which may be folded into the scale
fact 0x7F reads as 480 and 0xFF as -480: there is no NaN
fact channel scales apply after the dot product, group scales (block=N) before it (unverified)
)", "source"},
{"w8a16/marlin_bf16", R"(
granularity row
input scale per block = 1
scale bf16 scale
code e4m3:positive clamp_nan(x / S, 448)
value if_nan(v, copysign(480, v), v) * S @bf16
fact unpacking shifts the byte right by 4 into a bf16 and multiplies by 2^120
fact 0x7F reads as 480 and 0xFF as -480: there is no NaN
)", "source"},
{"w8a16/marlin_int8", R"(
granularity row
input scale per block = 1
scale f16 scale
q = to(int8:nan_to_zero x / S)
code uint8 q + 128
value (v - 128) * S @f16
fact stored with offset 128; unpacking is exact
)", "source"},
});
// clang-format on

}  // namespace

std::span<const NamedRecipe> smoothquant_recipes() {
  return kTable;
}

}  // namespace halfulp::recipes
