// diagnose(): which named behaviour explains the answers that were seen.
//
// Every rounding x overflow rule x flush x intermediate format, every NaN rule, every dialect and every
// sibling format is scored against the answers on the mismatches, on all ties and specials, and on a part
// of the level `stratified`. Of equals, the simpler explanation wins. A behaviour that explains only a part
// of the differences is named only when that part is nearly all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/tally.hpp"

namespace halfulp::vectors {

/// What a kernel gave for a source word.
struct Answer {
  std::uint64_t word = 0;  ///< source container word
  std::uint64_t got = 0;   ///< target container word
  bool by_spec = false;    ///< admissible under the SPEC
};

struct Fit {
  std::string behaviour;            ///< e.g. `rounding=toward_zero`, `@cuda_nosat`, `to=e4m3fnuz`
  std::vector<std::string> equals;  ///< other names that gave the same codes wherever they were compared
  std::uint64_t matched = 0;
  std::uint64_t explained = 0;         ///< of the differences from the SPEC, how many it gives
  std::uint64_t broken = 0;            ///< answers that follow the SPEC and that it does not give
  int departures = 0;                  ///< fields that differ from the SPEC
  std::optional<Finding> unexplained;  ///< smallest source word that it does not explain; `want`: its answer
};

struct Diagnosis {
  std::uint64_t cases = 0;    ///< answers scored
  std::uint64_t by_spec = 0;  ///< of these, how many follow the SPEC itself
  /// Behaviours that give every answer scored, simplest first; failing that, at most the best one that
  /// explains nine tenths of the differences.
  std::vector<Fit> fits;

  std::uint64_t differences() const { return cases - by_spec; }
};

/// Scores the answers, in any order, of words that the SPEC does not refuse.
Diagnosis diagnose(const Expected& expected, std::span<const Answer> answers);

/// Asks a kernel for the words that tell behaviours apart: the mismatches seen, all ties and specials, and an even part
/// of the level `stratified`; in ascending order of words. Empty when the kernel fails.
std::vector<Answer> answers_of(const Expected& expected, const Kernel& kernel, const Tally& tally,
                               std::uint64_t seed);

}  // namespace halfulp::vectors
