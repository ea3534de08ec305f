// A row of a pack of an accumulation model: operands, c, scales, and what must come out.
//
// Decides: what is right. Results come from the engine and its exact twin, which must agree on every row; a
// disagreement stops everything (Disagreement in expected.hpp). Where the two zero rules part, the other
// rule's result stands beside.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "halfulp/vectors/mma/mma_plan.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

/// Container words.
struct MmaRow {
  std::vector<std::uint32_t> a, b;
  std::uint32_t c = 0;
  std::vector<std::uint32_t> scale_a, scale_b;
  std::uint32_t flags = 0;  ///< bits of MmaFlag

  accumulation::Row view() const { return {a, b, c, scale_a, scale_b}; }
};

struct MmaRows {
  std::vector<MmaRow> rows;
  std::vector<std::uint32_t> expected;  ///< one per row
  std::vector<std::uint32_t> other;     ///< one per row: the other zero rule's, mostly the same
  std::uint64_t left_out = 0;           ///< rows of the level that order=any leaves out

  bool undecided(std::size_t row) const { return expected[row] != other[row]; }
};

/// Why a row is there; bit i of the flags.
enum class MmaFlag : std::uint8_t {
  order_free,    ///< proven: no order of this model changes the result
  model_free,    ///< proven: no model, either
  undecided,     ///< the zero rules part
  last_kept,     ///< terms beside the last bit that alignment keeps
  rounding,      ///< the sum beside a boundary of the result's rounding
  cancellation,  ///< large terms that cancel
  large_c,
  small_c,
  position,   ///< what comes out depends on where a term stands
  special,    ///< NaN or Inf
  zero,       ///< zeros of either sign
  subnormal,  ///< subnormal operands, c or results
  extreme,    ///< largest and smallest numbers, results at the overflow threshold
  scale_end,  ///< block scales at the ends of their format
  random,
};
constexpr std::uint32_t bit(MmaFlag flag) {
  return std::uint32_t{1} << static_cast<int>(flag);
}

/// Notes on the flags, in the order of their bits.
const std::vector<FlagNote>& mma_flags();

/// Whether a row is proven to give its exact sum in every order (bounds.hpp): under the plan's own model,
/// where that is fused; under every fused model from 13 alignment bits on (`any_model`), which holds for
/// software orders, FP8 mma.sync and CDNA too: their partial sums are multiples of the unit with at most 14
/// bits (docs/accumulation.md).
bool is_order_free(const MmaPlan& plan, const MmaRow& row, bool any_model);

/// Fills in what is expected, and the flags that are proven, by engine and twin. With order=any the other
/// rows are dropped. Throws Disagreement.
MmaRows judged_rows(const MmaPlan& plan, std::vector<MmaRow> rows, int threads = 1);

/// A kernel as a function of one row.
using MmaFunction = std::function<std::uint32_t(const MmaRow&)>;

/// The engine for a spec, or the exact twin where the engine has not its width.
MmaFunction function_of(const accumulation::MmaSpec& spec);

}  // namespace halfulp::vectors
