// The rows of a pack of an accumulation model at a level: sums chosen to tell wrong units from right ones.
//
//   specials    NaN, Inf, zeros of either sign, subnormals, the largest numbers, results beside the
//               overflow threshold
//   thresholds  those, order-free sums, terms beside the last kept bit of the alignment, a bit beside the
//               last that units of other widths keep, sums beside a boundary of the result's rounding,
//               c above and below the products, sums that depend on the place of a term
//   stratified  those, random operands by binade and by bits, extremes, ends of the block scales
#pragma once

#include <cstddef>
#include <cstdint>

#include "halfulp/vectors/levels.hpp"
#include "halfulp/vectors/mma/mma_row.hpp"

namespace halfulp::vectors {

/// The rows of a level, judged; the same on every machine. Throws InputError for `exhaustive`, which sums
/// do not have, and where no row is left; Disagreement where engine and twin part.
MmaRows mma_level_rows(const MmaPlan& plan, Level level, std::uint64_t seed, int threads = 1);

/// Random rows of the same number, N(0, 1) rounded to the operands' formats: what is commonly tested with.
MmaRows random_mma_rows(const MmaPlan& plan, std::size_t count, std::uint64_t seed);

}  // namespace halfulp::vectors
