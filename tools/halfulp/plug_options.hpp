// The kernel under test as `verify` and `diagnose` name it: --got, --exec or --lib.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::tool {

struct PlugArguments {
  std::string got;
  std::string exec;
  std::string lib;
  bool text = false;
  double timeout = 0;  ///< seconds; 0: not given
  /// Which of the three were given.
  int count() const { return (got.empty() ? 0 : 1) + (exec.empty() ? 0 : 1) + (lib.empty() ? 0 : 1); }
};

/// Adds the options to a command.
void add_plug_options(CLI::App& command, PlugArguments& arguments);

/// The kernel that was named. Requires count() == 1. Throws InputError for options that do not fit
/// together.
vectors::Plug make_plug(const PlugArguments& arguments);

}  // namespace halfulp::tool
