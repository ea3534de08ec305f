// Expected: what a cast must give, for every source word, by the oracle.
//
// Decides: right and wrong. Codes come from the oracle's step function; the integer engine is asked at both
// ends and in the middle of every step, and a disagreement between the two stops everything (Disagreement):
// then no verdict can be trusted.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "halfulp/oracle/limits.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::vectors {

/// The oracle and the integer engine give different answers: a fault of this library.
struct Disagreement : std::logic_error {
  using std::logic_error::logic_error;
};

/// Source words with one answer, consecutive as numbers. NaN sources are included.
struct Run {
  std::uint64_t first = 0;  ///< source bits: container word without its storage_shift
  std::uint64_t last = 0;
  CastResult result;  ///< of `first`
  /// A second admissible code (to_odd past the largest finite).
  std::optional<std::uint64_t> alternative;
};

class Expected {
 public:
  /// `every_word`: tabulate even where that takes seconds, as a sweep needs it. Throws Disagreement, or
  /// InputError for a plan that has no single answer per source word.
  explicit Expected(CastPlan plan, bool every_word = false);

  const CastPlan& plan() const { return plan_; }
  /// True when runs() covers every source word; false for targets with too many codes, judged word by word.
  bool tabulated() const { return !runs_.empty(); }
  const std::vector<Run>& runs() const { return runs_; }
  /// The run of a source word, or one made for this word alone.
  Run at(std::uint64_t word) const;
  /// True when `got` is admissible: equal, the alternative, or any NaN where the policy leaves the NaN
  /// open.
  bool accepts(const Run& run, std::uint64_t got) const;
  bool is_target_nan(std::uint64_t code) const;
  /// Every admissible answer of the run is its code: words may be compared with it directly.
  bool single_answer(const Run& run) const;

 private:
  CastResult ask(std::uint64_t bits, const CastPolicy& policy) const;
  std::vector<Run> tabulate(const CastPolicy& policy) const;
  void cross_check(const Run& run) const;

  CastPlan plan_;
  std::uint64_t random_ = 0;
  std::vector<Run> runs_;
  std::vector<oracle::Limits::CodeRange> nans_;  ///< of the target
};

}  // namespace halfulp::vectors
