// diagnose(): which named behaviour explains the answers of a kernel.
//
// Every rounding x overflow rule x flush x intermediate format, every NaN rule, every dialect and every
// sibling format is scored against the answers on the mismatches and on the level `stratified`. Ties go to
// the simpler explanation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/vectors/expected.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/tally.hpp"

namespace halfulp::vectors {

struct Fit {
  std::string behaviour;  ///< e.g. `rounding=toward_zero`, `@cuda_nosat`, `to=e4m3fnuz`
  std::uint64_t matched = 0;
  int departures = 0;                  ///< fields that differ from the SPEC
  std::optional<Finding> unexplained;  ///< smallest source word that it does not explain
};

struct Diagnosis {
  std::uint64_t cases = 0;    ///< answers scored
  std::uint64_t by_spec = 0;  ///< of these, how many follow the SPEC itself
  std::vector<Fit> fits;      ///< best first; only behaviours that explain more than the SPEC does
};

Diagnosis diagnose(const Expected& expected, const Kernel& kernel, const Tally& tally, std::uint64_t seed);

}  // namespace halfulp::vectors
