// A small kernel of its own, row by row, with switches for what real kernels got wrong. Without a fault it computes what
// the reference kernel does, which a test checks.
#pragma once

#include <cstddef>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::vectors {

/// What goes wrong inside the kernel; faults of specs, scales and addresses are edits of what it is given.
struct KernelFaults {
  bool no_rescale_of_parts = false;    ///< split KV: parts are added as they are
  bool no_rescale_of_sum = false;      ///< a new maximum rescales O only
  bool no_rescale_of_output = false;   ///< a new maximum rescales l only
  bool truncates_P = false;            ///< the cast of P is toward zero
  bool multiplies_hidden_V = false;    ///< P = 0 of a hidden key times its V: NaN codes come through
  std::size_t hidden_from = 0;         ///< keys that are hidden though the problem holds them; 0: none
  bool ratio_of_exponentials = false;  ///< soft cap by (e^2x - 1)/(e^2x + 1)
  bool rounds_output_to_f16 = false;   ///< O is cast to f16 before the V scale
  bool forgets_last_lane = false;      ///< of the row sum
  bool scores_through_f16 = false;     ///< scores are kept in f16
};

attention::Stages run_with(const attention::KernelSpec& spec, const attention::Problem& problem, const KernelFaults& faults);

}  // namespace halfulp::vectors
