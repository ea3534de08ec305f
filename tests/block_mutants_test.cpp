// The kill matrix of block mutants: every one is killed at its default level; a random pack of the same
// size misses some.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "generated_document.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"

namespace halfulp::vectors {
namespace {

/// The rows of a level, made once for all mutants of a SPEC.
const RecipeRows& rows_of(const RecipePlan& plan, Level level) {
  static std::map<std::pair<std::string, Level>, RecipeRows> known;
  const auto key = std::pair(spec_text(plan), level);
  const auto found = known.find(key);
  return found != known.end() ? found->second
                              : known.emplace(key, level_rows(plan, level, 0)).first->second;
}

constexpr char kHead[] =
    "# Kill matrix of recipes\n\n"
    "Printed by `tests/block_mutants_test.cpp`; the test fails when this file differs from what it would "
    "print.\n\n"
    "A mutant is a quantizer or dequantizer that is wrong in a way seen in real code. A row is a tensor of "
    "several\n"
    "blocks; *a/b* says that a of the level's b rows kill it. Beside it, one random pack of as many rows "
    "as\n"
    "`stratified` has: elements N(0, 1), codes and scales of ordinary size for dequantizers.\n\n";

std::string counts_text(std::uint64_t wrong, std::size_t rows) {
  return std::to_string(wrong) + "/" + std::to_string(rows);
}

TEST(BlockMutants, EveryMutantIsKilledAndSomeSurviveRandomPacks) {
  int missed = 0;
  std::string table;
  for (const BlockMutant& mutant : block_mutants()) {
    const RecipePlan plan = parse_recipe_spec(mutant.spec);
    const RowKernel kernel = recipe_kernel(plan, "mutant:" + mutant.name);
    std::string cells, found;
    std::size_t rows = 0;
    std::uint64_t killed = 0;
    for (const Level level : {Level::specials, Level::thresholds, Level::stratified}) {
      const RecipeVerdict verdict = verify_rows(plan, rows_of(plan, level), kernel);
      EXPECT_TRUE(verdict.answers.failure.empty()) << mutant.name << ": " << verdict.answers.failure;
      rows = verdict.rows.rows.size();
      killed = verdict.tally.rows_wrong;
      cells += " " + counts_text(killed, rows) + " |";
      found.clear();
      for (std::size_t i = 0; i < kBlockFindingNames.size(); ++i) {
        if (verdict.tally.groups[i].count > 0)
          found += (found.empty() ? "" : ", ") + std::string(kBlockFindingNames[i]);
      }
    }
    EXPECT_GT(killed, 0u) << mutant.name << " survives the level stratified of " << mutant.spec;
    const RecipeVerdict random = verify_rows(plan, random_rows(plan, rows, 1), kernel);
    missed += random.tally.rows_wrong == 0 ? 1 : 0;
    table += "| " + mutant.name + " | " + mutant.about + " | `" + mutant.spec + "` |" + cells + " " +
             (random.tally.rows_wrong == 0 ? "survives" : counts_text(random.tally.rows_wrong, rows)) +
             " | " + found + " |\n";
  }
  const std::size_t all = block_mutants().size();
  EXPECT_GT(missed, 0);
  EXPECT_GE(all, 40u);
  expect_document(
      "kill_matrix_recipes.md",
      kHead + ("The level `stratified` kills " + std::to_string(all) + " of " + std::to_string(all)) +
          "; random packs of the same size miss " + std::to_string(missed) +
          ".\n\n| mutant | what it does | SPEC | specials | thresholds | stratified | random | kinds "
          "of findings |\n|---|---|---|---|---|---|---|---|\n" +
          table);
}

TEST(BlockMutants, NamesAreUniqueAndSpecsAreTheirOwn) {
  std::set<std::string> names;
  for (const BlockMutant& mutant : block_mutants()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    const RecipePlan plan = parse_recipe_spec(mutant.spec);
    EXPECT_TRUE(
        verify_rows(plan, rows_of(plan, Level::stratified), recipe_kernel(plan, "halfulp")).passed())
        << mutant.spec;
  }
}

}  // namespace
}  // namespace halfulp::vectors
