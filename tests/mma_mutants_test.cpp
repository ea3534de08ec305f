// The kill matrix of accumulation mutants, and their diagnosis: every one is killed by its SPEC's rows and named.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "generated_document.hpp"
#include "halfulp/vectors/mma/mma_kernels.hpp"
#include "halfulp/vectors/mma/mma_rows.hpp"
#include "halfulp/vectors/mma/mma_verify.hpp"

namespace halfulp::vectors {
namespace {

constexpr char kHead[] =
    "# Kill matrix of accumulation models\n\n"
    "Printed by `tests/mma_mutants_test.cpp`; the test fails when this file differs from what it would print.\n\n"
    "A mutant is a unit that sums otherwise than its SPEC says. *a/b* says that a of the level's b rows kill it. Beside it, one random\n"
    "pack of as many rows as `stratified` has: operands and c N(0, 1) rounded to their formats. *diagnosis* is what `halfulp diagnose`\n"
    "names first for it: a mutant's name stands for itself, anything else gives the same answers on all rows.\n\n";

MmaAnswers answers_of(const MmaRows& rows, const MmaFunction& function) {
  MmaAnswers answers;
  for (const MmaRow& row : rows.rows) answers.push_back(function(row));
  return answers;
}

TEST(MmaMutants, EveryOneIsKilledAndNamed) {
  std::map<std::pair<std::string, Level>, MmaRows> known;
  std::set<std::string> names;
  int missed = 0;
  std::string table;
  for (const MmaMutant& mutant : mma_mutants()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    const MmaPlan plan = parse_mma_spec(mutant.spec);
    const MmaFunction function = mma_function(plan, "mutant:" + mutant.name);
    std::string cells, found, diagnosed;
    std::size_t count = 0;
    for (const Level level : {Level::specials, Level::thresholds, Level::stratified}) {
      const auto key = std::pair(spec_text(plan), level);
      if (!known.contains(key)) known.emplace(key, mma_level_rows(plan, level, 0));
      const MmaRows& rows = known.at(key);
      const MmaAnswers answers = answers_of(rows, function);
      const MmaTally tally = judge_sums(plan, rows, answers);
      count = rows.rows.size();
      cells += " " + std::to_string(tally.wrong) + "/" + std::to_string(count) + " |";
      if (level != Level::stratified) continue;
      EXPECT_GT(tally.wrong, 0u) << mutant.name << " survives " << mutant.spec;
      for (std::size_t i = 0; i < kMmaFindingNames.size(); ++i) {
        if (tally.groups[i].count > 0) found += (found.empty() ? "" : ", ") + std::string(kMmaFindingNames[i]);
      }
      const MmaDiagnosis diagnosis = diagnose_sums(plan, rows, answers, tally);
      ASSERT_TRUE(diagnosis.exact()) << mutant.name << " is not named";
      bool itself = false;
      for (const MmaFit& fit : diagnosis.fits) itself = itself || fit.behaviour.starts_with("mutant:" + mutant.name + ":");
      EXPECT_TRUE(itself) << mutant.name;
      diagnosed = diagnosis.fits[0].behaviour;
      if (diagnosed.starts_with("mutant:" + mutant.name + ":")) diagnosed = "itself";
      diagnosed = diagnosed.substr(0, diagnosed.find(": "));
    }
    const MmaRows random = random_mma_rows(plan, count, 1);
    const MmaTally tally = judge_sums(plan, random, answers_of(random, function));
    missed += tally.wrong == 0 ? 1 : 0;
    table += "| " + mutant.name + " | " + mutant.about + " | `" + mutant.spec + "` |" + cells + " " +
             (tally.wrong == 0 ? "survives" : std::to_string(tally.wrong) + "/" + std::to_string(count)) + " | " + found + " | " + diagnosed + " |\n";
  }
  const std::size_t all = mma_mutants().size();
  EXPECT_GE(all, 40u);
  EXPECT_GT(missed, 0);
  expect_document("kill_matrix_mma.md", kHead + ("The level `stratified` kills " + std::to_string(all) + " of " + std::to_string(all)) +
                                            "; random packs of the same size miss " + std::to_string(missed) +
                                            ".\n\n| mutant | what it does | SPEC | specials | thresholds | stratified | random | kinds of findings | diagnosis |\n"
                                            "|---|---|---|---|---|---|---|---|---|\n" +
                                            table);
}

/// A kernel that follows another model of the registry is told so.
TEST(MmaDiagnosis, ModelsAreToldApart) {
  std::size_t pairs = 0, alike = 0;
  for (const char* spec : {"mma:hopper_fp8_wgmma", "mma:hopper_f16", "mma:hopper_f16,to=f16", "mma:hopper_tf32", "mma:hopper_f16,from=bf16", "mma:cdna3_fp8", "mma:blackwell_mxf8f6f4,from=e2m1"}) {
    const MmaPlan plan = parse_mma_spec(spec);
    const MmaRows rows = mma_level_rows(plan, Level::stratified, 0);
    for (const accumulation::AccumulationModel& model : accumulation::models()) {
      const auto other = comparable_model(plan, model.name);
      if (!other || *other == plan.spec) continue;
      const MmaAnswers answers = answers_of(rows, function_of(*other));
      const MmaTally tally = judge_sums(plan, rows, answers);
      ++pairs;
      if (tally.wrong == 0) {
        ++alike;
        std::printf("%s is %s\n", std::string(model.name).c_str(), spec);
        continue;
      }
      const MmaDiagnosis diagnosis = diagnose_sums(plan, rows, answers, tally);
      bool named = false;
      for (const MmaFit& fit : diagnosis.fits) named = named || (fit.behaviour == "mma:" + std::string(model.name) && fit.rows == diagnosis.rows);
      EXPECT_TRUE(named) << model.name << " under " << spec;
    }
  }
  std::printf("%zu pairs of models, %zu of them the same unit\n", pairs, alike);
  EXPECT_GT(pairs, 50u);
}

}  // namespace
}  // namespace halfulp::vectors
