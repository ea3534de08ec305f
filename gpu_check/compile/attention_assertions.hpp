// What must, and must not, stand in the code of the attention kernels (attention_kernels.cu).
#pragma once

#include <string>
#include <vector>

#include "gpu_check/compile/compiler.hpp"

namespace halfulp::gpu {

/// What is wrong, one line per finding; empty: nothing. `architecture` as in "90a".
std::vector<std::string> wrong_in_attention_kernels(const Compiled& made, const std::string& architecture);

}  // namespace halfulp::gpu
