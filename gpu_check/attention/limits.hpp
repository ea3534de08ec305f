// What the kernels can take of a file: numbers in their ranges, arrays of the sizes that follow from them.
#pragma once

#include "gpu_check/attention/file.hpp"

namespace halfulp::gpu {

/// Both throw std::runtime_error, naming the number or the array.
void check_limits(const AttentionFile& file);
/// The sizes and the cache are those of the case.
void check_case(const AttentionFile& file, const AttentionCase& each);

}  // namespace halfulp::gpu
