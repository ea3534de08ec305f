// diagnose_sums(): which named accumulation explains what a kernel gave.
//
// The space: every model of the registry with the same columns, under either zero rule; the plan's own with
// another F (6 to 40, and exact alignment), result width, both, chunk, promotion, scale order; and every
// mutant that applies. All are scored on some rows first, then those that still fit and the best of the
// others on all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/vectors/mma/mma_judge.hpp"

namespace halfulp::vectors {

struct MmaFit {
  std::string behaviour;                   ///< `mma:ada_fp8`, `F = 12`, `mutant:c_late: c is added …`
  bool named = false;                      ///< a model as it is
  std::uint64_t rows = 0;                  ///< matched, of those scored
  std::optional<std::size_t> unexplained;  ///< the first row that it does not give
};

struct MmaDiagnosis {
  std::uint64_t rows = 0, rows_by_spec = 0;  ///< scored; those that follow the SPEC
  std::uint64_t behaviours = 0;              ///< tried
  std::vector<MmaFit>
      fits;  ///< those that give every row, models first; else the best, all better than the SPEC

  bool exact() const { return !fits.empty() && fits[0].rows == rows; }
};

/// Explains the answers; nothing where none is wrong. `most` limits the partial fits that are returned.
MmaDiagnosis diagnose_sums(const MmaPlan& plan, const MmaRows& rows, const MmaAnswers& answers,
                           const MmaTally& tally, std::size_t most = 3);

}  // namespace halfulp::vectors
