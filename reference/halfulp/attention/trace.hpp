// Trace: one output element of a run in words, tile after tile (docs/attention.md, "The steps").
//
// Says nothing of its own: the numbers are the stages of run(), and the last step must come to the code that run() gave.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::attention {

struct TraceStep {
  std::string place;  ///< `kernel`, `tile 2: keys 64 to 127`, `end`
  std::string name;   ///< of the stage or of the step
  std::string text;
};

/// `keys`: how many of the seen keys of a tile are shown. Throws InputError where the problem has no such element.
std::vector<TraceStep> trace(const KernelSpec& spec, const Problem& problem, std::size_t head, std::size_t query, std::size_t channel,
                             std::size_t keys = 4);

}  // namespace halfulp::attention
