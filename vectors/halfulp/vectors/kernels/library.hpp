// library(): a kernel in a shared library (halfulp/kernel.h), loaded in a process of its own.
//
// Decides: what a crash, a hang, a write out of bounds and non-determinism of a library are, and on which
// rows.
#pragma once

#include <chrono>
#include <string>

#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

/// Rows that crash or hang are found by halves in new processes and passed over, up to 8 that crash or 3
/// that hang; the rest of the rows is judged.
struct LibraryOptions {
  std::chrono::milliseconds timeout = kUsualTimeout;  ///< for loading, and for one job
};

/// Opening it throws InputError when the file is no such library, has another ABI version or does not list
/// the SPEC.
Plug library(const std::string& path, const LibraryOptions& options);

}  // namespace halfulp::vectors
