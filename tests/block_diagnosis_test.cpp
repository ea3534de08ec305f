// Diagnosis of recipes: every named recipe and every mutant fed back as a kernel that nobody knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/recipes/witness.hpp"
#include "halfulp/vectors/blocks/recipe_diagnose.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/recipe_report.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"

namespace halfulp::vectors {
namespace {

struct Named {
  std::string name, element;
  std::string label() const {
    return "recipe:" + name + (recipes::recipe_elements(name).size() > 1 ? ",to=" + element : "");
  }
};

std::vector<Named> all_recipes() {
  std::vector<Named> all;
  for (const std::string_view name : recipes::recipe_names()) {
    for (const std::string& element : recipes::recipe_elements(name)) all.push_back({std::string(name), element});
  }
  return all;
}

/// What a behaviour must be called for a mutant, where more than one name would be right; else any exact fit will do.
bool is_right_name(const BlockMutant& mutant, const BlockDiagnosis& diagnosis) {
  const std::pair<const char*, const char*> names[] = {{"float_log2", "log2"},
                                                       {"scale_floor", "toward_zero"},
                                                       {"ties_away_block", "ties_to_away"},
                                                       {"swapped_nibbles", "high_first"},
                                                       {"wrong_axis", "other axis"},
                                                       {"underflow_factor", "nvfp4/flashinfer"},
                                                       {"tensor_scale_inverted", "tensor scale inverted"},
                                                       {"amax_bf16", "amax through bf16"},
                                                       {"rows_rotated", "next block"},
                                                       {"running_amax", "amax not reset"},
                                                       {"padded_tail", "partial block"},
                                                       {"stale_scale", "zero blocks keep"},
                                                       {"minus_zero_lost", "-0 becomes +0"},
                                                       {"decode_through_half", "kv_fp8/vllm_packed"},
                                                       {"decode_zero_scale", "reads as 0"},
                                                       {"decode_nan_480", "480"},
                                                       {"reciprocal_multiply", "1 / S"}};
  if (!diagnosis.exact()) return false;
  for (const auto& [name, words] : names) {
    if (mutant.name != name) continue;
    return std::any_of(diagnosis.fits.begin(), diagnosis.fits.end(),
                       [&, w = words](const BlockFit& fit) { return fit.behaviour.find(w) != std::string::npos; });
  }
  return true;
}

TEST(BlockDiagnosis, NamesEveryMutant) {
  for (const BlockMutant& mutant : block_mutants()) {
    const RecipePlan plan = parse_recipe_spec(mutant.spec + ",rows=96");
    const RecipeVerdict verdict = verify_recipe(plan, recipe_kernel(plan, "mutant:" + mutant.name));
    const BlockDiagnosis diagnosis = diagnose_blocks(plan, verdict.rows, verdict.answers.rows);
    EXPECT_TRUE(is_right_name(mutant, diagnosis)) << mutant.name << "\n" << diagnosis_text(diagnosis);
    std::printf("mutant:%-26s", mutant.name.c_str());
    for (const BlockFit& fit : diagnosis.fits) std::printf("  [%s]", fit.behaviour.c_str());
    std::printf("\n");
  }
}

/// A small pack of a recipe, made once.
struct SmallPack {
  RecipePlan plan;
  RecipeRows rows;
};
const SmallPack& pack_of(const Named& recipe) {
  static std::map<std::string, SmallPack> known;
  const std::string spec = "recipe:" + recipe.name + ",to=" + recipe.element + ",rows=48";
  const auto found = known.find(spec);
  if (found != known.end()) return found->second;
  const RecipePlan plan = parse_recipe_spec(spec);
  return known.emplace(spec, SmallPack{plan, level_rows(plan, Level::stratified, 0)}).first->second;
}

/// The first recipe whose pack the kernel `unknown` can be run on and that differs from it there.
struct Asked {
  RecipePlan plan;
  RecipeVerdict verdict;
};
std::optional<Asked> asked_under(const Named& unknown, const std::vector<Named>& all) {
  const recipes::QuantRecipe own = recipes::named_recipe(unknown.name, unknown.element);
  for (const Named& other : all) {
    if (other.name == unknown.name) continue;
    const recipes::QuantRecipe wanted = recipes::named_recipe(other.name, other.element);
    if (wanted.granularity != own.granularity || wanted.rows != own.rows || wanted.columns != own.columns) continue;
    if (!comparable_recipe(parse_recipe_spec("recipe:" + other.name + ",to=" + other.element), unknown.name, unknown.element)) continue;
    const auto& [plan, rows] = pack_of(other);
    RecipeVerdict verdict = verify_rows(plan, rows, recipe_kernel(plan, "recipe:" + unknown.name + ",to=" + unknown.element));
    if (verdict.answers.failure.empty() && verdict.tally.rows_wrong > 0) return Asked{plan, std::move(verdict)};
  }
  return std::nullopt;
}

TEST(BlockDiagnosis, NamesEveryRecipe) {
  const std::vector<Named> all = all_recipes();
  std::size_t alone = 0, asked = 0;
  std::set<std::string> unasked;
  for (const Named& unknown : all) {
    const auto question = asked_under(unknown, all);
    if (!question) {
      unasked.insert(unknown.label());
      continue;
    }
    ++asked;
    const BlockDiagnosis diagnosis = diagnose_blocks(question->plan, question->verdict.rows, question->verdict.answers.rows);
    EXPECT_TRUE(diagnosis.exact()) << unknown.label() << " under " << spec_text(question->plan) << "\n" << diagnosis_text(diagnosis);
    std::string also;
    bool found = false;
    for (const BlockFit& fit : diagnosis.fits) {
      if (fit.behaviour == unknown.label()) found = true;
      else if (fit.named) also += " " + fit.behaviour;
    }
    EXPECT_TRUE(found) << unknown.label() << " under " << spec_text(question->plan) << "\n" << diagnosis_text(diagnosis);
    alone += also.empty() ? 1 : 0;
    if (!also.empty()) std::printf("%s under %s: also%s\n", unknown.label().c_str(), question->plan.name.c_str(), also.c_str());
  }
  std::printf("%zu of %zu recipes and elements asked, %zu told from all others; no pack of another recipe fits:", asked, all.size(), alone);
  for (const std::string& name : unasked) std::printf(" %s", name.c_str());
  std::printf("\n");
  EXPECT_GT(asked, all.size() / 2);
}

}  // namespace
}  // namespace halfulp::vectors
