// Runs a kernel over the rows of an accumulation model and judges every answer.
#pragma once

#include <string>

#include "halfulp/vectors/mma/mma_diagnose.hpp"
#include "halfulp/vectors/mma/mma_pack.hpp"
#include "halfulp/vectors/reports/report.hpp"

namespace halfulp::vectors {

struct MmaRun {
  MmaPlan plan;
  std::string implementation, version, option;
  std::string subject;  ///< SPEC or path of a pack
  bool of_pack = false;
  Level level = Level::stratified;
  std::uint64_t seed = 0;
  MmaRows rows;
  MmaAnswers answers;
  MmaTally tally;
  MmaDiagnosis diagnosis;
  std::vector<KernelFinding> findings;
  double seconds = 0;  ///< of the kernel alone

  bool failed() const;
  bool passed() const { return findings.empty() && tally.passed() && tally.rows == rows.rows.size(); }
};

/// Judges a kernel on the rows of a level. Throws InputError, Disagreement.
MmaRun verify_mma_spec(const Plug& plug, const std::string& spec, const VerifyOptions& options);

/// The same on the rows of a pack of kind mma.
MmaRun verify_mma_pack(const Plug& plug, const PackReader& pack, const std::string& path,
                       const VerifyOptions& options);

/// Judges a kernel on given rows.
MmaRun verify_mma_rows(const Plug& plug, const MmaPlan& plan, MmaRows rows,
                       const VerifyOptions& options = {});

/// `halfulp`, `halfulp-exact`, `mma:MODEL` or `mutant:NAME` as a kernel for a SPEC. Throws InputError.
Plug mma_plug(const std::string& spec, const std::string& implementation);

}  // namespace halfulp::vectors
