// Quantizers that compute right and read or write the wrong place.
#include "block_mutants.hpp"

namespace halfulp::vectors {
namespace {

// clang-format off
const BlockMutantLine kLines[] = {
    {"swapped_nibbles", "the first element of a byte in the high nibble", "recipe:mxfp4/ocp_floor,packing=low_first", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return with_codes_packed(plan, right(plan, row), Packing::high_first); }},
    {"linear_nibbles", "neighbours share a byte where halves of the block should", "recipe:ggml/q4_0,packing=ggml_half", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return with_codes_packed(plan, right(plan, row), Packing::low_first); }},
    {"rows_rotated", "every row's scale stands one row further", "recipe:fp8_per_token/vllm_cuda", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return with_scales_rotated(right(plan, row), 1); }},
    {"linear_layout", "scales row by row where tiles were asked for", "recipe:mxfp4/ocp_floor,layout=8x4,shape=4x192", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return with_scales_laid_out(plan, right(plan, row), ScaleLayout::linear); }},
    {"wrong_axis", "blocks run along the other axis", "recipe:mxfp8/ocp_floor,shape=32x32", {}, nullptr, along_other_axis},
    {"padded_tail", "a partial last block reads on in the block before", "recipe:mxfp8/ocp_floor,shape=2x48", {}, nullptr, with_stale_tail},
    {"running_amax", "the maximum is not reset between blocks", "recipe:fp8_per_token/vllm_cuda", {}, nullptr, with_running_amax},
    {"stale_scale", "a zero block leaves the scale of the block before it", "recipe:mxfp4/ocp_floor", {}, nullptr,
     [](const RecipePlan& plan, const RecipeRow& row) { return with_stale_scale(plan, row, right(plan, row)); }},
};
// clang-format on

}  // namespace

std::span<const BlockMutantLine> memory_mutants() { return kLines; }

}  // namespace halfulp::vectors
