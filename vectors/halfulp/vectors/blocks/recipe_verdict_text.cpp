// Verdicts on recipes as JSON, and the diagnosis as text; see recipe_report.hpp.
#include <nlohmann/json.hpp>

#include "halfulp/vectors/blocks/recipe_report.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;

const char* headline(const RecipeVerdict& verdict) {
  return verdict.tally.words_wrong > 0 ? "MISMATCH" : verdict.passed() ? "bit-exact" : "incomplete";
}

std::string unexplained_text(const BlockFit& fit) {
  if (!fit.unexplained) return {};
  return "; first unexplained: row " + std::to_string(fit.unexplained->row) + ", block " +
         std::to_string(fit.unexplained->block) +
         (fit.unexplained->element < 0 ? "" : ", element " + std::to_string(fit.unexplained->element));
}

Json case_json(const BlockCase& one) {
  char got[24], want[24];
  std::snprintf(got, sizeof got, "0x%llx", static_cast<unsigned long long>(one.got));
  std::snprintf(want, sizeof want, "0x%llx", static_cast<unsigned long long>(one.want));
  Json json = {{"class", kBlockFindingNames[static_cast<std::size_t>(one.kind)]},
               {"row", one.row},
               {"block", one.block}};
  if (one.element >= 0) json["element"] = one.element;
  json["got"] = got;
  json["expected"] = want;
  return json;
}

Json json_of(const BlockDiagnosis& diagnosis) {
  Json fits = Json::array();
  for (const BlockFit& fit : diagnosis.fits) {
    Json one = {{"behaviour", fit.behaviour}, {"rows", fit.rows}, {"blocks", fit.blocks}};
    if (fit.unexplained) one["unexplained"] = case_json(*fit.unexplained);
    fits.push_back(one);
  }
  return {{"rows", diagnosis.rows},
          {"by_spec", diagnosis.rows_by_spec},
          {"behaviours", diagnosis.behaviours},
          {"fits", fits}};
}

}  // namespace

std::string admissible_text(const RecipeVerdict& verdict) {
  const auto& recipe = verdict.plan.recipe;
  std::string approximate;
  for (const auto* steps : {&recipe.transform_steps, &recipe.steps}) {
    for (const recipes::Step& step : *steps) {
      const bool many = step.op == recipes::Op::reciprocal_approx || step.op == recipes::Op::log2 ||
                        step.op == recipes::Op::exp2;
      if (many && approximate.find("`" + step.text + "`") == std::string::npos)
        approximate += (approximate.empty() ? "`" : ", `") + step.text + "`";
    }
  }
  return grouped_digits(verdict.tally.by_choice) + " of " + counted(verdict.tally.blocks, "block") +
         " are not the printed result but another admissible one: the producer's own step is "
         "approximate, any value within one ulp is right" +
         (approximate.empty() ? "" : " (" + approximate + ")");
}

std::string diagnosis_text(const BlockDiagnosis& diagnosis) {
  if (diagnosis.rows == 0 || diagnosis.rows_by_spec == diagnosis.rows) return {};
  std::string text = "what would explain it (" + counted(diagnosis.rows, "row") + ", " +
                     grouped_digits(diagnosis.rows - diagnosis.rows_by_spec) + " of them differ; " +
                     counted(diagnosis.behaviours, "behaviour") + " tried)\n";
  if (diagnosis.fits.empty()) text += "  no named behaviour explains these differences\n";
  for (const BlockFit& fit : diagnosis.fits) {
    const std::uint64_t missing = diagnosis.rows - fit.rows;
    if (missing == 0) {
      text += "  all " + counted(diagnosis.rows, "row") + " match " + fit.behaviour + "\n";
    } else {
      text += "  matches " + fit.behaviour + " except " + counted(missing, "row") + " (" +
              grouped_digits(diagnosis.blocks - fit.blocks) + " of " + counted(diagnosis.blocks, "block") + ")" +
              unexplained_text(fit) + "\n";
    }
  }
  return text;
}

std::string diagnosis_json(const BlockDiagnosis& diagnosis) {
  return json_of(diagnosis).dump();
}

std::string recipe_verdict_json(const RecipeVerdict& verdict, const BlockDiagnosis& diagnosis) {
  const BlockTally& tally = verdict.tally;
  Json json = {{"spec", spec_text(verdict.plan)},
               {"implementation", verdict.implementation},
               {"version", verdict.version},
               {"level", name_of(verdict.level)},
               {"seed", verdict.seed},
               {"completeness", "sampled"},
               {"verdict", headline(verdict)},
               {"rows", tally.rows},
               {"rows_wrong", tally.rows_wrong},
               {"blocks", tally.blocks},
               {"blocks_wrong", tally.blocks_wrong},
               {"checked", tally.words},
               {"mismatches", tally.words_wrong},
               {"by_admissible_choice", tally.by_choice},
               {"refused", verdict.rows.refused}};
  if (!verdict.answers.failure.empty()) json["failure"] = verdict.answers.failure;
  if (tally.words_wrong > 0) {
    const BlockCase& one = tally.first();
    Json first = case_json(one), lines = Json::array(), groups = Json::array();
    const RecipeRow& row = verdict.rows.rows[one.row];
    for (const CardLine& line :
         block_card(verdict.plan, row, verdict.rows.expected[one.row], verdict.answers.rows[one.row], one))
      lines.push_back({line.label, line.text});
    first["reproduce"] = reproduce_block(verdict.plan, row, one.block, verdict.level, verdict.seed);
    first["card"] = lines;
    json["first"] = first;
    for (std::size_t i = 0; i < kBlockFindingNames.size(); ++i) {
      const BlockGroup& group = tally.groups[i];
      if (group.count > 0)
        groups.push_back({{"class", kBlockFindingNames[i]},
                          {"count", group.count},
                          {"off_by_one", group.off_by_one},
                          {"first", case_json(group.first)}});
    }
    json["groups"] = groups;
    json["diagnosis"] = json_of(diagnosis);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace halfulp::vectors
