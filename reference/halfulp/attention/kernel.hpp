// Engine: the reference kernel in float32 operations and the engines of accumulation. Twin: kernel_exact.hpp.
#pragma once

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::attention {

/// Which stages a run keeps; the output O and row_sum, m_last always are.
enum class Keep : std::uint8_t { output, all };

/// Runs every query row. The bits do not depend on `threads` (0: all cores) nor on the SIMD level.
/// Throws InputError where the spec is not valid (check(spec), presets.hpp) or the spans do not fit the shape.
Stages run(const KernelSpec& spec, const Problem& problem, Keep keep = Keep::output, unsigned threads = 1);

}  // namespace halfulp::attention
