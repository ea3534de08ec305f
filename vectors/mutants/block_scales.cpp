// Quantizers that find a wrong maximum or make a wrong scale of it.
#include "block_mutants.hpp"

namespace halfulp::vectors {
namespace {

// clang-format off
const BlockMutantLine kLines[] = {
    {"float_log2", "ceil(log2) in binary32 instead of the exponent bits", "recipe:fp8_block/deepgemm_ue8m0",
     {{"pow2_ceil(s)", "exp2(ceil(log2(s)))"}}},
    {"scale_one_up", "the scale's exponent is one too large", "recipe:mxfp4/ocp_floor", {{"0x1p-2", "0x1p-1"}}},
    {"scale_one_down", "the scale's exponent is one too small", "recipe:mxfp4/ocp_floor", {{"0x1p-2", "0x1p-3"}}},
    {"scale_floor", "the scale is rounded down instead of up", "recipe:mxfp8/rceil", {{"e8m0:toward_positive,", "e8m0:toward_zero,"}}},
    {"scale_nearest", "the scale is rounded to nearest instead of up", "recipe:nvfp4/cudnn", {{"ue4m3:toward_positive,positive", "ue4m3:positive"}}},
    {"powers_doubled", "exact powers of two are rounded up as well (frexp)", "recipe:mxfp8/ceil", {{"pow2_ceil(a)", "(pow2_floor(a) * 2)"}}},
    {"unsigned_max", "the largest number instead of the largest magnitude", "recipe:fp8_per_token/vllm_cuda", {{"min(a, ub)", "min(max(hi, 0), ub)"}}},
    {"amax_bf16", "the maximum goes through bf16", "recipe:mxfp8/ocp_floor", {{"pow2_floor(a)", "pow2_floor(to(bf16 a))"}}},
    {"nan_dropped", "a NaN is left out of the maximum", "recipe:mxfp8/ocp_floor", {{"amax propagate", "amax drop"}}},
    {"nan_propagated", "a NaN makes the scale NaN", "recipe:mxfp8/rceil", {{"amax drop", "amax propagate"}}},
    {"scale_reciprocal", "the scale by a product with the rounded 1/448", "recipe:fp8_per_token/vllm_cuda", {{"min(a, ub) / 448", "min(a, ub) * 0x1.24924ap-9"}}},
    {"scale_order", "(a / 6) * G instead of a * (G / 6)", "recipe:nvfp4/transformer_engine", {{"a * (T * 0x1.555556p-3)", "(a / 6) * T"}}},
    {"no_floor", "the least scale is forgotten", "recipe:fp8_per_token/vllm_cuda", {{"max(min(a, ub) / 448, 0x1.24924ap-18)", "min(a, ub) / 448"}}},
    {"tensor_scale_inverted", "2688/A is stored where A/2688 was asked for", "recipe:nvfp4/torchao", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return with_tensor_scale_inverted(plan, right(plan, row)); }},
    {"zero_block_scale", "zero blocks store the byte 0x00", "recipe:mxfp4/deepgemm", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return with_zero_block_scale(plan, row, right(plan, row), 0); }},
    {"flush_subnormals", "subnormal inputs count as zeros", "recipe:mxfp8/ocp_floor", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return std::optional(right(plan, subnormals_flushed(plan, row))); }},
};
// clang-format on

}  // namespace

std::span<const BlockMutantLine> scale_mutants() { return kLines; }

}  // namespace halfulp::vectors
