// judge(): runs a kernel over the words of a level and compares every answer with the oracle's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "halfulp/vectors/answers_seen.hpp"
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

/// What a run gave.
struct Judged {
  Tally tally;
  Completeness completeness = Completeness::sampled;
  std::vector<KernelFinding>
      findings;  ///< what ended the run early; the tally holds what was judged before it
  bool finished() const { return findings.empty(); }
};

/// Judges all words of the level. With `seen` the kernel is called from one thread, words ascending, and
/// its answers are noted there. A kernel that does not read its inputs gets words of no meaning at the level
/// exhaustive. Throws InputError where the level does not apply.
Judged judge(const Expected& expected, const Kernel& kernel, const VerifyOptions& options,
             AnswersSeen* seen = nullptr, bool reads_inputs = true);

/// Throws InputError for a cast whose source words cannot all be run.
void require_exhaustible(const Expected& expected);

}  // namespace halfulp::vectors
