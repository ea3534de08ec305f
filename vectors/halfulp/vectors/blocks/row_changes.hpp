// What wrong kernels do to whole rows: blocks along the other axis, stale memory, moved scales and nibbles.
//
// Each is empty where it does not apply to the plan (no partial block, no tensor scale …).
#pragma once

#include <optional>

#include "halfulp/vectors/blocks/recipe_row.hpp"

namespace halfulp::vectors {

/// Blocks run along the rows' axis instead of k.
std::optional<RowAnswer> along_other_axis(const RecipePlan& plan, const RecipeRow& row);

/// A partial last block reads on in what the block before left there.
std::optional<RowAnswer> with_stale_tail(const RecipePlan& plan, const RecipeRow& row);

/// The maximum is not reset between blocks.
std::optional<RowAnswer> with_running_amax(const RecipePlan& plan, const RecipeRow& row);

/// A block of zeros leaves the scale of the block before it.
std::optional<RowAnswer> with_stale_scale(const RecipePlan& plan, const RecipeRow& row, RowAnswer right);

/// Blocks of zeros store this scale code.
std::optional<RowAnswer> with_zero_block_scale(const RecipePlan& plan, const RecipeRow& row, RowAnswer right, std::uint64_t code);

/// The scale of block i stands at place i + by, round the row's tensor.
std::optional<RowAnswer> with_scales_rotated(RowAnswer right, std::int64_t by);

/// Scale codes moved up or down, as far as they stay codes.
std::optional<RowAnswer> with_scales_moved(const RecipePlan& plan, RowAnswer right, int by);

/// Scales written in a layout and read in the plan's.
std::optional<RowAnswer> with_scales_laid_out(const RecipePlan& plan, RowAnswer right, ScaleLayout written);

/// Codes packed in an order and read in the plan's (low_first where it names none).
std::optional<RowAnswer> with_codes_packed(const RecipePlan& plan, RowAnswer right, Packing written);

/// The tensor scale in the other direction: 1 / T, in its format.
std::optional<RowAnswer> with_tensor_scale_inverted(const RecipePlan& plan, RowAnswer right);

/// Every code of the list `from` replaced by `to`.
RowAnswer with_codes_replaced(RowAnswer answer, std::uint64_t from, std::uint64_t to);

/// The row with subnormal numbers of the source replaced by zeros of their sign.
RecipeRow subnormals_flushed(const RecipePlan& plan, RecipeRow row);

/// The row with its elements rounded to a format first.
RecipeRow rounded_to(RecipeRow row, const FormatSpec& format);

}  // namespace halfulp::vectors
