// Casts are counted word by word, recipes by the codes of their rows; see coverage_report.hpp.
#include "coverage_report.hpp"

#include "halfulp/error.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/attention/plan.hpp"
#include "halfulp/vectors/blocks/recipe_coverage.hpp"
#include "halfulp/vectors/blocks/recipe_pack.hpp"
#include "halfulp/vectors/blocks/row_flags.hpp"
#include "halfulp/vectors/coverage.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/mma/mma_plan.hpp"
#include "halfulp/vectors/verify_pack.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;
using Json = nlohmann::ordered_json;

Json share_json(const Share& share) {
  return {{"reached", share.reached}, {"all", share.all == 0 ? Json() : Json(share.all)}};
}

CoverageReport report(const std::string& spec, const Coverage& coverage, Completeness claimed) {
  Json flags;
  for (std::size_t i = 0; i < coverage.flags.size(); ++i) flags[std::string(kNames<Flag>[i].name)] = coverage.flags[i];
  Json classes;
  for (std::size_t i = 0; i < coverage.classes.size(); ++i)
    classes[std::string(kNames<NumberClass>[i].name)] = coverage.classes[i];
  const Json json = {{"spec", spec},
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
                     {"claimed", name_of(claimed)}};
  return {spec + "\n" + coverage_text(coverage), json, coverage.words, coverage.completeness(), claimed};
}

CoverageReport report(const RecipePlan& plan, const RecipeRows& rows) {
  const RecipeCoverage coverage = recipe_coverage(plan, rows);
  const std::string spec = spec_text(plan);
  Json flags;
  for (std::size_t i = 0; i < coverage.flags.size(); ++i) flags[row_flags()[i].name] = coverage.flags[i];
  Json json = {{"spec", spec}, {"rows", coverage.rows}, {"blocks", coverage.blocks}, {"elements", coverage.elements},
               {"refused", coverage.refused}};
  if (!coverage.code_format.empty()) json["codes"] = share_json(coverage.codes);
  if (!coverage.scale_format.empty()) json["scales"] = share_json(coverage.scales);
  if (!coverage.zero_format.empty()) json["zeros"] = share_json(coverage.zeros);
  if (!coverage.code_format.empty() && !coverage.scale_format.empty()) json["pairs"] = share_json(coverage.pairs);
  json["flags"] = flags;
  json["proves"] = json["claimed"] = name_of(Completeness::sampled);
  return {spec + "\n" + coverage_text(coverage), json, coverage.rows};
}

/// Packs and SPECs of sums and of attention: their levels promise nothing that could be counted.
InputError not_counted(const std::string& subject, const std::string& kind) {
  return InputError(kind + " " + quoted(subject), "rows of casts and recipes are counted, no others", "judge a kernel by it: `halfulp verify`");
}

}  // namespace

CoverageReport coverage_of_pack(const PackReader& pack, const std::string& path, int threads) {
  require_little_endian();
  const Manifest& manifest = pack.manifest();
  if (manifest.kind == "recipe") {
    RecipePack read = read_recipe_pack(pack, threads);
    read.rows.refused = manifest.refused;
    return report(read.plan, read.rows);
  }
  if (manifest.kind == "mma" || manifest.kind == "attention") throw not_counted(path, manifest.kind + " pack");
  const CastRequest request = request_of(manifest, path);
  const CastColumns columns = cast_columns(pack, path);
  const Expected expected = expected_of(make_plan(request), manifest);
  require_expected(expected, columns, path);
  return report(manifest.spec, coverage_of_column(expected, columns.input), manifest.completeness);
}

CoverageReport coverage_of_level(const std::string& subject, std::optional<Level> level, std::uint64_t seed, int threads) {
  if (is_recipe_spec(subject)) {
    const RecipePlan plan = parse_recipe_spec(subject);
    return report(plan, level_rows(plan, level.value_or(Level::stratified), seed, threads));
  }
  if (is_mma_spec(subject) || is_attention_spec(subject)) throw not_counted(subject, "SPEC");
  if (level == Level::exhaustive)
    throw InputError("level exhaustive", "it reaches everything", "use specials, thresholds or stratified");
  const CastSpec spec = parse_spec(subject);
  const Expected expected(make_plan(spec.request));
  const Level chosen = level.value_or(Level::thresholds);
  const std::vector<std::uint64_t> words = level_words(expected, chosen, seed).words;
  return report(spec.text, coverage(expected, words), completeness(expected, chosen, words.size()));
}

}  // namespace halfulp::tool
