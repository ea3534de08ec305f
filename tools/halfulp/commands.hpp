// What every subcommand file offers: a function that registers it on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace halfulp::tool {

/// Exit statuses (docs/guide.md).
enum ExitStatus : int { kPassed = 0, kMismatch = 1, kUsage = 2, kIncomplete = 3 };

/// Options that every subcommand accepts.
struct Globals {
  bool json = false;
  bool quiet = false;
  int threads = 0;             ///< 0: all cores
  std::string color = "auto";  ///< auto, always, never
  bool use_color(int file_descriptor) const;
};

/// The chosen subcommand stores here what main() runs; it returns an ExitStatus.
using Runner = std::function<int()>;

void add_formats(CLI::App& app, const Globals& globals, Runner& runner);
void add_decode(CLI::App& app, const Globals& globals, Runner& runner);
void add_cast(CLI::App& app, const Globals& globals, Runner& runner);
void add_thresholds(CLI::App& app, const Globals& globals, Runner& runner);
void add_explain(CLI::App& app, const Globals& globals, Runner& runner);
void add_verify(CLI::App& app, const Globals& globals, Runner& runner);
void add_doctor(CLI::App& app, const Globals& globals, Runner& runner);

}  // namespace halfulp::tool
