// Packs of accumulation models: written from a level, and read back as rows to be judged.
//
// Columns: a, b, c, scale_a and scale_b where there are scales; d, and d_alternative where rows are
// undecided; flags.
#pragma once

#include <memory>

#include "halfulp/vectors/mma/mma_rows.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::vectors {

/// The rows of a level as a source for write_rows(). Throws as mma_level_rows().
std::unique_ptr<RowSource> mma_rows(MmaPlan plan, Level level, std::uint64_t seed, int threads);

/// A pack's rows. What is expected is computed anew and must be what the pack holds. Throws InputError for
/// a pack whose columns are not those of its SPEC, or that expects or flags something else.
struct MmaPack {
  MmaPlan plan;
  MmaRows rows;
};
MmaPack read_mma_pack(const PackReader& reader, int threads = 1);

}  // namespace halfulp::vectors
