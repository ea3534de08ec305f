// Recipe verdicts as lines and tables.
#include "halfulp/vectors/reports/report_recipe.hpp"

#include <algorithm>

#include "halfulp/names.hpp"
#include "halfulp/vectors/blocks/recipe_report.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {
namespace {

std::string place_text(const BlockCase& one) {
  return "row " + grouped_digits(one.row) + ", block " + std::to_string(one.block) +
         (one.element < 0 ? "" : ", element " + std::to_string(one.element));
}

void add_facts(const RecipeRun& run, Report& report) {
  const RecipeVerdict& verdict = run.verdict;
  const BlockTally& tally = verdict.tally;
  const auto fact = [&](const char* label, const std::string& text) {
    report.facts.push_back({label, text});
  };
  fact("under test",
       verdict.implementation + (verdict.version.empty() ? "" : " (" + verdict.version + ")"));
  if (run.of_pack) fact("pack", printable(run.subject, 200));
  fact("level", std::string(name_of(verdict.level)) + ": a sample, seed " + std::to_string(verdict.seed));
  fact("checked", counted(tally.rows, "row") + ", " + counted(tally.blocks, "block") + ", " +
                      counted(tally.words, "word") + ": " + grouped_digits(tally.words - std::min(tally.words, tally.words_wrong)) +
                      " match, " + grouped_digits(tally.words_wrong) + " differ");
  if (verdict.answers.lost > 0) fact("no answer", grouped_digits(verdict.answers.lost) + " of these rows");
  if (tally.by_choice > 0) fact("admissible", admissible_text(verdict));
  if (verdict.rows.refused > 0)
    fact("left out", counted(verdict.rows.refused, "row") + " that the recipe refuses");
  if (tally.words_wrong > 0)
    fact("wrong",
         counted(tally.rows_wrong, "row") + ", " + counted(tally.blocks_wrong, "block"));
}

void add_diagnosis(const BlockDiagnosis& diagnosis, Report& report) {
  if (diagnosis.rows == 0) return;
  report.diagnosis_title = "what would explain it (" + counted(diagnosis.rows, "row") + ", " +
                           grouped_digits(diagnosis.rows - diagnosis.rows_by_spec) + " of them differ; " +
                           counted(diagnosis.behaviours, "behaviour") + " tried)";
  for (const BlockFit& fit : diagnosis.fits) {
    const std::uint64_t missing = diagnosis.rows - fit.rows;
    std::string text = fit.behaviour;
    if (missing > 0) {
      text += "  matches except " + counted(missing, "row") + " (" + grouped_digits(diagnosis.blocks - fit.blocks) + " of " +
              counted(diagnosis.blocks, "block") + ")";
      if (fit.unexplained) text += "; first unexplained: " + place_text(*fit.unexplained);
    }
    report.diagnosis.push_back({missing == 0 ? "all" : "", text});
  }
  if (diagnosis.fits.empty())
    report.diagnosis.push_back({"", "no named behaviour explains these differences"});
}

}  // namespace

bool RecipeRun::failed() const {
  return verdict.tally.words_wrong > 0 ||
         std::any_of(findings.begin(), findings.end(),
                     [](const KernelFinding& f) { return is_wrong(f.trouble); });
}

Report report_of(const RecipeRun& run) {
  const RecipeVerdict& verdict = run.verdict;
  const BlockTally& tally = verdict.tally;
  Report report;
  report.outcome = run.failed()   ? Report::Outcome::failed
                   : run.passed() ? Report::Outcome::passed
                                  : Report::Outcome::incomplete;
  report.verdict = run.failed() ? "MISMATCH" : run.passed() ? "bit-exact" : "incomplete";
  report.spec = spec_text(verdict.plan);
  report.implementation = verdict.implementation;
  report.checked = tally.words;
  report.mismatched = tally.words_wrong;
  report.seconds = verdict.seconds;
  report.findings = run.findings;
  report.reproduce = verify_command(run.subject, run.option, run.of_pack, verdict.level, verdict.seed);
  add_facts(run, report);
  if (tally.words_wrong == 0) return report;
  const BlockCase& first = tally.first();
  const RecipeRow& row = verdict.rows.rows[first.row];
  report.first = "first difference: " + place_text(first);
  report.card = block_card(verdict.plan, row, verdict.rows.expected[first.row],
                           verdict.answers.rows[first.row], first);
  report.card.push_back(
      {"reproduce", reproduce_block(verdict.plan, row, first.block, verdict.level, verdict.seed)});
  add_diagnosis(run.diagnosis, report);
  report.group_heads = {"class", "count", "1 off", "first example"};
  for (std::size_t i = 0; i < kBlockFindingNames.size(); ++i) {
    const BlockGroup& group = tally.groups[i];
    if (group.count == 0) continue;
    report.groups.push_back({std::string(kBlockFindingNames[i]), grouped_digits(group.count),
                             grouped_digits(group.off_by_one), place_text(group.first)});
  }
  return report;
}

}  // namespace halfulp::vectors
