// NVFP4: 16 values along k share one UE4M3 scale, the tensor one float32 scale. Every producer's order of
// operations.
//
// Facts about producers: their published sources of 2025 and 2026. A given tensor_scale replaces the stored
// T.
#include <string>

#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {
namespace {

// clang-format off
const std::string kGroup = "granularity group 16\n";
const std::string kLayout =
    "fact packing low_first: element 2i in the low half of a byte\n"
    "fact scale layout 128x4 for matrix units; they ignore bit 7 of a scale\n";
const std::string kE2m1 =
    "fact E2M1 cast: ties to even, above 6 and Inf give 6, NaN gives +6 (code 7), -0 gives code 8\n";

/// G = limit / A, no larger than FLT_MAX, and 1 where it would be useless.
std::string encode_scale(const std::string& limit) {
  return "g = min(" + limit + " / A, 0x1.fffffep+127)\n"
         "tensor_scale f32 if_zero(A, 1, if_zero(g, 1, g))\n";
}
const std::string kGiven =
    encode_scale("2688") + "fact the producer takes T = 2688 / A from its caller (calibration); it is made from A when not given\n";

// ---- Transformer Engine ----

const std::string kTeScale = encode_scale("2688") +
    "scale ue4m3:positive min(a * (T * 0x1.555556p-3), 0x1.fffffep+127)\n";
const std::string kTeFactor = "f = min(1 / (S * (1 / T)), 0x1.fffffep+127)\n";
const std::string kTeValue = "value v * ((S * A) * 0x1.861862p-12)   # fl(1/2688)\n";
const std::string kTeFacts = kLayout + kE2m1 +
    "fact zero block: scale 0x00, codes 0; a scale that underflows to 0: factor FLT_MAX, so +-6 where x is not 0\n"
    "fact the tensor keeps A, from which its values are made\n";
const std::string kTe = kTeScale + kTeFactor + "code e2m1:nan_to_max x * f\n" + kTeValue;

const std::string kTransformerEngine = kGroup + kTe + kTeFacts;
const std::string kTransformerEngine2d = "granularity tile 16 16\n" + kTe + kTeFacts +
    "fact one scale per 16x16 tile, repeated for its 16 rows\n";
const std::string kTransformerEngineFast = kGroup + kTeScale +
    "f = to(bf16 min(T / S, 0x1.fep+127))\n"
    "y = x * f   @bf16\n"
    "code e2m1:nan_to_max y\n" + kTeValue + kTeFacts +
    "fact x is bf16\n";
const std::string kTransformerEngineHadamard = kGroup +
    "transform hadamard(flip_signs(x, 55272)) * 0.25   # signs + + + - + - - - - - - + - + - -, 16-point Sylvester\n" + kTe + kTeFacts +
    "fact for the column copy alone; both amaxes are taken after the transform; the order of its sums is not stated\n"
    "fact the producer takes whole blocks; here a partial one of 1, 2, 4 or 8 gets the shorter transform, others are refused\n";
const std::string kTransformerEngineStochastic = kGroup +
    "input random per element   # a byte, 0 .. 255\n" + kTeScale + kTeFactor +
    "y = x * f\n"
    "m = abs(y)\n"
    "t = fma(random / 256, if_less(m, 2, 0.5, if_less(m, 4, 1, 2)), m)\n"
    "step = if_less(t, 2, 0.5, if_less(t, 4, 1, 2))\n"
    "q = min(floor(t / step) * step, 6)\n"
    "code e2m1:nan_to_max if_nan(y, y, copysign(q, y))\n" + kTeValue + kTeFacts +
    "fact for gradients alone; this is the fallback with 8 random bits per value: hardware takes one 32-bit word per 4 values\n";

// ---- four over six: the block's maximum lands on 6 or on 4 ----

enum class Error { absolute, squared };
std::string four_over_six(const std::string& limit, const std::string& decode, Error error, bool tile = false, bool precomputed = false) {
  const auto choice = [&](const std::string& n, const std::string& scale) {
    const std::string s = "s" + n, q = "q" + n, d = "d" + n;
    return s + " = to(ue4m3:positive min(" + scale + ", 448))\n" +
           q + " = to(e2m1:nan_to_max x * min(1 / (" + s + " * (1 / T)), 0x1.fffffep+127))\n" +
           d + " = " + (precomputed ? q + " * ((" + s + " * A) / " + limit + ")" : "((" + q + " * " + s + ") * A) / " + limit) + " - x\n" +
           "e" + n + (tile ? " = tree_sum(" : " = sum(") + (error == Error::absolute ? "abs(" + d + ")" : d + " * " + d) + ")\n";
  };
  const std::string sums = tile ? "each row's errors are summed one after the other, the 16 sums as a tree 8, 4, 2, 1; tiles are whole"
                                : "the errors are summed one after the other";
  return (tile ? "granularity tile 16 16\n" : kGroup) + encode_scale(limit) + "base = (a / 6) * T\n" + choice("6", "base") + choice("4", "base * 1.5") +
         "scale ue4m3:positive if_less(e4, e6, s4, s6)\n"
         "code e2m1:nan_to_max if_less(e4, e6, q4, q6)\n"
         "value v * ((S * A) * " + decode + ")\n" + kLayout + kE2m1 +
         "fact the lower error wins, a tie keeps 6; not used with the Hadamard option\nfact " + sums + "\n";
}
const std::string k1536 = "0x1.555556p-11", k2688 = "0x1.861862p-12";  // reciprocals
const std::string kFourOverSix = four_over_six("1536", k1536, Error::absolute);
const std::string kFourOverSix448 = four_over_six("2688", k2688, Error::absolute);
const std::string kFourOverSixSquared = four_over_six("1536", k1536, Error::squared);
const std::string kFourOverSix448Squared = four_over_six("2688", k2688, Error::squared);
const std::string kFourOverSix2d = four_over_six("1536", k1536, Error::absolute, true);
const std::string kFourOverSixPrecomputed = four_over_six("1536", k1536, Error::absolute, false, true);

// ---- other producers ----

const std::string kFlashinfer = kGroup + kGiven +
    "scale ue4m3:positive T * (a * rcp_approx(6))\n"
    "code e2m1:nan_to_max x * if_zero(a, 0, rcp_approx(S * rcp_approx(T)))\n"
    "value v * (S / T)\n" + kLayout + kE2m1 +
    "fact zero block: codes 0; a scale that underflows to 0: factor Inf, so +-6, and +6 where x is 0\n";
const std::string kVllm = kGroup + kGiven +
    "scale ue4m3:positive T * (a * rcp_approx(6))\n"
    "code e2m1:nan_to_max x * if_zero(S, 0, rcp_approx(S * rcp_approx(T)))\n"
    "value v * (S / T)\n" + kLayout + kE2m1 +
    "fact zero block, and a scale that underflows to 0: codes 0\n";
const std::string kTorchao = kGroup +
    "amax propagate\n"
    "tensor_scale f32 A / 2688\n"
    "b = (a / 6) / T\n"
    "scale ue4m3:positive if_nan(b, b, max(min(b, 448), 0x1p-6))\n"
    "code e2m1:nan_to_max clamp_nan(x * ((1 / T) / S), 6)\n"
    "value v * (T * S)\n" + kLayout + kE2m1 +
    "fact zero block of a tensor that is not zero, and a scale below 2^-6: scale 0x08 (2^-6)\n"
    "fact a zero tensor: T is 0 and every scale 0x7F\n";
const std::string kCompressedTensors = kGroup +
    "amax propagate\n"
    "tensor_scale f32 2688 / A\n"
    "b = to(ue4m3:positive clamp_nan(T * (a / 6), 448))\n"
    "scale ue4m3:positive if_zero(b, 0.125, b)\n"
    "code e2m1:nan_to_max clamp_nan(x / (S / T), 6)\n"
    "value v * (S / T)\n" + kLayout + kE2m1 +
    "fact zero block of a tensor that is not zero, and a scale that underflows to 0: scale 0x20 (0.125)\n"
    "fact a zero tensor: T is Inf and every scale 0x7F\n";
const std::string kCompressedTensorsTorch = kGroup +
    "amax propagate\n"
    "m = if_nan(A, A, max(A, 0x1p-126))\n"
    "g = (1 / m) * 2688   # PyTorch divides a number by a tensor as the reciprocal times the number\n"
    "tensor_scale f32 if_finite(g, g, 1)\n"
    "b = to(ue4m3:positive clamp_nan(T * (a / 6), 448))\n"
    "scale ue4m3:positive if_zero(b, 0.125, b)\n"
    "y = clamp_nan(x / (S / T), 6)\n"
    "code e2m1:nan_to_max if_zero(y, 0, y)\n"
    "value v * (S / T)\n" + kLayout +
    "fact what the package computes when PyTorch runs it; nvfp4/compressed_tensors is the formula as it is written\n"
    "fact zero block, and a scale that underflows to 0: scale 0x20 (0.125)\n"
    "fact a tensor of zeros or with amax below 2^-116: T overflows and becomes 1; a NaN in the tensor: T is 1; Inf: T is 0\n"
    "fact a zero loses its sign (x * sign(x)); a number that rounds to 0 keeps it\n"
    "fact a NaN has no E2M1 code: the package casts it to an integer; here +6 (code 7)\n";
const std::string kModelopt = kGroup +
    "amax propagate\n"
    "tensor_scale f32 A / 2688\n"
    "b = a / (6 * T)\n"
    "scale ue4m3:overflow,positive if_zero(b, 1, b)   # the quotient is tested, not the amax\n"
    "y = x / (S * T)\n"
    "code e2m1:nan_to_max if_zero(y, 0, y)\n"
    "value v * (S * T)\n" + kLayout +
    "fact the scale is not clamped: above 464 it is NaN; release 0.41 was read, 0.47 clamps it to 2^-9 .. 448\n"
    "fact zero block of a tensor that is not zero, and a quotient that is 0 in binary32: scale 0x38 (1.0), or NaN 0x7F after a later rescale\n"
    "fact a zero tensor: T is 0, 0/0 makes every scale 0x7F and every code 7; a NaN in the tensor does the same to all of it; -0 gives code 0\n"
    "fact a scale that underflows to 0: x/0 gives +-6, 0/0 gives +6\n";
const std::string kSage3 = kGroup +
    "scale ue4m3:positive a / 6\n"
    "code e2m1:nan_to_max x * if_zero(S, 0, 1 / S)\n"
    "value v * S\n"
    "fact packing low_first: element 2i in the low half of a byte\n"
    "fact scale layout: 64-row tiles of the attention kernel; no tensor scale, clips above amax 2688\n" + kE2m1 +
    "fact zero block, and a scale that underflows to 0: codes 0\n";
const std::string kCudnn = kGroup +
    "scale ue4m3:toward_positive,positive a / 6\n"
    "code e2m1:nan_to_max if_zero(S, x, x / S)\n"
    "value v * S\n" + kLayout +
    "fact the documentation states that scales round up and elements to nearest even; specials, zero blocks and a tensor scale are not stated\n";
// clang-format on

}  // namespace

