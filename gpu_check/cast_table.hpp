// Threshold tables as files: made by prepare from the oracle, read where kernels run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu_check/domain.hpp"

namespace halfulp::gpu {

struct CastTable {
  std::vector<TableStep> steps;  ///< from position 0 on, NaN sources included
  /// Inputs whose result changes when ties go away from zero, were the cast to round to nearest; else 0.
  std::uint64_t away_mismatches = 0;

  friend bool operator==(const CastTable&, const CastTable&) = default;
};

std::string text_of(const CastTable& table);
/// Reads DATA/casts/NAME.txt, a table over `sources` codes. Throws std::runtime_error.
CastTable read_cast_table(const std::string& data, const std::string& name, std::uint64_t sources);
/// Digest of the right codes of positions [begin, begin + length) in one lane.
std::uint64_t digest_of_run(const CastTable& table, const Domain& domain, std::uint64_t begin, std::uint64_t length, unsigned lane);

}  // namespace halfulp::gpu
