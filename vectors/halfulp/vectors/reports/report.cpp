// A verdict on a cast as lines and tables.
#include "halfulp/vectors/reports/report.hpp"

#include "halfulp/names.hpp"
#include "halfulp/vectors/diagnose_text.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {
namespace {

/// What the level looked at, and what that proves.
std::string level_text(const Verdict& verdict) {
  const std::string level(name_of(verdict.level));
  const std::string seeded = "a sample, seed " + std::to_string(verdict.seed);
  if (!verdict.finished) return level + ": not finished";
  if (verdict.own_rows) {
    const bool complete = verdict.completeness != Completeness::sampled;
    return std::string("rows of the pack's own, not of its level ") + level + ": " +
           (complete ? std::string(name_of(verdict.completeness)) : "a sample");
  }
  if (verdict.completeness == Completeness::exhaustive) return level + ": every input";
  if (verdict.level == Level::specials) return level + ": a sample";
  if (verdict.completeness == Completeness::sampled) return level + ": " + seeded;
  const std::string complete = level + ": complete for monotone casts (both sides of every boundary)";
  return verdict.level == Level::stratified ? complete + ", and " + seeded : complete;
}

/// Whose rules judge, when the SPEC leaves that open.
std::string judge_text(const CastPlan& plan) {
  const std::string text = "its own dialect @" + plan.dialect;
  if (plan.dialect == "ocp_sat") return text;
  try {
    make_plan({plan.from_name, plan.to_name, "ocp_sat", {}});
    return text + "; for OCP rules write @ocp_sat";
  } catch (const InputError&) {  // OCP has no such cast
    return text;
  }
}

void add_facts(const Verdict& verdict, Report& report) {
  const Tally& tally = verdict.tally;
  const auto fact = [&](const char* label, const std::string& text) {
    report.facts.push_back({label, text});
  };
  fact("under test",
       verdict.implementation + (verdict.version.empty() ? "" : " (" + verdict.version + ")"));
  if (verdict.of_pack) fact("pack", printable(verdict.subject, 200));
  if (verdict.own_dialect) fact("judged by", judge_text(verdict.plan));
  if (!verdict.unclaimed.empty())
    fact("note", verdict.implementation + " does not claim " + verdict.unclaimed);
  fact("level", level_text(verdict));
  fact("checked", counted(tally.checked, "input") +
                      ": " + grouped_digits(tally.checked - tally.mismatched) + " match, " +
                      grouped_digits(tally.mismatched) + " differ");
  if (tally.refused > 0)
    fact("left out", counted(tally.refused, "input") + " that the policy refuses");
}

void add_diagnosis(const Verdict& verdict, Report& report) {
  if (verdict.diagnosis.differences() == 0) return;
  report.diagnosis_title = diagnosis_title(verdict.diagnosis);
  for (const DiagnosisLine& line : diagnosis_lines(verdict.plan, verdict.diagnosis))
    report.diagnosis.push_back({line.share, line.text});
}

void add_groups(const Verdict& verdict, Report& report) {
  report.group_heads = {"class", "count", "0 off", "1 off", ">1 off", "first example"};
  for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
    const Group& group = verdict.tally.groups[i];
    if (group.count == 0) continue;
    report.groups.push_back({std::string(kFindingNames[i]), grouped_digits(group.count),
                             grouped_digits(group.off_by_none), grouped_digits(group.off_by_one),
                             grouped_digits(group.off_by_more),
                             word_text(*verdict.plan.from, group.first.word) + " -> " +
                                 word_text(verdict.plan.to, group.first.got) + ", not " +
                                 word_text(verdict.plan.to, group.first.want)});
  }
}

}  // namespace

Report report_of(const Verdict& verdict) {
  Report report;
  report.outcome = verdict.failed()   ? Report::Outcome::failed
                   : verdict.passed() ? Report::Outcome::passed
                                      : Report::Outcome::incomplete;
  report.verdict = verdict_word(verdict);
  report.spec = verdict.spec;
  report.implementation = verdict.implementation;
  report.checked = verdict.tally.checked;
  report.mismatched = verdict.tally.mismatched;
  report.seconds = verdict.seconds;
  report.findings = verdict.findings;
  report.reproduce = verify_command(verdict.subject, verdict.option, verdict.of_pack, verdict.level, verdict.seed);
  add_facts(verdict, report);
  if (verdict.tally.mismatched == 0) return report;
  const Finding& first = verdict.tally.first();
  report.first =
      "first difference: " + verdict.spec + ", input " + word_text(*verdict.plan.from, first.word);
  report.card = card(verdict.plan, first);
  add_diagnosis(verdict, report);
  add_groups(verdict, report);
  return report;
}

std::string verdict_text(const Verdict& verdict, bool color) {
  return report_text(report_of(verdict), color);
}

}  // namespace halfulp::vectors