std::span<const NamedRecipe> nvfp4_recipes() {
  static const NamedRecipe rows[] = {
      {"nvfp4/transformer_engine", kTransformerEngine, "source, derived"},
      {"nvfp4_2d/transformer_engine", kTransformerEngine2d, "source, derived"},
      {"nvfp4/transformer_engine_fast", kTransformerEngineFast, "source"},
      {"nvfp4/transformer_engine_hadamard", kTransformerEngineHadamard, "source",
       "column copy with the Hadamard option"},
      {"nvfp4/transformer_engine_stochastic", kTransformerEngineStochastic, "source",
       "gradients, fallback rounding"},
      {"nvfp4/four_over_six", kFourOverSix, "source", "bound 256, absolute error"},
      {"nvfp4/four_over_six_448", kFourOverSix448, "source", "bound 448, absolute error"},
      {"nvfp4/four_over_six_squared", kFourOverSixSquared, "source", "bound 256, squared error"},
      {"nvfp4/four_over_six_448_squared", kFourOverSix448Squared, "source", "bound 448, squared error"},
      {"nvfp4_2d/four_over_six", kFourOverSix2d, "source", "bound 256, absolute error, tiles of 16x16"},
      {"nvfp4/four_over_six_precomputed", kFourOverSixPrecomputed, "derived",
       "bound 256, absolute error, with (scale * A) / 1536 made first: not the producer's order, for "
       "contrast"},
      {"nvfp4/flashinfer", kFlashinfer, "source, derived"},
      {"nvfp4/vllm", kVllm, "source"},
      {"nvfp4/torchao", kTorchao, "source"},
      {"nvfp4/compressed_tensors", kCompressedTensors, "source"},
      {"nvfp4/compressed_tensors_torch", kCompressedTensorsTorch, "source, run", "as PyTorch runs it"},
      {"nvfp4/modelopt", kModelopt, "source, derived"},
      {"nvfp4/sage3", kSage3, "source"},
      {"nvfp4/cudnn", kCudnn, "source: its documentation"},
  };
  return rows;
}

}  // namespace halfulp::recipes
