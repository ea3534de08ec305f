// Counts, names and the words that decide; see diagnose_text.hpp.
#include "halfulp/vectors/diagnose_text.hpp"

#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kMostEquals = 12;

/// Tenths of a percent, rounded down: 100 % is never shown for a part.
std::string share_of(std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t permille = part * 1000 / whole;  // counts of answers are far below 2^54
  return std::to_string(permille / 10) + "." + std::to_string(permille % 10) + " %";
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostEquals; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMostEquals) text += " and " + std::to_string(names.size() - kMostEquals) + " more";
  return text;
}

}  // namespace

std::string diagnosis_title(const Diagnosis& diagnosis) {
  return "what would explain it (" + grouped_digits(diagnosis.cases) +
         " answers scored: ties, specials, a sample; " + grouped_digits(diagnosis.differences()) +
         " differ)";
}

std::vector<DiagnosisLine> diagnosis_lines(const CastPlan& plan, const Diagnosis& diagnosis) {
  std::vector<DiagnosisLine> lines;
  if (diagnosis.differences() == 0) return lines;
  const std::string differences = grouped_digits(diagnosis.differences());
  for (const Fit& fit : diagnosis.fits) {
    const bool all = fit.matched == diagnosis.cases;
    lines.push_back({all ? "all" : share_of(fit.explained, diagnosis.differences()),
                     fit.behaviour + "  explains " + grouped_digits(fit.explained) + " of " + differences +
                         " differences, breaks " + grouped_digits(fit.broken) + " matches"});
    if (fit.unexplained) {
      lines.push_back(
          {"", "smallest input that it does not explain: " + word_text(*plan.from, fit.unexplained->word) +
                   ", got " + word_text(plan.to, fit.unexplained->got) + ", it gives " +
                   word_text(plan.to, fit.unexplained->want)});
    }
    if (!fit.equals.empty()) {
      lines.push_back({"", "the same on " + grouped_digits(diagnosis.compared) +
                               " inputs compared: " + joined(fit.equals)});
    }
    if (!fit.allowed_by.empty())
      lines.push_back({"", "allowed by " + joined(fit.allowed_by) + ", any NaN code being right there"});
    if (fit.apart) {
      lines.push_back({"", "to tell it from " + diagnosis.fits.front().behaviour + " ask for " +
                               word_text(*plan.from, fit.apart->word) + ": " +
                               word_text(plan.to, fit.apart->want) + ", not " +
                               word_text(plan.to, fit.apart->got)});
    }
  }
  if (diagnosis.fits.empty()) lines.push_back({"", "no named behaviour explains these differences"});
  return lines;
}

}  // namespace halfulp::vectors
