// Quantizers that apply a wrong factor or round the elements wrongly.
#include "block_mutants.hpp"

namespace halfulp::vectors {
namespace {

using recipes::QuantRecipe;

template <auto Member, auto Value>
void set_code(QuantRecipe& recipe) {
  recipe = with_policy(std::move(recipe), &QuantRecipe::code, [](CastPolicy& policy) { policy.*Member = Value; });
}

// clang-format off
const BlockMutantLine kLines[] = {
    {"reciprocal_multiply", "multiplies by the rounded reciprocal instead of dividing", "recipe:nvfp4/cudnn", {{"x / S)", "x * (1 / S))"}}},
    {"reciprocal_multiply_int8", "multiplies by the rounded reciprocal instead of dividing", "recipe:int8_static/vllm", {{"x / S", "x * (1 / S)"}}},
    {"divides", "divides where the recipe multiplies by the reciprocal", "recipe:fp8_block/deepgemm", {{"x * r", "x / S"}}},
    {"factor_from_scale", "1/scale instead of 127/a", "recipe:int8_per_token/vllm", {{"127 / a)", "1 / S)"}}},
    {"unrounded_scale", "the factor is made from the scale before it was rounded", "recipe:nvfp4/sage3", {{"if_zero(S, 0, 1 / S)", "if_zero(a / 6, 0, 1 / (a / 6))"}}},
    {"underflow_factor", "a scale that underflows to 0 gives an infinite factor", "recipe:nvfp4/vllm", {{"if_zero(S, 0,", "if_zero(a, 0,"}}},
    {"ties_away_block", "ties away from zero", "recipe:mxfp4/ocp_floor", {}, set_code<&CastPolicy::rounding, Rounding::ties_to_away>},
    {"truncate_block", "elements are truncated", "recipe:mxfp8/ocp_floor", {}, set_code<&CastPolicy::rounding, Rounding::toward_zero>},
    {"int8_truncates", "integers are truncated", "recipe:int8_per_token/vllm", {}, set_code<&CastPolicy::rounding, Rounding::toward_zero>},
    {"overflow_before_rounding", "what lies above 448 before rounding becomes NaN", "recipe:fp8_block/deepgemm", {}, set_code<&CastPolicy::overflow_test, OverflowTest::before_rounding>},
    {"element_bf16", "elements go through bf16 after scaling", "recipe:fp8_per_tensor/vllm_native", {{"clamp(x * r, 448)", "to(bf16 clamp(x * r, 448))"}}},
    {"element_f16", "elements go through f16 after scaling", "recipe:fp8_per_token/vllm_cuda", {{"clamp(x / S, 448)", "to(f16 clamp(x / S, 448))"}}},
    {"nan_kept", "a NaN element stays NaN where a clamp makes it +448", "recipe:fp8_per_token/vllm_cuda", {{"clamp(x / S, 448)", "clamp_nan(x / S, 448)"}}},
    {"zero_point_late", "the zero point is added after rounding", "recipe:int8_asym/compressed_tensors", {{"nan_to_zero x / S + Z", "nan_to_zero rne(x / S) + Z"}}},
    {"minus_zero_lost", "-0 becomes +0", "recipe:nvfp4/vllm", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return std::optional(with_codes_replaced(right(plan, row), 8, 0)); }},
    {"restricted_range", "-128 is never produced", "recipe:int8/compressed_tensors", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return std::optional(with_codes_replaced(right(plan, row), 0x80, 0x81)); }},
};
// clang-format on

}  // namespace

std::span<const BlockMutantLine> element_mutants() { return kLines; }

}  // namespace halfulp::vectors
