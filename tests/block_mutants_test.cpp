// The kill matrix of block mutants: every one is killed at its default level; a random pack of the same size misses some.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <set>

#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"

namespace halfulp::vectors {
namespace {

/// The rows of a level, made once for all mutants of a SPEC.
const RecipeRows& rows_of(const RecipePlan& plan, Level level) {
  static std::map<std::pair<std::string, Level>, RecipeRows> known;
  const auto key = std::pair(spec_text(plan), level);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, level_rows(plan, level, 0)).first->second;
}

TEST(BlockMutants, EveryMutantIsKilledAndSomeSurviveRandomPacks) {
  int missed_by_random = 0;
  std::printf("| mutant | SPEC | specials | thresholds | stratified | random N(0,1) | what gives it away |\n|---|---|---|---|---|---|---|\n");
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
      cells += " " + std::to_string(verdict.tally.rows_wrong) + "/" + std::to_string(rows) + " |";
      found.clear();
      for (std::size_t i = 0; i < kBlockFindingNames.size(); ++i) {
        if (verdict.tally.groups[i].count > 0) found += (found.empty() ? "" : ", ") + std::string(kBlockFindingNames[i]);
      }
    }
    EXPECT_GT(killed, 0u) << mutant.name << " survives the level stratified of " << mutant.spec;
    const RecipeVerdict random = verify_rows(plan, random_rows(plan, rows, 1), kernel);
    missed_by_random += random.tally.rows_wrong == 0 ? 1 : 0;
    std::printf("| `%s` | `%s` |%s %llu/%zu%s | %s |\n", mutant.name.c_str(), mutant.spec.c_str(), cells.c_str(),
                static_cast<unsigned long long>(random.tally.rows_wrong), random.rows.rows.size(),
                random.tally.rows_wrong == 0 ? " **survives**" : "", found.c_str());
  }
  std::printf("%zu mutants; random packs of the same size miss %d of them\n", block_mutants().size(), missed_by_random);
  EXPECT_GT(missed_by_random, 0);
  EXPECT_GE(block_mutants().size(), 40u);
}

TEST(BlockMutants, NamesAreUniqueAndSpecsAreTheirOwn) {
  std::set<std::string> names;
  for (const BlockMutant& mutant : block_mutants()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    const RecipePlan plan = parse_recipe_spec(mutant.spec);
    EXPECT_TRUE(verify_rows(plan, rows_of(plan, Level::stratified), recipe_kernel(plan, "halfulp")).passed()) << mutant.spec;
  }
}

}  // namespace
}  // namespace halfulp::vectors
