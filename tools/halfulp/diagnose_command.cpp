// `halfulp diagnose`: which named behaviour explains the answers of a kernel.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "arguments.hpp"
#include "attention_verify.hpp"
#include "commands.hpp"
#include "diagnose_json.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/blocks/recipe_plan.hpp"
#include "halfulp/vectors/blocks/recipe_report.hpp"
#include "halfulp/vectors/diagnose_text.hpp"
#include "halfulp/vectors/mma/mma_report.hpp"
#include "halfulp/vectors/verify_pack.hpp"
#include "plug_options.hpp"
#include "streams.hpp"
#include "values.hpp"
#include "verify_recipe.hpp"

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
    "  halfulp diagnose recipe:mxfp8/ocp_floor --impl recipe:mxfp8/rceil\n"
    "  halfulp diagnose decode:e4m3 --exec 'halfulp cast --from e4m3 --to f32 --overflow overflow' --text\n"
    "  halfulp diagnose attention:fa3_like,out=bf16 --impl halfulp";

VerifyOptions options_of(const DiagnoseArguments& arguments, const Globals& globals) {
  VerifyOptions options;
  options.threads = globals.thread_count();
  options.seed = arguments.seed;
  const bool of_rows = is_recipe_spec(arguments.subject) || is_mma_spec(arguments.subject) ||
                       is_attention_spec(arguments.subject);
  const std::string usual = of_rows ? "stratified" : "thresholds";
  const auto level = value_named<Level>(arguments.level.empty() ? usual : arguments.level);
  if (!level)
    throw InputError("level " + quoted(arguments.level), "unknown",
                     "use specials, thresholds, stratified or exhaustive");
  options.level = *level;
  return options;
}

void check(const DiagnoseArguments& arguments) {
  if (arguments.plug.count() + (arguments.implementation.empty() ? 0 : 1) != 1)
    throw InputError("answers", "they come from nowhere or from more than one place",
                     "give one of --got FILE, --exec CMD, --lib FILE and --impl NAME");
  if (!arguments.implementation.empty() && (arguments.plug.text || arguments.plug.timeout > 0))
    throw InputError("--text and --timeout", "they belong to kernels of your own", "leave them out");
  if (is_pack(arguments.subject) && (!arguments.level.empty() || arguments.seeded))
    throw InputError("pack " + quoted(arguments.subject), "it has its rows already",
                     "leave out --level and --seed");
}

/// The judged recipe, where the subject is one.
std::optional<RecipeRun> judge_recipe(const DiagnoseArguments& arguments, const PackReader* pack,
                                      const VerifyOptions& options) {
  const bool of_recipe =
      pack == nullptr ? is_recipe_spec(arguments.subject) : pack->manifest().kind == "recipe";
  if (!of_recipe) return std::nullopt;
  const std::string spec = pack == nullptr ? arguments.subject : pack->manifest().spec;
  const Plug plug = arguments.implementation.empty() ? make_plug(arguments.plug)
                                                     : recipe_plug(spec, arguments.implementation);
  return pack == nullptr ? verify_recipe_spec(plug, spec, options)
                         : verify_recipe_pack(plug, *pack, arguments.subject, options);
}

/// The judged accumulation model, where the subject is one.
std::optional<MmaRun> judge_mma(const DiagnoseArguments& arguments, const PackReader* pack, const VerifyOptions& options) {
  const bool of_mma = pack == nullptr ? is_mma_spec(arguments.subject) : pack->manifest().kind == "mma";
  if (!of_mma) return std::nullopt;
  const std::string spec = pack == nullptr ? arguments.subject : pack->manifest().spec;
  const Plug plug = arguments.implementation.empty() ? make_plug(arguments.plug) : mma_plug(spec, arguments.implementation);
  return pack == nullptr ? verify_mma_spec(plug, spec, options) : verify_mma_pack(plug, *pack, arguments.subject, options);
}

