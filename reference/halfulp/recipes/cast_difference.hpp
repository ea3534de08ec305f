// Where two casts part: by all source codes, or by walking both step functions at once.
#pragma once

#include <cstdint>
#include <string>

#include "halfulp/plan.hpp"

namespace halfulp::recipes {

/// How the codes were compared.
enum class CastSearch : std::uint8_t {
  walk,     ///< both step functions, run by run: exact for casts that are monotone on each side of zero, as all are
  all,      ///< every source code
  sampled,  ///< random source codes
};

/// Numbers are compared apart from NaNs. Results are the same when their codes are, or, for targets of different formats,
/// their values; a refusal is a result.
struct CastDifference {
  bool complete = false;  ///< every source code was compared or stood for by a run or class
  CastSearch how = CastSearch::walk;
  std::uint64_t compared = 0, compared_nan = 0;    ///< source codes
  std::uint64_t differing = 0, differing_nan = 0;  ///< of those
  bool found = false;
  std::uint64_t word = 0;  ///< smallest source code by magnitude, positive first; a NaN only when no number differs
  CastResult a, b;         ///< its results
};

/// Compares two casts with one source format. Formats of up to 16 bits are compared in full; `all` does so for 32 bits. `most`
/// bounds the runs of a walk (a longer one is not complete) and the codes of a sample. Throws InputError for plans without a
/// source format, with different ones, or with stochastic rounding and no random word.
CastDifference compare_casts(const CastPlan& a, const CastPlan& b, CastSearch how = CastSearch::walk,
                             std::uint64_t most = std::uint64_t{1} << 22, int threads = 1);

}  // namespace halfulp::recipes
