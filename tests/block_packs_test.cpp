// Rows of recipe packs: what they reach, that they are the same everywhere, and that the judge sees through bytes.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"

namespace halfulp::vectors {
namespace {

TEST(BlockPacks, EveryRecipePassesItsOwnPack) {
  for (const std::string_view name : recipes::recipe_names()) {
    for (const std::string& element : recipes::recipe_elements(name)) {
      for (const char* task : {"quantize", "dequantize", "fake_quantize"}) {
        const RecipePlan plan = parse_recipe_spec("recipe:" + std::string(name) + ",to=" + element + ",task=" + task);
        const auto t0 = std::chrono::steady_clock::now();
        const RecipeRows rows = level_rows(plan, Level::stratified, 0);
        const auto t1 = std::chrono::steady_clock::now();
        const RecipeVerdict verdict = verify_rows(plan, rows, recipe_kernel(plan, "halfulp"));
        const auto t2 = std::chrono::steady_clock::now();
        EXPECT_TRUE(verdict.passed()) << spec_text(plan) << " " << verdict.answers.failure;
        std::printf("%-80s rows %5zu elements %7zu refused %llu  %5.2f s %5.2f s\n", spec_text(plan).c_str(), rows.rows.size(), rows.rows.size() * plan.elements(),
                    static_cast<unsigned long long>(rows.refused), std::chrono::duration<double>(t1 - t0).count(), std::chrono::duration<double>(t2 - t1).count());
      }
    }
  }
}

}  // namespace
}  // namespace halfulp::vectors
