// `halfulp coverage`: what the rows of a pack, or of a level, reach.
#include <memory>

#include "arguments.hpp"
#include "commands.hpp"
#include "coverage_report.hpp"
#include "halfulp/names.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using vectors::Level;

struct CoverageArguments {
  std::string subject;  ///< SPEC or pack
  std::string level;    ///< empty: not given
  std::uint64_t seed = 0;
  bool seeded = false;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp coverage cast:f32:e4m3\n"
    "  halfulp coverage decode:e5m2 --json\n"
    "  halfulp coverage recipe:mxfp4/ocp_floor";

CoverageReport count(const CoverageArguments& arguments, int threads) {
  if (vectors::is_pack(arguments.subject)) {
    if (!arguments.level.empty() || arguments.seeded)
      throw InputError("pack " + quoted(arguments.subject), "it has its rows already", "leave out --level and --seed");
    return coverage_of_pack(*vectors::read_pack(arguments.subject), arguments.subject, threads);
  }
  std::optional<Level> level;
  if (!arguments.level.empty()) {
    level = value_named<Level>(arguments.level);
    if (!level) throw InputError("level " + quoted(arguments.level), "unknown", "use specials, thresholds or stratified");
  }
  return coverage_of_level(arguments.subject, level, arguments.seed, threads);
}

int run_coverage(const CoverageArguments& arguments, const Globals& globals) {
  const CoverageReport report = count(arguments, globals.thread_count());
  print(globals.json ? report.json.dump() + "\n" : report.text);
  if (report.rows == 0) return kIncomplete;
  // Enumerators stand in falling order of proof.
  return report.proves <= report.claimed ? kPassed : kMismatch;
}

}  // namespace

void add_coverage(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("coverage", "Count what the rows of a pack or of a level reach");
  const auto arguments = std::make_shared<CoverageArguments>();
  command
      ->add_option("spec", arguments->subject,
                   "A pack, cast:FROM:TO[@DIALECT][,key=value]…, decode:FORMAT[:TO] or recipe:NAME[,key=value]…")
      ->type_name("PACK|SPEC")
      ->required();
  command
      ->add_option("--level", arguments->level,
                   "Rows of a SPEC: specials, thresholds (default), stratified (default of recipes)")
      ->type_name("LEVEL");
  const CLI::Option* seed =
      digits_only(command->add_option("--seed", arguments->seed, "Seed of the random rows (default 0)")
                      ->type_name("N"));
  command->footer(std::string("Exit status 1 when the rows prove less than the pack claims, 3 when there are none.\n\n") +
                  kExamples);
  command->callback([arguments, seed, &globals, &runner] {
    arguments->seeded = seed->count() > 0;
    runner = [arguments, &globals] { return run_coverage(*arguments, globals); };
  });
}

}  // namespace halfulp::tool
