// `halfulp verify`: runs a kernel and judges every answer.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "halfulp/vectors/listing.hpp"
#include "halfulp/vectors/reports/report.hpp"
#include "streams.hpp"
#include "values.hpp"
#include "verify_json.hpp"
#include "verify_subject.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp verify cast:f32:e4m3 --exec 'halfulp cast --from f32 --to e4m3' --text\n"
    "  halfulp verify --impl list\n"
    "  halfulp verify cast:bf16:e5m2,rounding=toward_zero --impl halfulp-batch --level exhaustive\n"
    "  halfulp verify attention:fa3_like,out=bf16,stages=yes --impl halfulp";

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
  const std::string& what = arguments.subject;
  if (globals.json)
    print(what.empty() ? implementations_json() : claims_json(what));
  else
    print(what.empty() ? list_text() : claims_text(what));
  return kPassed;
}

void check(const VerifyArguments& arguments) {
  const int kernels = arguments.plug.count() + (arguments.implementation.empty() ? 0 : 1);
  if (kernels != 1) {
    throw InputError("kernel under test", kernels == 0 ? "none is named" : "more than one is named",
                     "give one of --got FILE, --exec CMD, --lib FILE and --impl NAME");
  }
  if (arguments.subject.empty()) {
    throw InputError("SPEC", "it is missing", "write e.g. halfulp verify cast:f32:e4m3 --impl halfulp");
  }
  if (!arguments.implementation.empty() && (arguments.plug.text || arguments.plug.timeout > 0))
    throw InputError("--text and --timeout", "they belong to kernels of your own", "leave them out");
  const std::string& report = arguments.report;
  if (report.empty()) return;
  if (!report.ends_with(".html") && !report.ends_with(".json") && !report.ends_with(".xml"))
    throw InputError("report " + quoted(report), "its form is unknown", "end it with .html, .json or .xml");
  const auto slash = report.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : report.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK) != 0)
    throw InputError("report " + quoted(report), "its folder cannot be written to",
                     "check the folder and its rights");
}

void write_report(const std::string& path, const Shown& shown) {
  if (path.ends_with(".json"))
    write_file(path, shown.json);
  else
    write_file(path, path.ends_with(".html") ? report_html(shown.report) : report_junit(shown.report));
}

int run_verify(VerifyArguments arguments, const Globals& globals) {
  if (arguments.implementation == "list") return list_implementations(arguments, globals);
  check(arguments);
  arguments.threads = globals.thread_count();
  Progress progress;
  const bool shows = !globals.quiet && isatty(STDERR_FILENO);
  if (shows)
    arguments.progress = [&progress](std::uint64_t done, std::uint64_t total) { progress(done, total); };
  const std::optional<Shown> shown = judge_subject(arguments);
  if (shows) progress.clear();
  if (!shown) return kIncomplete;
  using Outcome = Report::Outcome;
  const Outcome outcome = shown->report.outcome;
  if (globals.json)
    print(shown->json);
  else if (!globals.quiet || outcome != Outcome::passed)
    print(report_text(shown->report, globals.use_color(STDOUT_FILENO)));
  if (!arguments.report.empty()) write_report(arguments.report, *shown);
  return outcome == Outcome::failed ? kMismatch : outcome == Outcome::passed ? kPassed : kIncomplete;
}

}  // namespace

void add_verify(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("verify", "Run a kernel and judge every answer");
  const auto arguments = std::make_shared<VerifyArguments>();
  command
      ->add_option("spec", arguments->subject,
                   "A pack, cast:FROM:TO[@DIALECT][,key=value]…, decode:FORMAT[:TO], recipe:NAME…, mma:MODEL… or attention:PRESET…; with --impl list "
                   "also the NAME of one")
      ->type_name("PACK|SPEC");
  add_plug_options(*command, arguments->plug);
  command
      ->add_option("--impl", arguments->implementation,
                   "Built-in implementation, or list. Where SPEC names no dialect, its own fills the "
                   "fields left open")
      ->type_name("NAME")
      ->group("The kernel under test");
  command
      ->add_option("--level", arguments->level,
                   "specials, thresholds (default for casts), stratified (for all else), exhaustive")
      ->type_name("LEVEL");
  const CLI::Option* seed =
      digits_only(command->add_option("--seed", arguments->seed, "Seed of the random rows (default 0)")
                      ->type_name("N"));
  command
      ->add_option("--report", arguments->report, "Also write the verdict as .html, .json or .xml (JUnit)")
      ->type_name("FILE");
  command->footer(kExamples);
  command->callback([arguments, seed, &globals, &runner] {
    arguments->seeded = seed->count() > 0;
    runner = [arguments, &globals] { return run_verify(*arguments, globals); };
  });
}

}  // namespace halfulp::tool
