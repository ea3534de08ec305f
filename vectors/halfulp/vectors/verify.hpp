// verify(): runs a kernel over a level and judges every answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "halfulp/vectors/diagnose.hpp"
#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/levels.hpp"
#include "halfulp/vectors/tally.hpp"

namespace halfulp::vectors {

struct VerifyOptions {
  Level level = Level::thresholds;
  std::uint64_t seed = 0;
  int threads = 0;  ///< 0: all cores
  /// Called now and then with the words done and their total; from any thread, one at a time. May be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

struct Verdict {
  CastPlan plan;
  std::string implementation;
  std::string version;
  bool own_dialect = false;  ///< Chosen::own_dialect
  std::string unclaimed;     ///< Chosen::unclaimed
  Level level = Level::thresholds;
  std::uint64_t seed = 0;
  Completeness completeness = Completeness::sampled;
  Tally tally;
  Diagnosis diagnosis;  ///< filled when there are mismatches
  std::string failure;  ///< crash, hang or short answer; the tally holds what was judged before it
  double seconds = 0;   ///< of running and judging, without the oracle's table

  bool passed() const { return failure.empty() && tally.checked > 0 && tally.mismatched == 0; }
};

/// Judges one kernel. Throws InputError where the level does not apply, Disagreement where the judge is at
/// fault.
Verdict verify(const Implementation& implementation, const CastRequest& request,
               const VerifyOptions& options);

/// The same in parts, for tests: judge all words of the level.
Tally judge(const Expected& expected, const Kernel& kernel, const VerifyOptions& options,
            Completeness& proved, std::string& failure);

}  // namespace halfulp::vectors
