// Dequantizers that read codes or scales wrongly.
#include "block_mutants.hpp"
#include "halfulp/vectors/blocks/random.hpp"

namespace halfulp::vectors {
namespace {

RecipeRow with_stored(const RecipeRow& row, RowAnswer stored) {
  RecipeRow other = row;
  other.stored = std::move(stored);
  return other;
}

// clang-format off
const BlockMutantLine kLines[] = {
    {"decode_swapped_nibbles", "reads the high nibble first", "recipe:mxfp4/ocp_floor,packing=low_first,task=dequantize", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) {
       return std::optional(right(plan, with_stored(row, with_codes_packed(plan, row.stored, Packing::high_first).value())));
     }},
    {"decode_scale_bias", "the scale's bias is one too small", "recipe:mxfp8/ocp_floor,task=dequantize", {{"value v * S", "value v * (S * 2)"}}},
    {"decode_zero_scale", "the scale byte 0x00 reads as 0", "recipe:mxfp8/ocp_floor,task=dequantize", {{"value v * S", "value v * if_less(S, 0x1p-126, 0, S)"}}},
    {"decode_nan_480", "the code 0x7F reads as 480", "recipe:fp8_per_token/vllm_cuda,task=dequantize", {{"value v * S", "value if_nan(v, copysign(480, v), v) * S"}}},
    {"decode_through_half", "the product is rounded to half, then to bf16", "recipe:kv_fp8/vllm,task=dequantize", {{"to(bf16 v * S)", "to(bf16 to(f16 v * S))"}}},
    {"decode_order", "(v * T) * S instead of v * (T * S)", "recipe:nvfp4/torchao,task=dequantize", {{"v * (T * S)", "(v * T) * S"}}},
    {"decode_zero_point_sign", "the zero point is added", "recipe:int8_azp/vllm,task=dequantize", {{"(v - Z) * S", "(v + Z) * S"}}},
    {"decode_stale_scale", "the scale of the block before", "recipe:mxfp4/ocp_floor,task=dequantize", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) {
       return std::optional(right(plan, with_stored(row, with_scales_rotated(row.stored, 1).value())));
     }},
};
// clang-format on

}  // namespace

std::span<const BlockMutantLine> decode_mutants() { return kLines; }

}  // namespace halfulp::vectors
