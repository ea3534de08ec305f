// `halfulp diagnose`: which named behaviour explains the answers of a kernel.
#include <cstdio>
#include <memory>

#include "arguments.hpp"
#include "commands.hpp"
#include "diagnose_json.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/diagnose_text.hpp"
#include "halfulp/vectors/verify_pack.hpp"
#include "plug_options.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;

struct DiagnoseArguments {
  std::string subject;  ///< SPEC or pack
  PlugArguments plug;
  std::string implementation;
  std::string level;  ///< empty: not given
  std::uint64_t seed = 0;
  bool seeded = false;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp diagnose cast:f32:e4m3 --impl halfulp\n"
    "  halfulp diagnose decode:e4m3 --exec 'halfulp cast --from e4m3 --to f32 --overflow overflow' --text";

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw InputError("standard output", "it cannot be written", "write to a place that can take it");
}

Verdict judge(const DiagnoseArguments& arguments, const Globals& globals) {
  if (arguments.plug.count() + (arguments.implementation.empty() ? 0 : 1) != 1)
    throw InputError("answers", "they come from nowhere or from more than one place",
                     "give one of --got FILE, --exec CMD, --lib FILE and --impl NAME");
  VerifyOptions options;
  options.threads = globals.thread_count();
  options.seed = arguments.seed;
  if (is_pack(arguments.subject)) {
    if (!arguments.level.empty() || arguments.seeded)
      throw InputError("pack " + quoted(arguments.subject), "it has its rows already",
                       "leave out --level and --seed");
    const std::unique_ptr<PackReader> pack = read_pack(arguments.subject);
    if (arguments.implementation.empty())
      return verify_pack(make_plug(arguments.plug), *pack, arguments.subject, options);
    const CastRequest request = request_of(pack->manifest(), arguments.subject);
    return verify_pack(implementation_plug(require_implementation(arguments.implementation), request),
                       *pack, arguments.subject, options);
  }
  const auto level = value_named<Level>(arguments.level.empty() ? "thresholds" : arguments.level);
  if (!level)
    throw InputError("level " + quoted(arguments.level), "unknown",
                     "use specials, thresholds, stratified or exhaustive");
  options.level = *level;
  const CastSpec spec = parse_spec(arguments.subject);
  if (arguments.implementation.empty()) return verify(make_plug(arguments.plug), spec, options);
  return verify(require_implementation(arguments.implementation), spec, options);
}

std::string text_of(const Verdict& verdict) {
  const Tally& tally = verdict.tally;
  std::string text = verdict.spec + "  " + verdict.implementation + ": " + grouped_digits(tally.checked) +
                     " answers, " + grouped_digits(tally.mismatched) + " differ\n";
  for (const KernelFinding& finding : verdict.findings)
    text += "  " + std::string(name_of(finding.trouble)) + ": " + finding.text + "\n";
  if (verdict.passed()) text += "  all answers follow " + verdict.spec + "\n";
  if (verdict.diagnosis.cases == 0) return text;
  text += diagnosis_title(verdict.diagnosis) + "\n";
  for (const DiagnosisLine& line : diagnosis_lines(verdict.plan, verdict.diagnosis)) {
    text += "  " + std::string(line.share.size() < 7 ? 7 - line.share.size() : 0, ' ') + line.share + "  " +
            line.text + "\n";
  }
  return text;
}

std::string json_of(const Verdict& verdict) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const KernelFinding& one : verdict.findings)
    findings.push_back({{"kind", name_of(one.trouble)}, {"text", one.text}});
  const nlohmann::ordered_json json = {{"spec", verdict.spec},
                                       {"subject", verdict.subject},
                                       {"implementation", verdict.implementation},
                                       {"level", name_of(verdict.level)},
                                       {"checked", verdict.tally.checked},
                                       {"mismatches", verdict.tally.mismatched},
                                       {"findings", findings},
                                       {"diagnosis", diagnosis_json(verdict.plan, verdict.diagnosis)}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int run_diagnose(const DiagnoseArguments& arguments, const Globals& globals) {
  const Verdict verdict = judge(arguments, globals);
  print(globals.json ? json_of(verdict) : text_of(verdict));
  return verdict.failed() ? kMismatch : verdict.passed() ? kPassed : kIncomplete;
}

}  // namespace

void add_diagnose(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command =
      app.add_subcommand("diagnose", "Name the behaviour that explains the answers of a kernel");
  const auto arguments = std::make_shared<DiagnoseArguments>();
  command
      ->add_option("spec", arguments->subject,
                   "A pack, cast:FROM:TO[@DIALECT][,key=value]… or decode:FORMAT[:TO]")
      ->type_name("PACK|SPEC")
      ->required();
  add_plug_options(*command, arguments->plug);
  command->add_option("--impl", arguments->implementation, "A built-in implementation or mutant")
      ->type_name("NAME")
      ->group("The kernel under test");
  command
      ->add_option("--level", arguments->level,
                   "Rows of a SPEC: specials, thresholds (default), stratified, exhaustive. Answers in a "
                   "file are of these rows")
      ->type_name("LEVEL");
  const CLI::Option* seed =
      digits_only(command->add_option("--seed", arguments->seed, "Seed of the random rows (default 0)")
                      ->type_name("N"));
  command->footer(kExamples);
  command->callback([arguments, seed, &globals, &runner] {
    arguments->seeded = seed->count() > 0;
    runner = [arguments, &globals] { return run_diagnose(*arguments, globals); };
  });
}

}  // namespace halfulp::tool
