// Attention verdicts as lines and tables.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "halfulp/names.hpp"
#include "halfulp/vectors/attention/verify.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {
namespace {

std::string hex(std::uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", static_cast<unsigned>(word));
  return text;
}

std::string value_text(const std::string& format, std::uint32_t word) {
  char text[64];
  const auto value = static_cast<double>(attention::value_of(attention::format_named(format), word));
  std::snprintf(text, sizeof text, "%s (%.9g, %a)", hex(word).c_str(), value, value);
  return text;
}

const AttentionColumn& column_named(const std::vector<AttentionColumn>& columns, const std::string& name) {
  for (const AttentionColumn& column : columns) {
    if (column.name == name) return column;
  }
  return columns.back();
}

/// `head 1, query 0, place 17`.
std::string place_text(const AttentionRun& run, const StageTally& stage, const AttentionColumn& column) {
  const attention::Shape& shape = run.plan.frame.shape;
  const std::size_t rows = shape.query_heads * shape.queries, each = column.words() / rows;
  return "row " + std::to_string(stage.row) + ", query head " +
         std::to_string(stage.word / each / shape.queries) + ", query " +
         std::to_string(stage.word / each % shape.queries) + ", place " + std::to_string(stage.word % each);
}

std::string row_text(const AttentionRun& run, std::size_t row) {
  if (row >= run.rows.probes.size()) return "random data";
  const attention::Probe& probe = run.rows.probes[row];
  return "probe " + probe.kind + ": " + probe.title;
}

/// The first claim that is violated, and, where a probe makes it, its proof.
void add_violation(const AttentionRun& run, Report& report) {
  const std::size_t row = *run.tally.violated_row;
  report.card.push_back(
      {"claim", "violated in row " + std::to_string(row) + ": " + run.tally.claims.first});
  if (row >= run.rows.probes.size()) return;
  report.card.push_back({"proof", run.rows.probes[row].proof});
  report.card.push_back({"who fails", run.rows.probes[row].fails});
}

std::string order_free_spec(AttentionPlan plan) {
  plan.order_unknown = true;
  plan.stages = false;
  return spec_text(plan);
}

void add_first(const AttentionRun& run, Report& report) {
  const StageTally* stage = run.tally.first();
  if (stage == nullptr) return;
  const auto columns = attention_outputs(run.plan);
  const AttentionColumn& column = column_named(columns, stage->name);
  report.first = "first difference: stage " + stage->name + ", " + place_text(run, *stage, column);
  report.card = {{"row", row_text(run, stage->row)},
                 {"got", value_text(column.format, stage->got)},
                 {"expected", value_text(column.format, stage->want)}};
  if (run.tally.violated_row)
    add_violation(run, report);
  else
    report.card.push_back(
        {"note",
         "no claim of a probe is violated: an order of sums or a rounding may be all that differs; " +
             order_free_spec(run.plan) + " judges what holds in every order"});
}

std::string claims_text(const ClaimTally& claims) {
  std::string again;
  if (claims.violated > 0)
    again = " (" + grouped_digits(claims.rechecked) + " re-checked: " +
            grouped_digits(claims.rechecked - claims.enclosed) + " in rational numbers, " +
            grouped_digits(claims.enclosed) + " on random data in 256 bits)";
  return grouped_digits(claims.violated) + " violated" + again + ", " + grouped_digits(claims.forced) +
         " forced, " + grouped_digits(claims.admissible) + " admissible" +
         (claims.undecided == 0 ? "" : ", " + grouped_digits(claims.undecided) + " undecided");
}

/// The kinds of probes of which none claims anything under these masks.
std::string silent_probes(const std::vector<attention::Probe>& probes) {
  std::vector<std::string> silent;
  std::set<std::string> asking;
  for (const attention::Probe& probe : probes) {
    if (probe.claims()) asking.insert(probe.kind);
    else if (probe.kind != "permutation" && std::ranges::find(silent, probe.kind) == silent.end()) silent.push_back(probe.kind);
  }
  std::string text;
  for (const std::string& kind : silent) {
    if (!asking.contains(kind)) text += (text.empty() ? "" : ", ") + kind;
  }
  return text;
}

}  // namespace

