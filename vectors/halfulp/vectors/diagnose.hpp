// diagnose(): which named behaviour explains the answers that were seen.
//
// The space comes from the registries (diagnose_space.hpp): every rounding, right and faulty, x overflow
// rule x test x flush x intermediate format, every NaN and Inf rule, every dialect, sibling format and
// fault of reading or output. Of explanations of everything, the ones with the fewest departures are named,
// and dialects besides; of partial ones, those that leave at most half as many mistakes as the SPEC.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halfulp/vectors/diagnose_behaviour.hpp"
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
  std::string behaviour;  ///< e.g. `rounding=toward_zero`, `@cuda_nosat`, `to=e4m3fnuz`
  Behaviour rule;         ///< the same as a function
  std::vector<std::string>
      equals;  ///< other explanations that gave the same codes wherever they were compared
  std::vector<std::string>
      allowed_by;  ///< the same but for NaN codes, which they leave open and the SPEC does not
  std::uint64_t matched = 0;
  std::uint64_t explained = 0;  ///< of the differences from the SPEC, how many it gives
  std::uint64_t broken = 0;     ///< answers that follow the SPEC and that it does not give
  int departures = 0;  ///< fields that differ from the SPEC; a dialect, a sibling, a fault count one
  std::optional<Finding>
      unexplained;  ///< smallest source word that it does not explain; `want`: its answer
  /// Smallest word compared that tells it from the first fit; `got`: the first fit's answer, `want`: its
  /// own.
  std::optional<Finding> apart;
};

struct Diagnosis {
  std::uint64_t cases = 0;     ///< answers scored
  std::uint64_t by_spec = 0;   ///< of these, how many follow the SPEC itself
  std::uint64_t compared = 0;  ///< words on which the fits were compared with each other
  /// Behaviours that give every answer scored, simplest first; failing that, the best partial ones.
  std::vector<Fit> fits;

  std::uint64_t differences() const { return cases - by_spec; }
  bool exact() const { return !fits.empty() && fits.front().matched == cases; }
};

/// Scores the answers, in any order, of words that the SPEC does not refuse.
Diagnosis diagnose(const Expected& expected, std::span<const Answer> answers);

/// Asks a kernel for the words that tell behaviours apart: the mismatches seen, all ties and specials, and
/// an even part of the level `stratified`; in ascending order of words. Empty when the kernel fails.
std::vector<Answer> answers_of(const Expected& expected, const Kernel& kernel, const Tally& tally,
                               std::uint64_t seed);

}  // namespace halfulp::vectors
