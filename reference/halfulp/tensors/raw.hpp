// Raw .bin files: little-endian element words in row-major order; type and shape come from the caller.
#pragma once

#include <span>
#include <string_view>

#include "halfulp/tensors/tensor.hpp"

namespace halfulp::tensors {

/// Throws InputError when type and shape do not give the length of the file. A code narrower than its word
/// stands in the low bits (tf32: in the high bits of 32).
TensorSource open_raw(Bytes bytes, std::string_view dtype, std::span<const std::uint64_t> shape);

}  // namespace halfulp::tensors
