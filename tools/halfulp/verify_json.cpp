// Verdicts and implementations as JSON and as a table.
#include "verify_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "diagnose_json.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/listing.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostExamples = 16;

Json finding_json(const CastPlan& plan, const Finding& finding) {
  return {{"input", word_text(*plan.from, finding.word)},
          {"got", word_text(plan.to, finding.got)},
          {"expected", word_text(plan.to, finding.want)}};
}

Json groups_json(const Verdict& verdict) {
  Json groups = Json::array();
  for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
    const Group& group = verdict.tally.groups[i];
    if (group.count == 0) continue;
    groups.push_back({{"class", kFindingNames[i]},
                      {"count", group.count},
                      {"off_by_none", group.off_by_none},
                      {"off_by_one", group.off_by_one},
                      {"off_by_more", group.off_by_more},
                      {"first", finding_json(verdict.plan, group.first)}});
  }
  return groups;
}

/// The mismatches with the smallest source words, of those that were kept.
Json examples_json(const Verdict& verdict) {
  std::vector<Finding> kept = verdict.tally.sample;
  std::sort(kept.begin(), kept.end(), [](const Finding& a, const Finding& b) { return a.word < b.word; });
  if (kept.size() > kMostExamples) kept.resize(kMostExamples);
  Json examples = Json::array();
  for (const Finding& finding : kept) examples.push_back(finding_json(verdict.plan, finding));
  return examples;
}

Json implementation_json(const Implementation& one) {
  Json entry = {{"name", one.name}, {"about", one.about}, {"found", one.missing.empty()}};
  if (one.missing.empty())
    entry["version"] = one.version;
  else
    entry["why"] = one.missing;
  entry["any_cast"] = one.open_plan != nullptr;
  Json claims = Json::array();
  for (const Claim& claim : one.claims) claims.push_back(claim.spec);
  entry["claims"] = claims;
  return entry;
}

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string verdict_json(const Verdict& verdict) {
  const Tally& tally = verdict.tally;
  Json json = {{"spec", verdict.spec},
               {"subject", verdict.subject},
               {"implementation", verdict.implementation},
               {"version", verdict.version},
               {"own_dialect", verdict.own_dialect},
               {"level", name_of(verdict.level)},
               {"seed", verdict.seed},
               {"completeness", name_of(verdict.completeness)},
               {"verdict", verdict_word(verdict)},
               {"checked", tally.checked},
               {"matches", tally.checked - tally.mismatched},
               {"mismatches", tally.mismatched},
               {"refused", tally.refused},
               {"seconds", verdict.seconds},
               {"reproduce", verify_command(verdict.subject, verdict.option, verdict.of_pack, verdict.level, verdict.seed)}};
  if (verdict.own_rows) json["own_rows"] = true;  // so `level` and `seed` do not name them
  if (!verdict.unclaimed.empty()) json["unclaimed"] = verdict.unclaimed;
  Json findings = Json::array();
  for (const KernelFinding& one : verdict.findings)
    findings.push_back({{"kind", name_of(one.trouble)}, {"text", one.text}});
  json["findings"] = findings;
  if (tally.mismatched > 0) {
    Json first = finding_json(verdict.plan, tally.first());
    Json lines = Json::array();
    for (const CardLine& one : card(verdict.plan, tally.first())) lines.push_back({one.label, one.text});
    first["reproduce"] = reproduce_command(verdict.plan, tally.first().word);
    first["card"] = lines;
    json["first"] = first;
    json["groups"] = groups_json(verdict);
    json["examples"] = examples_json(verdict);
    json["diagnosis"] = diagnosis_json(verdict.plan, verdict.diagnosis);
  }
  return line(json);
}

std::string implementations_json() {
  Json list = Json::array();
  for (const Implementation* one : implementations()) list.push_back(implementation_json(*one));
  for (const Implementation& one : mutants()) list.push_back(implementation_json(one));
  return line(list);
}

std::string claims_json(const std::string& name_or_spec) {
  if (!name_or_spec.starts_with("cast:"))
    return line(Json::array({implementation_json(require_implementation(name_or_spec))}));
  Json list = Json::array();
  for (const Implementation* one : implementations()) {
    Json entry = implementation_json(*one);
    entry["claims"] = claims_on(*one, name_or_spec);
    if (one->open_plan || !entry["claims"].empty()) list.push_back(entry);
  }
  return line(list);
}

}  // namespace halfulp::tool
