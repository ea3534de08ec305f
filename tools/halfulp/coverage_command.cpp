// `halfulp coverage`: what the rows of a pack, or of a level, reach.
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "commands.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/coverage.hpp"
#include "halfulp/vectors/verify_pack.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;
using Json = nlohmann::ordered_json;

struct CoverageArguments {
  std::string subject;  ///< SPEC or pack
  std::string level;    ///< empty: not given
  std::uint64_t seed = 0;
  bool seeded = false;
};

constexpr char kExamples[] =
    "Examples:\n"
    "  halfulp coverage cast:f32:e4m3\n"
    "  halfulp coverage decode:e5m2 --json";

/// What is counted, and what was claimed of it.
struct Counted {
  std::string spec;
  Coverage coverage;
  Completeness claimed = Completeness::sampled;
};

Counted count(const CoverageArguments& arguments) {
  if (is_pack(arguments.subject)) {
    if (!arguments.level.empty() || arguments.seeded)
      throw InputError("pack " + quoted(arguments.subject), "it has its rows already",
                       "leave out --level and --seed");
    require_little_endian();
    const std::unique_ptr<PackReader> pack = read_pack(arguments.subject);
    const Manifest& manifest = pack->manifest();
    const CastRequest request = request_of(manifest, arguments.subject);
    const CastColumns columns = cast_columns(*pack, arguments.subject);
    const Expected expected = expected_of(make_plan(request), manifest);
    require_expected(expected, columns, arguments.subject);
    return {manifest.spec, coverage_of_column(expected, columns.input), manifest.completeness};
  }
  const auto level = value_named<Level>(arguments.level.empty() ? "thresholds" : arguments.level);
  if (!level || *level == Level::exhaustive)
    throw InputError("level " + quoted(arguments.level), level ? "it reaches everything" : "unknown",
                     "use specials, thresholds or stratified");
  const CastSpec spec = parse_spec(arguments.subject);
  const Expected expected(make_plan(spec.request));
  const std::vector<std::uint64_t> words = level_words(expected, *level, arguments.seed).words;
  return {spec.text, coverage(expected, words), completeness(expected, *level, words.size())};
}

Json share_json(const Share& share) {
  return {{"reached", share.reached}, {"all", share.all == 0 ? Json() : Json(share.all)}};
}

std::string json_of(const Counted& counted) {
  const Coverage& coverage = counted.coverage;
  Json flags;
  for (std::size_t i = 0; i < coverage.flags.size(); ++i)
    flags[std::string(kNames<Flag>[i].name)] = coverage.flags[i];
  Json classes;
  for (std::size_t i = 0; i < coverage.classes.size(); ++i)
    classes[std::string(kNames<NumberClass>[i].name)] = coverage.classes[i];
  const Json json = {{"spec", counted.spec},
                     {"inputs", coverage.words},
                     {"refused", coverage.refused},
                     {"codes", share_json(coverage.codes)},
                     {"thresholds", share_json(coverage.thresholds)},
                     {"class_ends", share_json(coverage.ends)},
                     {"ties", share_json(coverage.ties)},
                     {"binades", share_json(coverage.binades)},
                     {"status", flags},
                     {"sources", classes},
                     {"proves", name_of(coverage.completeness())},
                     {"claimed", name_of(counted.claimed)}};
  return json.dump() + "\n";
}

int run_coverage(const CoverageArguments& arguments, const Globals& globals) {
  const Counted counted = count(arguments);
  print(globals.json ? json_of(counted) : counted.spec + "\n" + coverage_text(counted.coverage));
  if (counted.coverage.words == 0) return kIncomplete;
  // Enumerators stand in falling order of proof.
  return counted.coverage.completeness() <= counted.claimed ? kPassed : kMismatch;
}

}  // namespace

void add_coverage(CLI::App& app, const Globals& globals, Runner& runner) {
  CLI::App* command = app.add_subcommand("coverage", "Count what the rows of a pack or of a level reach");
  const auto arguments = std::make_shared<CoverageArguments>();
  command
      ->add_option("spec", arguments->subject,
                   "A pack, cast:FROM:TO[@DIALECT][,key=value]… or decode:FORMAT[:TO]")
      ->type_name("PACK|SPEC")
      ->required();
  command
      ->add_option("--level", arguments->level,
                   "Rows of a SPEC: specials, thresholds (default), stratified")
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
