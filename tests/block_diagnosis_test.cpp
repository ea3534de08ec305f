// Diagnosis of recipes: every named recipe and every mutant fed back as a kernel that nobody knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "generated_document.hpp"
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
    for (const std::string& element : recipes::recipe_elements(name))
      all.push_back({std::string(name), element});
  }
  return all;
}

/// What a behaviour must be called for a mutant, where more than one name would be right; else any exact
/// fit will do.
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
    return std::any_of(diagnosis.fits.begin(), diagnosis.fits.end(), [&, w = words](const BlockFit& fit) {
      return fit.behaviour.find(w) != std::string::npos;
    });
  }
  return true;
}

std::string names_of(const BlockDiagnosis& diagnosis) {
  std::string text;
  for (const BlockFit& fit : diagnosis.fits) text += (text.empty() ? "`" : " = `") + fit.behaviour + "`";
  return text;
}

std::string mutants_table() {
  std::string table = "| mutant | SPEC | diagnosis |\n|---|---|---|\n";
  for (const BlockMutant& mutant : block_mutants()) {
    const RecipePlan plan = parse_recipe_spec(mutant.spec + ",rows=96");
    const RecipeVerdict verdict = verify_recipe(plan, recipe_kernel(plan, "mutant:" + mutant.name));
    const BlockDiagnosis diagnosis = diagnose_blocks(plan, verdict.rows, verdict.answers.rows);
    EXPECT_TRUE(is_right_name(mutant, diagnosis)) << mutant.name << "\n" << diagnosis_text(diagnosis);
    table += "| " + mutant.name + " | `" + mutant.spec + "` | " + names_of(diagnosis) + " |\n";
  }
  return table;
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
    if (wanted.granularity != own.granularity || wanted.rows != own.rows || wanted.columns != own.columns)
      continue;
    if (!comparable_recipe(parse_recipe_spec("recipe:" + other.name + ",to=" + other.element), unknown.name,
                           unknown.element))
      continue;
    const auto& [plan, rows] = pack_of(other);
    RecipeVerdict verdict =
        verify_rows(plan, rows, recipe_kernel(plan, "recipe:" + unknown.name + ",to=" + unknown.element));
    if (verdict.answers.failure.empty() && verdict.tally.rows_wrong > 0)
      return Asked{plan, std::move(verdict)};
  }
  return std::nullopt;
}

/// The statements that quantize, without blocks and remarks.
std::string steps_of(const recipes::QuantRecipe& recipe) {
  std::string text;
  std::istringstream lines(recipe.text);
  for (std::string line; std::getline(lines, line);) {
    const bool aside =
        line.starts_with("granularity ") || line.starts_with("value ") || line.starts_with("fact ");
    if (!aside) text += line + "\n";
  }
  return text;
}

/// How two recipes stand to each other that give the same on a pack.
std::string relation(const RecipePlan& plan, const Named& a, const Named& b) {
  const auto first = comparable_recipe(plan, a.name, a.element),
             second = comparable_recipe(plan, b.name, b.element);
  if (!first || !second) return "not compared";
  const bool same_steps = steps_of(*first) == steps_of(*second);
  const std::string proof = same_steps ? "the same steps" : "";
  const recipes::WitnessSearch search = recipes::find_witness(*first, *second, {.most = 400});
  if (search.witness) {
    const std::string role = search.witness->parting.role;
    return (same_steps ? proof + "; " : "") + "a witness parts them at: " + role;
  }
  if (same_steps) return proof;
  std::uint64_t tried = 0;
  for (const std::uint64_t n : search.tried) tried += n;
  return "no witness among " + std::to_string(tried) + " blocks";
}

struct Asking {
  std::string table, pairs, unasked;
  std::size_t asked = 0, alone = 0, all = 0;
};

Asking ask_all() {
  const std::vector<Named> all = all_recipes();
  const auto named = [&](const std::string& label) {
    return *std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.label() == label; });
  };
  Asking asking;
  asking.all = all.size();
  std::set<std::set<std::string>> seen;
  for (const Named& unknown : all) {
    const auto question = asked_under(unknown, all);
    if (!question) {
      asking.unasked += (asking.unasked.empty() ? "`" : ", `") + unknown.label() + "`";
      continue;
    }
    ++asking.asked;
    const auto& [plan, verdict] = *question;
    const BlockDiagnosis diagnosis = diagnose_blocks(plan, verdict.rows, verdict.answers.rows);
    EXPECT_TRUE(diagnosis.exact()) << unknown.label() << " under " << spec_text(plan) << "\n"
                                   << diagnosis_text(diagnosis);
    bool found = false, others = false;
    for (const BlockFit& fit : diagnosis.fits) {
      if (fit.behaviour == unknown.label()) found = true;
      if (!fit.named || fit.behaviour == unknown.label()) continue;
      others = true;
      if (seen.insert({unknown.label(), fit.behaviour}).second)
        asking.pairs += "| `" + unknown.label() + "` | `" + fit.behaviour + "` | " +
                        relation(plan, unknown, named(fit.behaviour)) + " |\n";
    }
    EXPECT_TRUE(found) << unknown.label() << " under " << spec_text(plan) << "\n"
                       << diagnosis_text(diagnosis);
    asking.alone += others ? 0 : 1;
    asking.table +=
        "| `" + unknown.label() + "` | `" + spec_text(plan) + "` | " + names_of(diagnosis) + " |\n";
  }
  return asking;
}

TEST(BlockDiagnosis, NamesEveryMutantAndEveryRecipe) {
  const std::string mutants = mutants_table();
  const Asking asking = ask_all();
  EXPECT_GT(asking.asked, asking.all / 2);
  EXPECT_GT(asking.alone, asking.asked / 2);
  expect_document(
      "confusion_recipes.md",
      "# Confusion matrix of the diagnosis of recipes\n\n"
      "Printed by `tests/block_diagnosis_test.cpp`; the test fails when this file differs from what it "
      "would print.\n\n"
      "## Mutants\n\nEach under its own SPEC, on at most 96 rows. Names after `=` gave the same on all of "
      "them.\n\n" +
          mutants +
          "\n## Named recipes\n\nEach fed back as an unknown kernel under the SPEC of another recipe with "
          "the same blocks, on at "
          "most 48 rows. " +
          std::to_string(asking.asked) + " of " + std::to_string(asking.all) +
          " recipes and elements were asked; " + std::to_string(asking.alone) +
          " were told from all others, the rest fit together with those behind `=`.\n\n| unknown kernel | "
          "asked under | "
          "diagnosis |\n|---|---|---|\n" +
          asking.table +
          "\n## Recipes that fit together\n\nThey store the same on the pack. Where a witness parts them "
          "at `value`, packs with "
          "`task=dequantize` tell them apart.\n\n| recipe | fits as well | how they stand to each other "
          "|\n|---|---|---|\n" +
          asking.pairs +
          "\n## Not asked\n\nNo other recipe with the same blocks has the same columns and inputs: " +
          asking.unasked + ".\n");
}

}  // namespace
}  // namespace halfulp::vectors
