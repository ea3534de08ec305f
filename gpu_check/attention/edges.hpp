// Inputs that lead a kernel over an edge of the definition, put over drawn ones.
#pragma once

#include "gpu_check/attention/cases.hpp"
#include "gpu_check/attention/file.hpp"

namespace halfulp::gpu {

/// Puts the codes and scales of `edge` over the drawn q, k, v and logit_scale of a contiguous problem. The sizes and the spec of
/// the case have to lead there (cases.hpp).
void set_edge(AttentionFile& file, Edge edge);

}  // namespace halfulp::gpu
