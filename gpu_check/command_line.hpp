// Command lines of the check's programs: --help on stdout with exit 0, a bad one as one line on stderr with exit 2.
#pragma once

#include <charconv>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "gpu_check/report.hpp"

namespace halfulp::gpu {

/// A command line that cannot be read; the text names the argument and what would be right.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The whole text as a number in [least, most]. Throws UsageError.
inline int number_argument(const std::string& what, const std::string& text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return value;
  throw UsageError(what + " is '" + text + "', not a number from " + std::to_string(least) + " to " + std::to_string(most));
}

/// Runs `body(argc, argv)`, whose return is the exit status. `failed`: the status after any other exception.
template <class Body>
int run_program(const char* name, const char* usage, int failed, int argc, char** argv, Body body) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") != 0 && std::strcmp(argv[i], "-h") != 0) continue;
    std::fputs(usage, stdout);
    return kExitPassed;
  }
  try {
    return body(argc, argv);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: error: %s; see %s --help\n", name, error.what(), name);
    return kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: error: %s\n", name, error.what());
    return failed;
  }
}

}  // namespace halfulp::gpu