Report report_of(const AttentionRun& run) {
  Report report;
  report.outcome = run.failed()   ? Report::Outcome::failed
                   : run.passed() ? Report::Outcome::passed
                                  : Report::Outcome::incomplete;
  report.verdict = run.plan.order_unknown ? (run.failed()   ? "VIOLATION"
                                             : run.passed() ? "no violation"
                                                            : "incomplete")
                                          : (run.failed()   ? "MISMATCH"
                                             : run.passed() ? "bit-exact"
                                                            : "incomplete");
  report.spec = spec_text(run.plan);
  report.implementation = run.implementation;
  report.checked = run.plan.order_unknown ? run.tally.claims.violated + run.tally.claims.forced +
                                                run.tally.claims.admissible + run.tally.claims.undecided
                                          : run.tally.compared();
  report.mismatched = run.plan.order_unknown ? run.tally.claims.violated : run.tally.wrong();
  report.seconds = run.seconds;
  report.findings = run.findings;
  report.reproduce = verify_command(run.subject, run.option, run.of_pack, run.level, run.seed);
  const auto fact = [&](const char* label, const std::string& text) {
    report.facts.push_back({label, text});
  };
  fact("under test", run.implementation + (run.version.empty() ? "" : " (" + run.version + ")"));
  if (run.of_pack) fact("pack", printable(run.subject, 200));
  fact("level", std::string(name_of(run.level)) + ": " + grouped_digits(run.rows.probes.size()) +
                    " probes, " + grouped_digits(run.rows.cases.size() - run.rows.probes.size()) +
                    " random rows, seed " + std::to_string(run.seed));
  if (!run.plan.order_unknown)
    fact("checked", grouped_digits(run.tally.rows) + " rows, " + grouped_digits(run.tally.compared()) +
                        " words: " + grouped_digits(run.tally.wrong()) + " differ in " +
                        grouped_digits(run.tally.rows_wrong) + " rows");
  if (run.tally.rows < run.rows.cases.size())
    fact("no answer", grouped_digits(run.rows.cases.size() - run.tally.rows) + " rows");
  fact("proved", claims_text(run.tally.claims));
  if (run.plan.order_unknown && run.tally.claims.forced == 0)
    fact("note", "no element was forced: the run proves nothing");
  if (const std::string silent = silent_probes(run.rows.probes); !silent.empty())
    fact("note", "no row of this shape sees what it takes for: " + silent);
  for (const AttentionProperty& property : run.tally.properties)
    fact("property", property.text + ": " + (property.holds ? "yes" : "no"));
  if (run.plan.order_unknown) {
    if (run.tally.violated_row) {
      report.first = "first violation";
      add_violation(run, report);
    }
  } else {
    add_first(run, report);
  }
  if (run.tally.rows_wrong == 0) return report;
  report.diagnosis_title = "what would explain it (" + grouped_digits(run.tally.rows) + " rows; " +
                           grouped_digits(run.tried) + " kernels tried)";
  for (const AttentionFit& fit : run.fits) {
    const std::uint64_t missing = run.tally.rows - fit.rows;
    std::string text = fit.behaviour;
    if (run.plan.order_unknown)
      text += "  agrees in the bits of O on " + grouped_digits(fit.rows) + " of " +
              grouped_digits(run.tally.rows) + " rows";
    else if (missing > 0)
      text += "  matches except " + grouped_digits(missing) + (missing == 1 ? " row" : " rows");
    report.diagnosis.push_back({missing == 0 ? "all" : "", text});
  }
  if (run.fits.empty())
    report.diagnosis.push_back(
        {"", run.plan.order_unknown
                 ? "no named kernel has the bits of O of a violating row; one in another "
                   "order of sums has others and may still be the cause"
                 : "no named kernel explains more rows than the SPEC"});
  for (const StageTally& stage : run.tally.stages) {
    if (stage.wrong == 0) continue;
    report.group_heads = {"stage", "differ", "of", "first"};
    report.groups.push_back(
        {stage.name, grouped_digits(stage.wrong), grouped_digits(stage.compared),
         place_text(run, stage, column_named(attention_outputs(run.plan), stage.name))});
  }
  return report;
}

std::string attention_json(const AttentionRun& run) {
  using Json = nlohmann::ordered_json;
  const Report report = report_of(run);
  Json json = {{"spec", report.spec},
               {"subject", run.subject},
               {"implementation", run.implementation},
               {"level", name_of(run.level)},
               {"seed", run.seed},
               {"verdict", report.verdict},
               {"rows", run.tally.rows},
               {"rows_wrong", run.tally.rows_wrong},
               {"checked", report.checked},
               {"mismatches", report.mismatched},
               {"claims",
                {{"violated", run.tally.claims.violated},
                 {"forced", run.tally.claims.forced},
                 {"admissible", run.tally.claims.admissible},
                 {"undecided", run.tally.claims.undecided},
                 {"enclosed", run.tally.claims.enclosed},
                 {"rechecked", run.tally.claims.rechecked}}}};
  const StageTally* first = run.plan.order_unknown ? nullptr : run.tally.first();
  json["first_stage"] = first == nullptr ? Json(nullptr) : Json(first->name);
  Json stages = Json::array(), properties = Json::array(), fits = Json::array(), findings = Json::array();
  for (const StageTally& stage : run.tally.stages)
    stages.push_back({{"stage", stage.name}, {"compared", stage.compared}, {"wrong", stage.wrong}});
  for (const AttentionProperty& property : run.tally.properties)
    properties.push_back({{"property", property.text}, {"holds", property.holds}});
  for (const AttentionFit& fit : run.fits)
    fits.push_back({{"behaviour", fit.behaviour}, {"rows", fit.rows}});
  for (const KernelFinding& one : run.findings)
    findings.push_back({{"kind", name_of(one.trouble)}, {"text", one.text}});
  json["stages"] = stages;
  json["properties"] = properties;
  json["diagnosis"] = fits;
  json["findings"] = findings;
  json["reproduce"] = report.reproduce;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace halfulp::vectors
