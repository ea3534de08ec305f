// `halfulp verify`: runs an implementation and judges every answer.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/listing.hpp"
#include "verify_json.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

struct VerifyArguments {
  std::string spec;
  std::string implementation;
  std::string level;
  std::uint64_t seed = 0;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp verify --impl list\n"
    "  halfulp verify cast:f32:e4m3 --impl halfulp\n"
    "  halfulp verify cast:bf16:e5m2,rounding=toward_zero --impl halfulp-batch --level exhaustive";

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw InputError("standard output", "it cannot be written", "write to a place that can take it");
  }
}

/// One rewritten line with the share, the rate and the time left.
class Progress {
 public:
  void operator()(std::uint64_t done, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    if (seconds < 1 || now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    shown_ = true;
    const double rate = static_cast<double>(done) / seconds;
    std::fprintf(stderr, "\r%5.1f %%  %.0f M inputs/s  %.0f s left   ",
                 100 * static_cast<double>(done) / static_cast<double>(total), rate / 1e6,
                 static_cast<double>(total - done) / rate);
  }
  void clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_;
  bool shown_ = false;
};

int list_implementations(const VerifyArguments& arguments, const Globals& globals) {
  if (globals.json)
    print(implementations_json());
  else
    print(arguments.spec.empty() ? list_text() : claims_text(arguments.spec));
  return kPassed;
}

int run_verify(const VerifyArguments& arguments, const Globals& globals) {
  if (arguments.implementation == "list") return list_implementations(arguments, globals);
  if (arguments.spec.empty()) {
    throw InputError("SPEC", "it is missing", "write e.g. halfulp verify cast:f32:e4m3 --impl halfulp");
  }
  const Implementation& implementation = require_implementation(arguments.implementation);
  VerifyOptions options;
  const auto level = value_named<Level>(arguments.level);
  if (!level) {
    throw InputError("level '" + arguments.level.substr(0, 60) + "'", "unknown",
                     "use specials, thresholds, stratified or exhaustive");
  }
  options.level = *level;
  options.seed = arguments.seed;
  options.threads = globals.thread_count();
  const CastRequest request = parse_cast_spec(arguments.spec);
  if (!implementation.missing.empty()) {
    std::fprintf(
        stderr,
        "halfulp: error: implementation %s: not found: %s; `halfulp verify --impl list` shows what "
        "there is\n",
        implementation.name.c_str(), implementation.missing.c_str());
    return kIncomplete;
  }
  Progress progress;
  const bool shows = !globals.quiet && isatty(STDERR_FILENO);
  if (shows)
    options.progress = [&progress](std::uint64_t done, std::uint64_t total) { progress(done, total); };
  const Verdict verdict = verify(implementation, request, options);
  if (shows) progress.clear();
  if (globals.json)
    print(verdict_json(verdict));
  else if (!globals.quiet || !verdict.passed())
    print(verdict_text(verdict, globals.use_color(STDOUT_FILENO)));
  if (verdict.tally.mismatched > 0) return kMismatch;
  return verdict.passed() ? kPassed : kIncomplete;
}

}  // namespace

void add_verify(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command =
      app.add_subcommand("verify", "Run an implementation of a cast and judge every answer");
  const auto arguments = std::make_shared<VerifyArguments>();
  arguments->level = "thresholds";
  command
      ->add_option("spec", arguments->spec,
                   "cast:FROM:TO[@DIALECT][,key=value]…; with --impl list also the NAME of one")
      ->type_name("SPEC");
  command
      ->add_option("--impl", arguments->implementation,
                   "Implementation under test, or list. Where SPEC names no dialect, its own fills the "
                   "fields left open")
      ->type_name("NAME")
      ->required();
  command->add_option("--level", arguments->level, "specials, thresholds (default), stratified, exhaustive")
      ->type_name("LEVEL");
  command->add_option("--seed", arguments->seed, "Seed of the random rows (default 0)")->type_name("N");
  command->footer(kExamples);
  command->callback([arguments, &globals, &runner] {
    runner = [arguments, &globals] { return run_verify(*arguments, globals); };
  });
}

}  // namespace halfulp::tool
