// A verdict on a recipe as a Report.
#pragma once

#include <string>
#include <vector>

#include "halfulp/vectors/blocks/recipe_diagnose.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"
#include "halfulp/vectors/reports/report.hpp"

namespace halfulp::vectors {

/// A recipe judged with a plugged kernel: what belongs to the run beside the verdict.
struct RecipeRun {
  RecipeVerdict verdict;
  BlockDiagnosis diagnosis;  ///< filled when there are mismatches
  std::vector<KernelFinding> findings;
  std::string subject;  ///< SPEC or path of a pack
  std::string option;   ///< Plug::option
  bool of_pack = false;

  bool failed() const;
  bool passed() const { return findings.empty() && verdict.passed(); }
};

Report report_of(const RecipeRun& run);

}  // namespace halfulp::vectors
