// Judges what a kernel made of the rows of a recipe: exact totals, kinds of findings, the first one.
//
// Decides: what counts as wrong. Bits are compared. Where a NaN is expected every NaN of the format is
// right, in codes, scales and values alike, unless the SPEC says nan=exact: IEEE 754 leaves the sign and
// payload of a result to the order of operands. The same holds for the codes under a NaN scale, although
// they mean nothing; those of a format without NaN are compared as all others. Where approximate steps
// admit several results, a block must match one of them as a whole. Padding of layouts is not looked at.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "halfulp/vectors/blocks/recipe_rows.hpp"

namespace halfulp::vectors {

/// Kinds of findings. Codes: what kind of code went wrong; `packing`: the block's codes are right in
/// another order; `order`: the row's scales are.
enum class BlockFinding : std::uint8_t {
  tensor_scale,
  scale,
  order,
  zero_point,
  kept,
  packing,
  code_nan,
  code_overflow,
  code_zero_sign,
  code_tie,
  code_subnormal,
  code_other,
  value,
};
inline constexpr std::array<std::string_view, 13> kBlockFindingNames = {
    "tensor scale", "scale", "order of scales", "zero point", "kept elements", "packing", "NaN", "overflow",
    "zero sign",    "tie",   "subnormal",       "other code", "value"};

/// One wrong word.
struct BlockCase {
  BlockFinding kind = BlockFinding::code_other;
  std::size_t row = 0;        ///< of the pack
  std::int64_t block = 0;     ///< of the row's tensor
  std::int64_t element = -1;  ///< of the tensor, row-major; -1 for scales and zero points
  std::uint64_t got = 0, want = 0;
};

struct BlockGroup {
  std::uint64_t count = 0;
  std::uint64_t off_by_one = 0;  ///< neighbouring codes in value order
  BlockCase first;
};

struct BlockTally {
  std::uint64_t rows = 0, rows_wrong = 0;
  std::uint64_t blocks = 0, blocks_wrong = 0;
  std::uint64_t words = 0, words_wrong = 0;  ///< tensor scales, scales, zero points, codes, values
  std::uint64_t by_choice = 0;  ///< blocks that match an admissible result other than the printed one
  std::array<BlockGroup, kBlockFindingNames.size()> groups;
  std::vector<bool> wrong_rows;  ///< one per row judged

  bool passed() const { return rows > 0 && words_wrong == 0; }
  /// The finding with the smallest row, block and element; scales before codes. Requires words_wrong > 0.
  const BlockCase& first() const;
};

/// Judges `answers[i]` for `rows.rows[i]`; fewer answers than rows judge the first ones. Answers whose
/// lists are empty were not given and are not judged.
BlockTally judge_blocks(const RecipePlan& plan, const RecipeRows& rows,
                        const std::vector<RowAnswer>& answers);

/// Blocks of one row that match none of the answers (a wrong tensor scale counts as all of them), without
/// telling why. Requires at least one answer.
std::uint64_t wrong_blocks(const RecipePlan& plan, const std::vector<RowAnswer>& wanted,
                           const RowAnswer& got);

/// The same word, or both a NaN where the plan takes every NaN.
bool same_word(const RecipePlan& plan, const FormatSpec& format, std::uint64_t got, std::uint64_t want);

}  // namespace halfulp::vectors
