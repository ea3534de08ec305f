// Attention problems with expected stages, made by the reference kernel.
#pragma once

#include <string>

#include "gpu_check/attention/cases.hpp"
#include "gpu_check/attention/file.hpp"
#include "halfulp/attention/kernel_spec.hpp"

namespace halfulp::gpu {

/// Throws std::invalid_argument where the kernels lack a part of the spec or the sizes pass their limits (plan.hpp).
AttentionPlan plan_of(const attention::KernelSpec& spec, const AttentionCase& sizes);

/// The problem of a case, drawn from its name, with every stage as the reference kernel gives it. `dead` fills slots of a
/// cache that hold no live token; no stage depends on it.
AttentionFile make_attention_file(const AttentionCase& each, std::uint32_t dead = 0x7f);

/// Writes the files of kAttentionCases under DATA/attention. Throws std::runtime_error.
void prepare_attention(const std::string& data);

}  // namespace halfulp::gpu
