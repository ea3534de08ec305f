// `halfulp verify`: runs a kernel and judges every answer.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/listing.hpp"
#include "halfulp/vectors/reports/report.hpp"
#include "halfulp/vectors/verify_pack.hpp"
#include "plug_options.hpp"
#include "values.hpp"
#include "verify_json.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

struct VerifyArguments {
  std::string subject;  ///< SPEC or pack; with --impl list a name
  std::string implementation;
  PlugArguments plug;
  std::string level;  ///< empty: not given
  std::uint64_t seed = 0;
  bool seeded = false;
  std::string report;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp verify cast:f32:e4m3 --exec 'halfulp cast --from f32 --to e4m3' --text\n"
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
    throw InputError("report " + quoted(report), "its folder cannot be written to", "check the folder and its rights");
}

VerifyOptions options_of(const VerifyArguments& arguments, const Globals& globals) {
  VerifyOptions options;
  const auto level = value_named<Level>(arguments.level.empty() ? "thresholds" : arguments.level);
  if (!level) {
    throw InputError("level " + quoted(arguments.level), "unknown", "use specials, thresholds, stratified or exhaustive");
  }
  options.level = *level;
  options.seed = arguments.seed;
  options.threads = globals.thread_count();
  return options;
}

/// The implementation called so; nullptr, with a line on standard error, when it is not here.
const Implementation* find_implementation(const std::string& name) {
  const Implementation& implementation = require_implementation(name);
  if (implementation.missing.empty()) return &implementation;
  std::fprintf(stderr,
               "halfulp: error: implementation %s: not found: %s; `halfulp verify --impl list` shows what there is\n",
               implementation.name.c_str(), implementation.missing.c_str());
  return nullptr;
}

std::optional<Verdict> judge_pack(const VerifyArguments& arguments, const VerifyOptions& options) {
  if (!arguments.level.empty() || arguments.seeded)
    throw InputError("pack " + quoted(arguments.subject), "it has its rows already", "leave out --level and --seed");
  const std::unique_ptr<PackReader> pack = read_pack(arguments.subject);
  if (arguments.implementation.empty()) return verify_pack(make_plug(arguments.plug), *pack, arguments.subject, options);
  const Implementation* implementation = find_implementation(arguments.implementation);
  if (!implementation) return {};
  const CastRequest request = request_of(pack->manifest(), arguments.subject);
  return verify_pack(implementation_plug(*implementation, request), *pack, arguments.subject, options);
}

/// Nothing when the implementation is not here.
std::optional<Verdict> judge(const VerifyArguments& arguments, const VerifyOptions& options) {
  if (is_pack(arguments.subject)) return judge_pack(arguments, options);
  if (arguments.implementation.empty()) return verify(make_plug(arguments.plug), parse_spec(arguments.subject), options);
  const Implementation* implementation = find_implementation(arguments.implementation);
  if (!implementation) return {};
  return verify(*implementation, parse_spec(arguments.subject), options);
}

void write_report(const std::string& path, const Verdict& verdict) {
  if (path.ends_with(".json"))
    write_file(path, verdict_json(verdict));
  else
    write_file(path, path.ends_with(".html") ? report_html(report_of(verdict)) : report_junit(report_of(verdict)));
}

int run_verify(const VerifyArguments& arguments, const Globals& globals) {
  if (arguments.implementation == "list") return list_implementations(arguments, globals);
  check(arguments);
  VerifyOptions options = options_of(arguments, globals);
  Progress progress;
  const bool shows = !globals.quiet && isatty(STDERR_FILENO);
  if (shows)
    options.progress = [&progress](std::uint64_t done, std::uint64_t total) { progress(done, total); };
  const std::optional<Verdict> verdict = judge(arguments, options);
  if (shows) progress.clear();
  if (!verdict) return kIncomplete;
  if (globals.json)
    print(verdict_json(*verdict));
  else if (!globals.quiet || !verdict->passed())
    print(verdict_text(*verdict, globals.use_color(STDOUT_FILENO)));
  if (!arguments.report.empty()) write_report(arguments.report, *verdict);
  return verdict->failed() ? kMismatch : verdict->passed() ? kPassed : kIncomplete;
}

}  // namespace

void add_verify(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("verify", "Run a kernel and judge every answer");
  const auto arguments = std::make_shared<VerifyArguments>();
  command
      ->add_option("spec", arguments->subject,
                   "A pack, cast:FROM:TO[@DIALECT][,key=value]… or decode:FORMAT[:TO]; with --impl list also the NAME of one")
      ->type_name("PACK|SPEC");
  add_plug_options(*command, arguments->plug);
  command
      ->add_option("--impl", arguments->implementation,
                   "Built-in implementation, or list. Where SPEC names no dialect, its own fills the fields left open")
      ->type_name("NAME")
      ->group("The kernel under test");
  command->add_option("--level", arguments->level, "specials, thresholds (default), stratified, exhaustive")
      ->type_name("LEVEL");
  const CLI::Option* seed =
      digits_only(command->add_option("--seed", arguments->seed, "Seed of the random rows (default 0)")->type_name("N"));
  command->add_option("--report", arguments->report, "Also write the verdict as .html, .json or .xml (JUnit)")->type_name("FILE");
  command->footer(kExamples);
  command->callback([arguments, seed, &globals, &runner] {
    arguments->seeded = seed->count() > 0;
    runner = [arguments, &globals] { return run_verify(*arguments, globals); };
  });
}

}  // namespace halfulp::tool
