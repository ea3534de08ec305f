// What every subcommand file offers: a function that registers it on the command line.
//
// A command throws InputError (halfulp/error.hpp) for what the user must mend: main() prints it as
// `halfulp: error: WHAT: WHY; HOW TO MEND` and exits with kUsage. The options of Globals are added to every
// command, and to subcommands of commands, by main(). The footer of a command holds its examples, one per
// line after "Examples:", each of which exits with status 0.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

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
  int thread_count() const;  ///< threads, or the number of cores
};

/// The chosen subcommand stores here what main() runs; it returns an ExitStatus.
using Runner = std::function<int()>;

/// Adds the positional values of a command. Negative literals (-0.5, -inf) reach them without `--`.
CLI::Option* add_values(CLI::App& app, std::vector<std::string>& values, const std::string& name,
                        const std::string& description);

void add_formats(CLI::App& app, const Globals& globals, Runner& runner);
void add_decode(CLI::App& app, const Globals& globals, Runner& runner);
void add_cast(CLI::App& app, const Globals& globals, Runner& runner);
void add_thresholds(CLI::App& app, const Globals& globals, Runner& runner);
void add_explain(CLI::App& app, const Globals& globals, Runner& runner);
void add_verify(CLI::App& app, const Globals& globals, Runner& runner);
void add_coverage(CLI::App& app, const Globals& globals, Runner& runner);
void add_diagnose(CLI::App& app, const Globals& globals, Runner& runner);
void add_gen(CLI::App& app, const Globals& globals, Runner& runner);
void add_recipes(CLI::App& app, const Globals& globals, Runner& runner);
void add_quantize(CLI::App& app, const Globals& globals, Runner& runner);
void add_dequantize(CLI::App& app, const Globals& globals, Runner& runner);
void add_diff(CLI::App& app, const Globals& globals, Runner& runner);
void add_mma(CLI::App& app, const Globals& globals, Runner& runner);
void add_gemm(CLI::App& app, const Globals& globals, Runner& runner);
void add_attention(CLI::App& app, const Globals& globals, Runner& runner);
void add_memory(CLI::App& app, const Globals& globals, Runner& runner);
void add_doctor(CLI::App& app, const Globals& globals, Runner& runner);

}  // namespace halfulp::tool
