// Verdicts as lines, tables and JSON; see mma_report.hpp.
#include "halfulp/vectors/mma/mma_report.hpp"

#include <nlohmann/json.hpp>

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;

std::string row_text(std::size_t row) {
  return "row " + grouped_digits(row);
}

std::string diagnosis_title(const MmaDiagnosis& diagnosis) {
  return "what would explain it (" + grouped_digits(diagnosis.rows) + " rows, " +
         grouped_digits(diagnosis.rows - diagnosis.rows_by_spec) + " of them differ; " +
         grouped_digits(diagnosis.behaviours) + " behaviours tried)";
}

std::vector<CardLine> diagnosis_lines(const MmaDiagnosis& diagnosis) {
  std::vector<CardLine> lines;
  std::string same;  // behind the first that explains every row
  for (const MmaFit& fit : diagnosis.fits) {
    const std::uint64_t missing = diagnosis.rows - fit.rows;
    if (missing == 0 && !lines.empty() && lines.front().label == "all") {
      same += (same.empty() ? "" : ", ") + fit.behaviour;
      continue;
    }
    std::string text = fit.behaviour;
    if (missing > 0)
      text += "  matches except " + grouped_digits(missing) + (missing == 1 ? " row" : " rows");
    if (fit.unexplained) text += "; first unexplained: " + row_text(*fit.unexplained);
    lines.push_back({missing == 0 ? "all" : "", text});
  }
  if (!same.empty())
    lines.insert(lines.begin() + 1,
                 {"", "not told apart by the " + grouped_digits(diagnosis.rows) + " rows compared: " + same});
  if (lines.empty()) lines.push_back({"", "no named accumulation explains these differences"});
  return lines;
}

std::string undecided_text(const MmaTally& tally) {
  return grouped_digits(tally.undecided) +
         " rows, on which the zero rules part: " + grouped_digits(tally.as_expected) + " as the SPEC's, " +
         grouped_digits(tally.as_other) + " as the other; never a failure";
}

void add_facts(const MmaRun& run, Report& report) {
  const MmaTally& tally = run.tally;
  const auto fact = [&](const char* label, const std::string& text) {
    report.facts.push_back({label, text});
  };
  fact("under test", run.implementation + (run.version.empty() ? "" : " (" + run.version + ")"));
  if (run.of_pack) fact("pack", printable(run.subject, 200));
  fact("level", std::string(name_of(run.level)) + ": a sample, seed " + std::to_string(run.seed));
  fact("checked", grouped_digits(tally.rows) + " rows of " + std::to_string(run.plan.k) +
                      " products: " + grouped_digits(tally.rows - tally.undecided - tally.wrong) +
                      " match, " + grouped_digits(tally.wrong) + " differ");
  if (tally.undecided > 0) fact("undecided", undecided_text(tally));
  if (run.rows.left_out > 0)
    fact("left out", grouped_digits(run.rows.left_out) + " rows whose order matters");
  if (tally.rows < run.rows.rows.size())
    fact("no answer", grouped_digits(run.rows.rows.size() - tally.rows) + " rows");
}

Report::Outcome outcome_of(const MmaRun& run) {
  return run.failed()   ? Report::Outcome::failed
         : run.passed() ? Report::Outcome::passed
                        : Report::Outcome::incomplete;
}
std::string verdict_word(const MmaRun& run) {
  return run.failed() ? "MISMATCH" : run.passed() ? "bit-exact" : "incomplete";
}

std::string hex(std::uint32_t word) {
  char text[12];
  std::snprintf(text, sizeof text, "0x%08x", word);
  return text;
}

Json json_of(const MmaDiagnosis& diagnosis) {
  Json fits = Json::array();
  for (const MmaFit& fit : diagnosis.fits) {
    Json one = {{"behaviour", fit.behaviour}, {"rows", fit.rows}};
    if (fit.unexplained) one["unexplained"] = *fit.unexplained;
    fits.push_back(one);
  }
  return {{"rows", diagnosis.rows},
          {"by_spec", diagnosis.rows_by_spec},
          {"behaviours", diagnosis.behaviours},
          {"fits", fits}};
}

