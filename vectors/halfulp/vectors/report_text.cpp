// The verdict as text: one screen, exact totals, never a flood.
#include <cstdio>

#include "halfulp/names.hpp"
#include "halfulp/vectors/card.hpp"

namespace halfulp::vectors {
namespace {

/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : text + std::string(width - text.size(), ' ');
}
std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

void add_line(std::string& text, const std::string& label, const std::string& content) {
  text += "  " + padded(label, 12) + "  " + content + "\n";
}

std::string headline(const Verdict& verdict) {
  if (verdict.tally.mismatched > 0) return "MISMATCH";
  return verdict.passed() ? "bit-exact" : "incomplete";
}

/// What the level looked at, and what that proves.
std::string level_text(const Verdict& verdict) {
  const std::string level(name_of(verdict.level));
  const std::string seeded = "a sample, seed " + std::to_string(verdict.seed);
  if (!verdict.failure.empty()) return level + ": not finished";
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

void add_diagnosis(std::string& text, const Verdict& verdict) {
  const Diagnosis& diagnosis = verdict.diagnosis;
  if (diagnosis.cases == 0) return;
  text += "\nwhat would explain it (" + grouped(diagnosis.cases) +
          " answers scored: ties, specials, a sample; " + grouped(diagnosis.differences()) + " differ)\n";
  if (diagnosis.fits.empty()) text += "  no named behaviour explains these differences\n";
  for (const Fit& fit : diagnosis.fits) {
    const bool all = fit.matched == diagnosis.cases;
    const std::uint64_t permille = fit.explained * 1000 / diagnosis.differences();
    const std::string share =
        all ? "all" : std::to_string(permille / 10) + "." + std::to_string(permille % 10) + " %";
    text += "  " + right(share, 7) + "  " + fit.behaviour + "  explains " + grouped(fit.explained) +
            " of " + grouped(diagnosis.differences()) + " differences, breaks " + grouped(fit.broken) +
            " matches";
    if (!all && fit.unexplained) {
      text += " (not " + word_text(*verdict.plan.from, fit.unexplained->word) + ": " +
              word_text(verdict.plan.to, fit.unexplained->got) + ")";
    }
    text += "\n";
  }
}

void add_groups(std::string& text, const Verdict& verdict) {
  text += "\n  class             count      0 off      1 off     >1 off  first example\n";
  for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
    const Group& group = verdict.tally.groups[i];
    if (group.count == 0) continue;
    text += "  " + padded(std::string(kFindingNames[i]), 10) + right(grouped(group.count), 13);
    for (const std::uint64_t count : {group.off_by_none, group.off_by_one, group.off_by_more})
      text += right(grouped(count), 11);
    text += "  " + word_text(*verdict.plan.from, group.first.word) + " -> " +
            word_text(verdict.plan.to, group.first.got) + ", not " +
            word_text(verdict.plan.to, group.first.want) + "\n";
  }
}

}  // namespace

std::string verdict_text(const Verdict& verdict, bool color) {
  const Tally& tally = verdict.tally;
  const std::string word = headline(verdict);
  const char* paint = verdict.passed() ? "\033[1;32m" : "\033[1;31m";
  std::string text = (color ? paint + word + "\033[0m" : word) + "  " + spec_text(verdict.plan) + "\n";
  add_line(text, "under test",
           verdict.implementation + (verdict.version.empty() ? "" : " (" + verdict.version + ")"));
  if (verdict.own_dialect) add_line(text, "judged by", judge_text(verdict.plan));
  if (!verdict.unclaimed.empty())
    add_line(text, "note", verdict.implementation + " does not claim " + verdict.unclaimed);
  add_line(text, "level", level_text(verdict));
  add_line(text, "checked",
           grouped(tally.checked) + " inputs: " + grouped(tally.checked - tally.mismatched) + " match, " +
               grouped(tally.mismatched) + " differ");
  if (tally.refused > 0)
    add_line(text, "left out", grouped(tally.refused) + " inputs that the policy refuses");
  if (!verdict.failure.empty()) add_line(text, "failure", verdict.failure);
  if (tally.mismatched == 0) return text;

  const Finding& first = tally.first();
  text += "\nfirst difference: " + spec_text(verdict.plan) + ", input " +
          word_text(*verdict.plan.from, first.word) + "\n";
  for (const CardLine& line : card(verdict.plan, first)) add_line(text, line.label, line.text);
  add_diagnosis(text, verdict);
  add_groups(text, verdict);
  return text;
}

}  // namespace halfulp::vectors
