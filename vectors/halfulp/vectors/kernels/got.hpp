// got(): answers that a kernel has written to a file.
//
// Decides: which files hold the answers of which columns. A wrong number of answers is a finding; a file
// that cannot be read, or whose elements cannot be codes of the column's format, is an error of the user.
#pragma once

#include <string>

#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

/// `path`: .npy, .npz, .safetensors, a folder with NAME.bin per column (a pack, too), anything else: raw
/// little-endian words of the only expected column. Arrays are found by the column's name; an only array
/// needs none.
Plug got(const std::string& path);

}  // namespace halfulp::vectors
