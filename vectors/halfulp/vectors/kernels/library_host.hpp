// The process that runs a shared library: what happens between fork() and its end.
#pragma once

#include <string>

#include "halfulp/vectors/kernels/job_memory.hpp"

namespace halfulp::vectors {

/// First byte on the answer pipe, and one byte per job.
enum class HostReply : unsigned char {
  ready,
  not_loadable,
  no_symbol,
  wrong_abi,
  no_info,
  spec_not_listed,
  device_memory,
  done,
  error
};

/// Loads the library, answers with its name in JobControl::text, then runs a job per byte on `requests`.
/// Never returns.
[[noreturn]] void host_library(const std::string& path, const RowShape& shape, const JobMemory& memory,
                               int requests, int replies);

/// Whether a library that lists `listed` runs `wanted`: casts with the same formats, recipes and the rest
/// with the same name; what follows is free where the library names nothing there.
bool lists_spec(std::string_view listed, std::string_view wanted);

}  // namespace halfulp::vectors
