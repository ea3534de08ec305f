// Verdicts on recipes as text and JSON; see recipe_report.hpp.
#include <nlohmann/json.hpp>

#include "halfulp/vectors/blocks/recipe_report.hpp"

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;

std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}
std::string aligned(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

void add_line(std::string& text, const std::string& label, const std::string& content) {
  text += "  " + padded(label, 15) + "  " + content + "\n";
}

const char* headline(const RecipeVerdict& verdict) {
  return verdict.tally.words_wrong > 0 ? "MISMATCH" : verdict.passed() ? "bit-exact" : "incomplete";
}

std::string unexplained_text(const BlockFit& fit) {
  if (!fit.unexplained) return {};
  return "; first unexplained: row " + std::to_string(fit.unexplained->row) + ", block " +
         std::to_string(fit.unexplained->block) +
         (fit.unexplained->element < 0 ? "" : ", element " + std::to_string(fit.unexplained->element));
}

void add_groups(const RecipeVerdict& verdict, std::string& text) {
  text += "\n  class                  count      1 off  first\n";
  for (std::size_t i = 0; i < kBlockFindingNames.size(); ++i) {
    const BlockGroup& group = verdict.tally.groups[i];
    if (group.count == 0) continue;
    const BlockCase& first = group.first;
    text += "  " + padded(std::string(kBlockFindingNames[i]), 16) + aligned(grouped(group.count), 12) +
            aligned(grouped(group.off_by_one), 11) + "  row " + std::to_string(first.row) + ", block " +
            std::to_string(first.block) +
            (first.element < 0 ? "" : ", element " + std::to_string(first.element)) + "\n";
  }
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
  return grouped(verdict.tally.by_choice) + " of " + grouped(verdict.tally.blocks) +
         " blocks are not the printed result but another admissible one: the producer's own step is "
         "approximate, any value within one ulp is right" +
         (approximate.empty() ? "" : " (" + approximate + ")");
}

std::string diagnosis_text(const BlockDiagnosis& diagnosis) {
  if (diagnosis.rows == 0 || diagnosis.rows_by_spec == diagnosis.rows) return {};
  std::string text = "what would explain it (" + grouped(diagnosis.rows) + " rows, " +
                     grouped(diagnosis.rows - diagnosis.rows_by_spec) + " of them differ; " +
                     grouped(diagnosis.behaviours) + " behaviours tried)\n";
  if (diagnosis.fits.empty()) text += "  no named behaviour explains these differences\n";
  for (const BlockFit& fit : diagnosis.fits) {
    const std::uint64_t missing = diagnosis.rows - fit.rows;
    if (missing == 0) {
      text += "  all " + grouped(diagnosis.rows) + " rows match " + fit.behaviour + "\n";
    } else {
      text += "  matches " + fit.behaviour + " except " + grouped(missing) +
              (missing == 1 ? " row" : " rows") + " (" + grouped(diagnosis.blocks - fit.blocks) + " of " +
              grouped(diagnosis.blocks) + " blocks)" + unexplained_text(fit) + "\n";
    }
  }
  return text;
}

std::string diagnosis_json(const BlockDiagnosis& diagnosis) {
  return json_of(diagnosis).dump();
}

std::string recipe_verdict_text(const RecipeVerdict& verdict, const BlockDiagnosis& diagnosis, bool color) {
  const BlockTally& tally = verdict.tally;
  const char* paint = verdict.passed() ? "\033[1;32m" : "\033[1;31m";
  std::string text = (color ? paint + std::string(headline(verdict)) + "\033[0m" : headline(verdict)) +
                     "  " + spec_text(verdict.plan) + "\n";
  if (!verdict.implementation.empty())
    add_line(text, "under test",
             verdict.implementation + (verdict.version.empty() ? "" : " (" + verdict.version + ")"));
  add_line(text, "level",
           std::string(name_of(verdict.level)) + ": a sample, seed " + std::to_string(verdict.seed));
  add_line(text, "checked",
           grouped(tally.rows) + " rows, " + grouped(tally.blocks) + " blocks, " + grouped(tally.words) +
               " words: " + grouped(tally.words - std::min(tally.words, tally.words_wrong)) + " match, " +
               grouped(tally.words_wrong) + " differ");
  if (tally.by_choice > 0) add_line(text, "admissible", admissible_text(verdict));
  if (verdict.rows.refused > 0)
    add_line(text, "left out", grouped(verdict.rows.refused) + " rows that the recipe refuses");
  if (!verdict.answers.failure.empty()) add_line(text, "failure", verdict.answers.failure);
  if (tally.words_wrong == 0) return text;
  add_line(text, "wrong", grouped(tally.rows_wrong) + " rows, " + grouped(tally.blocks_wrong) + " blocks");
  const BlockCase& first = tally.first();
  const RecipeRow& row = verdict.rows.rows[first.row];
  text += "\nfirst difference\n";
  for (const CardLine& line : block_card(verdict.plan, row, verdict.rows.expected[first.row],
                                         verdict.answers.rows[first.row], first))
    add_line(text, line.label, line.text);
  add_line(text, "reproduce", reproduce_block(verdict.plan, row, first.block, verdict.level, verdict.seed));
  if (const std::string why = diagnosis_text(diagnosis); !why.empty()) text += "\n" + why;
  add_groups(verdict, text);
  return text;
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
