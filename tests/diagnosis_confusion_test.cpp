// The confusion matrix: every mutant and every dialect, on every cast that it covers, fed back as an
// unknown kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "confusion.hpp"
#include "generated_document.hpp"

namespace halfulp::vectors {
namespace {

std::string mutants_text() {
  std::string text =
      "## Mutants\n\nEach under its own SPEC. Names after `=` gave the same codes on every input "
      "compared.\n\n"
      "| mutant | SPEC | diagnosis |\n|---|---|---|\n";
  for (const Implementation& mutant : mutants()) {
    const std::string& spec = mutant.claims.front().spec;
    const Verdict verdict = verify(mutant, parse_spec(spec),
                                   {.level = Level::thresholds, .seed = 0, .threads = 1, .progress = {}});
    EXPECT_TRUE(verdict.diagnosis.exact()) << mutant.name;
    text += "| " + mutant.name.substr(7) + " | `" + spec + "` | " +
            diagnosis_text(verdict.plan, verdict.diagnosis) + " |\n";
  }
  return text;
}

/// Sources with the same rows share a table; the words are those of the last, which is the widest.
std::string dialects_text() {
  std::string text;
  std::vector<Format> targets(kFormats.begin(), kFormats.end());
  for (const char* name : {"binary8p3se", "binary8p4sf", "binary6p3ue"})
    targets.push_back(*find_format(name));
  for (const Format& to : targets) {
    std::vector<std::vector<Section>> groups;
    for (const Format& from : kFormats) {
      if (!is_source(from) || from.name == to.name || !is_quick(from, to) || dialects(from, to).empty())
        continue;
      Section section = examine(from, to);
      const auto same = std::find_if(groups.begin(), groups.end(),
                                     [&](const auto& g) { return g.front().rows == section.rows; });
      if (same != groups.end())
        same->push_back(std::move(section));
      else
        groups.push_back({std::move(section)});
    }
    if (groups.empty()) continue;
    text += "\n### To " + std::string(to.name) + "\n";
    for (const auto& group : groups) {
      const Section& shown = group.back();
      text += "\nFrom";
      for (const Section& one : group) text += (&one == &group.front() ? " " : ", ") + one.from;
      text += "; SPEC `" + shown.spec + "`\n\n| dialects, equal on every input | diagnosis |";
      for (const std::string& word : shown.words) text += " " + word + " |";
      text += "\n|---|---|";
      for (std::size_t i = 0; i < shown.words.size(); ++i) text += "---|";
      text += "\n";
      for (std::size_t i = 0; i < shown.rows.size(); ++i)
        text += "| " + shown.rows[i] + shown.answers[i] + " |\n";
    }
  }
  return text;
}

TEST(Confusion, every_mutant_and_dialect_is_named_and_the_committed_document_is_up_to_date) {
  const std::string text =
      "# Confusion matrix of the diagnosis\n\n"
      "Printed by `tests/diagnosis_confusion_test.cpp`; the test fails when this file differs from what it "
      "would print.\n\n" +
      mutants_text() +
      "\n## Dialects\n\n"
      "Every dialect answers as an unknown kernel under a SPEC that is none of them, on the level "
      "`stratified`. Dialects in one\n"
      "row are equal on every source word, by the oracle's tables. The columns on the right are source "
      "words on which the rows\n"
      "part, with the code of each (`NaN`: any NaN; `-`: not recorded); no two rows agree on all of them. "
      "Where several sources\n"
      "share a table, the words are of the last one.\n" +
      dialects_text();
  expect_document("confusion.md", text);
}

}  // namespace
}  // namespace halfulp::vectors
