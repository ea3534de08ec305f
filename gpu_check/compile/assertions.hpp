// What must, and must not, stand in the code of each kernel.
#pragma once

#include <string>
#include <vector>

#include "gpu_check/compile/compiler.hpp"

namespace halfulp::gpu {

/// Each returns what is wrong, one line per finding; empty: nothing. `architecture` as in "90a".
std::vector<std::string> wrong_in_casts(const Compiled& made, const std::string& architecture);
std::vector<std::string> wrong_in_mma(const Compiled& made, const std::string& architecture);
std::vector<std::string> wrong_in_mufu(const Compiled& made, const std::string& architecture);

}  // namespace halfulp::gpu
