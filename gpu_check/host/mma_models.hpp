// Accumulation models in place of matrix instructions.
#pragma once

#include <cstdint>
#include <span>

#include "gpu_check/mma_kinds.hpp"

namespace halfulp::gpu::host {

/// One output of the instruction on the modelled architecture: codes of the kind's formats; c and the result are words of its
/// output; scales where the kind has them. Throws std::logic_error where the architecture has no such instruction.
std::uint32_t model_dot(MmaInstruction instruction, std::span<const std::uint32_t> a, std::span<const std::uint32_t> b, std::uint32_t c,
                        std::span<const std::uint32_t> scale_a = {}, std::span<const std::uint32_t> scale_b = {});

}  // namespace halfulp::gpu::host
