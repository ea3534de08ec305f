// Verdicts and implementations as JSON and as a table.
#include "verify_json.hpp"

#include <nlohmann/json.hpp>

#include "halfulp/names.hpp"
#include "halfulp/vectors/card.hpp"

namespace halfulp::tool {
namespace {

using namespace halfulp::vectors;
using Json = nlohmann::ordered_json;

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

Json diagnosis_json(const Verdict& verdict) {
  Json fits = Json::array();
  for (const Fit& fit : verdict.diagnosis.fits) {
    Json one = {{"behaviour", fit.behaviour}, {"matched", fit.matched}};
    if (fit.unexplained) one["unexplained"] = finding_json(verdict.plan, *fit.unexplained);
    fits.push_back(one);
  }
  return {{"answers", verdict.diagnosis.cases}, {"by_spec", verdict.diagnosis.by_spec}, {"fits", fits}};
}

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string verdict_json(const Verdict& verdict) {
  const Tally& tally = verdict.tally;
  const char* word = tally.mismatched > 0 ? "MISMATCH" : verdict.passed() ? "bit-exact" : "incomplete";
  Json json = {{"spec", spec_text(verdict.plan)},
               {"implementation", verdict.implementation},
               {"version", verdict.version},
               {"level", name_of(verdict.level)},
               {"completeness", name_of(verdict.completeness)},
               {"verdict", word},
               {"checked", tally.checked},
               {"matches", tally.checked - tally.mismatched},
               {"mismatches", tally.mismatched},
               {"refused", tally.refused}};
  if (!verdict.failure.empty()) json["failure"] = verdict.failure;
  if (tally.mismatched > 0) {
    Json first = finding_json(verdict.plan, tally.first());
    Json lines = Json::array();
    for (const CardLine& one : card(verdict.plan, tally.first())) lines.push_back({one.label, one.text});
    first["reproduce"] = reproduce_command(verdict.plan, tally.first().word);
    first["card"] = lines;
    json["first"] = first;
    json["groups"] = groups_json(verdict);
    json["diagnosis"] = diagnosis_json(verdict);
  }
  return line(json);
}

std::string implementations_json() {
  Json list = Json::array();
  const auto add = [&list](const Implementation& one) {
    Json entry = {{"name", one.name}, {"about", one.about}, {"found", one.missing.empty()}};
    if (one.missing.empty())
      entry["version"] = one.version;
    else
      entry["why"] = one.missing;
    Json claims = Json::array();
    for (const Claim& claim : one.claims) claims.push_back(claim.spec);
    entry["claims"] = claims;
    list.push_back(entry);
  };
  for (const Implementation* one : implementations()) add(*one);
  for (const Implementation& one : mutants()) add(one);
  return line(list);
}

}  // namespace halfulp::tool
