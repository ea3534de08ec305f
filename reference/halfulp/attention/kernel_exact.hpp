// Exact twin of the reference kernel: every step from exact rationals and one rounding by the oracle. Slow on purpose.
#pragma once

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::attention {

/// As run (kernel.hpp) with all stages kept, bit for bit.
Stages run_exact(const KernelSpec& spec, const Problem& problem);

}  // namespace halfulp::attention