Json findings_json(const MmaRun& run) {
  Json findings = Json::array();
  for (const KernelFinding& one : run.findings)
    findings.push_back({{"kind", name_of(one.trouble)}, {"text", one.text}});
  return findings;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Report report_of(const MmaRun& run) {
  const MmaTally& tally = run.tally;
  Report report;
  report.outcome = outcome_of(run);
  report.verdict = verdict_word(run);
  report.spec = spec_text(run.plan);
  report.implementation = run.implementation;
  report.checked = tally.rows;
  report.mismatched = tally.wrong;
  report.seconds = run.seconds;
  report.findings = run.findings;
  report.reproduce = verify_command(run.subject, run.option, run.of_pack, run.level, run.seed);
  add_facts(run, report);
  if (tally.wrong == 0) return report;
  const MmaCase& first = tally.first();
  const MmaRow& row = run.rows.rows[first.row];
  report.first = "first difference: " + row_text(first.row);
  report.card = mma_card(run.plan, row, first);
  report.card.push_back({"reproduce", reproduce_row(run, first.row)});
  report.card.push_back({"", "prints " + printed_result(run.plan, first.want)});
  report.diagnosis_title = diagnosis_title(run.diagnosis);
  report.diagnosis = diagnosis_lines(run.diagnosis);
  report.group_heads = {"class", "count", "1 off", "first example"};
  for (std::size_t i = 0; i < kMmaFindingNames.size(); ++i) {
    const MmaGroup& group = tally.groups[i];
    if (group.count > 0)
      report.groups.push_back({std::string(kMmaFindingNames[i]), grouped_digits(group.count),
                               grouped_digits(group.off_by_one), row_text(group.first.row)});
  }
  return report;
}

std::string verdict_json(const MmaRun& run) {
  const MmaTally& tally = run.tally;
  Json json = {
      {"spec", spec_text(run.plan)},
      {"subject", run.subject},
      {"implementation", run.implementation},
      {"version", run.version},
      {"level", name_of(run.level)},
      {"seed", run.seed},
      {"completeness", "sampled"},
      {"verdict", verdict_word(run)},
      {"rows", run.rows.rows.size()},
      {"checked", tally.rows},
      {"mismatches", tally.wrong},
      {"undecided",
       {{"rows", tally.undecided}, {"as_expected", tally.as_expected}, {"as_other", tally.as_other}}},
      {"left_out", run.rows.left_out},
      {"findings", findings_json(run)},
      {"reproduce", report_of(run).reproduce}};
  if (tally.wrong > 0) {
    const MmaCase& one = tally.first();
    Json card = Json::array(), groups = Json::array();
    for (const CardLine& line : mma_card(run.plan, run.rows.rows[one.row], one))
      card.push_back({line.label, line.text});
    json["first"] = {{"class", kMmaFindingNames[static_cast<std::size_t>(one.kind)]},
                     {"row", one.row},
                     {"got", hex(one.got)},
                     {"expected", hex(one.want)},
                     {"reproduce", reproduce_row(run, one.row)},
                     {"prints", printed_result(run.plan, one.want)},
                     {"card", card}};
    for (std::size_t i = 0; i < kMmaFindingNames.size(); ++i) {
      const MmaGroup& group = tally.groups[i];
      if (group.count > 0)
        groups.push_back({{"class", kMmaFindingNames[i]},
                          {"count", group.count},
                          {"off_by_one", group.off_by_one},
                          {"first_row", group.first.row}});
    }
    json["groups"] = groups;
    json["diagnosis"] = json_of(run.diagnosis);
  }
  return line_of(json);
}

std::string diagnosis_text(const MmaRun& run) {
  std::string text = spec_text(run.plan) + "  " + run.implementation + ": " +
                     grouped_digits(run.tally.rows) + " rows, " + grouped_digits(run.tally.wrong) +
                     " differ\n";
  for (const KernelFinding& finding : run.findings)
    text += "  " + std::string(name_of(finding.trouble)) + ": " + finding.text + "\n";
  if (run.tally.undecided > 0) text += "  undecided: " + undecided_text(run.tally) + "\n";
  if (run.passed()) text += "  all answers follow " + spec_text(run.plan) + "\n";
  if (run.tally.wrong == 0) return text;
  text += diagnosis_title(run.diagnosis) + "\n";
  for (const CardLine& line : diagnosis_lines(run.diagnosis))
    text += "  " + (line.label.empty() ? std::string() : line.label + " rows match ") + line.text + "\n";
  return text;
}

std::string diagnosis_json(const MmaRun& run) {
  return line_of({{"spec", spec_text(run.plan)},
                  {"subject", run.subject},
                  {"implementation", run.implementation},
                  {"level", name_of(run.level)},
                  {"checked", run.tally.rows},
                  {"mismatches", run.tally.wrong},
                  {"undecided", run.tally.undecided},
                  {"findings", findings_json(run)},
                  {"diagnosis", json_of(run.diagnosis)}});
}

}  // namespace halfulp::vectors
