// Diagnosis of recipes: every named recipe, and every mutant, fed back as a kernel that nobody knows.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/recipe_diagnose.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"

namespace halfulp::vectors {
namespace {

TEST(BlockDiagnosis, NamesEveryMutant) {
  int exact = 0;
  for (const BlockMutant& mutant : block_mutants()) {
    RecipePlan plan = parse_recipe_spec(mutant.spec + std::string(",rows=160"));
    const RecipeVerdict verdict = verify_recipe(plan, recipe_kernel(plan, "mutant:" + mutant.name));
    const BlockDiagnosis diagnosis = diagnose_blocks(plan, verdict.rows, verdict.answers.rows);
    std::printf("%-26s %3llu of %3llu rows wrong, %llu behaviours:", mutant.name.c_str(), (unsigned long long)verdict.tally.rows_wrong, (unsigned long long)verdict.tally.rows, (unsigned long long)diagnosis.behaviours);
    for (const BlockFit& fit : diagnosis.fits) std::printf("  [%s %llu/%llu]", fit.behaviour.c_str(), (unsigned long long)fit.rows, (unsigned long long)diagnosis.rows);
    std::printf("\n");
    exact += diagnosis.exact() ? 1 : 0;
  }
  std::printf("%d of %zu named\n", exact, block_mutants().size());
}

}  // namespace
}  // namespace halfulp::vectors