Verdict judge_cast(const DiagnoseArguments& arguments, const PackReader* pack,
                   const VerifyOptions& options) {
  if (pack != nullptr) {
    if (arguments.implementation.empty())
      return verify_pack(make_plug(arguments.plug), *pack, arguments.subject, options);
    const CastRequest request = request_of(pack->manifest(), arguments.subject);
    return verify_pack(implementation_plug(require_implementation(arguments.implementation), request),
                       *pack, arguments.subject, options);
  }
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

std::string text_of(const RecipeRun& run) {
  const BlockTally& tally = run.verdict.tally;
  const std::string spec = spec_text(run.verdict.plan);
  std::string text = spec + "  " + run.verdict.implementation + ": " + grouped_digits(tally.rows) +
                     " rows of " + grouped_digits(tally.words) + " words, " +
                     grouped_digits(tally.rows_wrong) + " rows differ\n";
  for (const KernelFinding& finding : run.findings)
    text += "  " + std::string(name_of(finding.trouble)) + ": " + finding.text + "\n";
  if (run.passed()) text += "  all answers follow " + spec + "\n";
  return text + diagnosis_text(run.diagnosis);
}

std::string json_of(const RecipeRun& run) {
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const KernelFinding& one : run.findings)
    findings.push_back({{"kind", name_of(one.trouble)}, {"text", one.text}});
  const nlohmann::ordered_json json = {
      {"spec", spec_text(run.verdict.plan)},
      {"subject", run.subject},
      {"implementation", run.verdict.implementation},
      {"level", name_of(run.verdict.level)},
      {"checked", run.verdict.tally.words},
      {"mismatches", run.verdict.tally.words_wrong},
      {"findings", findings},
      {"diagnosis", nlohmann::ordered_json::parse(diagnosis_json(run.diagnosis))}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string text_of(const MmaRun& run) { return diagnosis_text(run); }
std::string json_of(const MmaRun& run) { return diagnosis_json(run); }
std::string text_of(const AttentionRun& run) { return attention_diagnosis_text(run); }
std::string json_of(const AttentionRun& run) { return attention_json(run); }

template <class Judged>
int show(const Judged& judged, const Globals& globals) {
  print(globals.json ? json_of(judged) : text_of(judged));
  return judged.failed() ? kMismatch : judged.passed() ? kPassed : kIncomplete;
}

/// The judged attention kernel, where the subject is one.
std::optional<AttentionRun> judge_attention_kernel(const DiagnoseArguments& arguments, const PackReader* pack, const VerifyOptions& options) {
  const AttentionSubject subject = {arguments.implementation, arguments.plug};
  if (pack != nullptr) {
    if (pack->manifest().kind != "attention") return std::nullopt;
    return verify_attention_pack(subject, *pack, arguments.subject, options);
  }
  if (!is_attention_spec(arguments.subject)) return std::nullopt;
  return verify_attention_spec(subject, arguments.subject, options);
}

int run_diagnose(const DiagnoseArguments& arguments, const Globals& globals) {
  check(arguments);
  const VerifyOptions options = options_of(arguments, globals);
  const std::unique_ptr<PackReader> pack =
      is_pack(arguments.subject) ? read_pack(arguments.subject) : nullptr;
  if (const std::optional<AttentionRun> run = judge_attention_kernel(arguments, pack.get(), options))
    return show(*run, globals);
  if (const std::optional<RecipeRun> run = judge_recipe(arguments, pack.get(), options))
    return show(*run, globals);
  if (const std::optional<MmaRun> run = judge_mma(arguments, pack.get(), options)) return show(*run, globals);
  return show(judge_cast(arguments, pack.get(), options), globals);
}

}  // namespace

void add_diagnose(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command =
      app.add_subcommand("diagnose", "Name the behaviour that explains the answers of a kernel");
  const auto arguments = std::make_shared<DiagnoseArguments>();
  command
      ->add_option("spec", arguments->subject,
                   "A pack, cast:FROM:TO[@DIALECT][,key=value]…, decode:FORMAT[:TO], recipe:NAME…, mma:MODEL… or attention:PRESET…")
      ->type_name("PACK|SPEC")
      ->required();
  add_plug_options(*command, arguments->plug);
  command->add_option("--impl", arguments->implementation, "A built-in implementation or mutant")
      ->type_name("NAME")
      ->group("The kernel under test");
  command
      ->add_option(
          "--level", arguments->level,
          "Rows of a SPEC: specials, thresholds (default), stratified (default for recipes and mma), exhaustive. "
          "Answers in a file are of these rows")
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
