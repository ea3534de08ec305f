// Report: a verdict as lines and tables, the same for every form that shows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/trouble.hpp"

namespace halfulp::vectors {

struct Report {
  enum class Outcome : std::uint8_t { passed, failed, incomplete };
  Outcome outcome = Outcome::incomplete;
  std::string verdict;  ///< bit-exact, MISMATCH or incomplete
  std::string spec;
  std::string implementation;
  std::uint64_t checked = 0;
  std::uint64_t mismatched = 0;
  double seconds = 0;
  std::vector<CardLine> facts;  ///< under test, level, checked …
  std::vector<KernelFinding> findings;
  std::string first;           ///< heading of the card; empty when nothing differs
  std::vector<CardLine> card;  ///< of the first difference
  std::string diagnosis_title;
  std::vector<CardLine> diagnosis;       ///< share, and what is explained by what
  std::vector<std::string> group_heads;  ///< first and last are words, those between numbers
  std::vector<std::vector<std::string>> groups;
  std::string reproduce;  ///< the command that gives this verdict again
};

Report report_of(const Verdict& verdict);

/// One screen. `color`: with ANSI colours.
std::string report_text(const Report& report, bool color);

/// One self-contained page: no script, nothing from elsewhere, light and dark.
std::string report_html(const Report& report);

/// JUnit XML: one suite, one case for the answers and one per finding. Bytes that XML cannot hold become
/// U+FFFD.
std::string report_junit(const Report& report);

}  // namespace halfulp::vectors
