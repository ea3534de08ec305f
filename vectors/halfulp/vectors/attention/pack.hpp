// Packs of attention: written from a level, and read back as rows to be judged.
#pragma once

#include <memory>

#include "halfulp/vectors/attention/columns.hpp"
#include "halfulp/vectors/attention/rows.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::vectors {

/// The rows of a level as a source for write_rows(): inputs, and what the reference kernel gives for every output column.
/// Throws InputError as attention_rows().
std::unique_ptr<RowSource> attention_row_source(AttentionPlan plan, Level level, std::uint64_t seed, int threads);

/// A pack's plan, rows and answers. What is expected is computed anew and must be what the pack holds; probes are found again
/// by their place. Throws InputError for a pack whose columns are not those of its SPEC, or that expects something else.
struct AttentionPack {
  AttentionPlan plan;
  AttentionRows rows;
};
AttentionPack read_attention_pack(const PackReader& reader, int threads = 1);

}  // namespace halfulp::vectors
