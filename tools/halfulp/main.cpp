// The `halfulp` command: registers the subcommands, parses the command line, turns every error into one
// line.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "commands.hpp"
#include "halfulp/vectors/printable.hpp"

namespace halfulp::tool {
namespace {

/// Whatever the user wrote reaches the terminal here only, without its control characters.
int print_error(const std::string& message) {
  std::fprintf(stderr, "halfulp: error: %s\n", vectors::printable(message, message.size()).c_str());
  return kUsage;
}

int run(int argc, char** argv) {
  CLI::App app("Bit-exact numeric formats: casts, thresholds, explanations, verification.", "halfulp");
  app.set_version_flag("--version", "halfulp " HALFULP_VERSION);
  app.require_subcommand(0, 1);
  Globals globals;
  Runner runner;
  add_formats(app, globals, runner);
  add_decode(app, globals, runner);
  add_cast(app, globals, runner);
  add_thresholds(app, globals, runner);
  add_explain(app, globals, runner);
  add_verify(app, globals, runner);
  add_diagnose(app, globals, runner);
  add_gen(app, globals, runner);
  add_coverage(app, globals, runner);
  add_recipes(app, globals, runner);
  add_quantize(app, globals, runner);
  add_dequantize(app, globals, runner);
  add_diff(app, globals, runner);
  add_mma(app, globals, runner);
  add_gemm(app, globals, runner);
  add_attention(app, globals, runner);
  add_memory(app, globals, runner);
  add_doctor(app, globals, runner);
  add_globals(app, globals);
  check_values(app);
  app.footer("`halfulp COMMAND --help` shows the options of a command and examples.");  // last: commands
                                                                                        // would inherit it

  try {
    app.parse(parse_order(argc, argv));
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    const bool written = std::cout.flush().good() && std::fflush(stdout) == 0;
    return written
               ? kPassed
               : print_error("standard output: it cannot be written; write to a place that can take it");
  } catch (const CLI::ParseError& error) {
    return print_error(parse_error_text(app, error));
  }
  if (app.get_subcommands().empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kUsage;
  }
  return runner();
}

}  // namespace
}  // namespace halfulp::tool

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error like a full disk
  try {
    return halfulp::tool::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return halfulp::tool::print_error("memory: the system has no more; give less input at a time");
  } catch (const std::exception& error) {  // InputError among them
    return halfulp::tool::print_error(error.what());
  }
}
