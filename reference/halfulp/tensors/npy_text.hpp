// The header of an .npy file: a Python dictionary literal with the keys descr, fortran_order and shape.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "halfulp/tensors/npy.hpp"

namespace halfulp::tensors {

/// Reads descr, fortran_order and shape. `offset` is where `text` starts in `file`, for messages. Throws
/// InputError.
NpyHeader parse_npy_text(std::string_view text, const std::string& file, std::uint64_t offset);

}  // namespace halfulp::tensors
