// verify_recipe(): runs a kernel over the rows of a recipe and judges every answer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "halfulp/vectors/blocks/recipe_judge.hpp"
#include "halfulp/vectors/row_kernel.hpp"

namespace halfulp::vectors {

struct RecipeVerifyOptions {
  Level level = Level::stratified;
  std::uint64_t seed = 0;
  int threads = 1;  ///< of computing what is expected; the kernel is called from one
  std::string implementation = {};
  std::string version = {};
  /// Called now and then with the rows done and their total. May be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// The answers of a kernel, as many as arrived, and why no more.
struct RecipeAnswers {
  std::vector<RowAnswer> rows;  ///< lost ones are empty
  std::uint64_t lost = 0;       ///< rows among them that the kernel crashed on or left unwritten
  std::string failure;
};

struct RecipeVerdict {
  RecipePlan plan;
  std::string implementation, version;
  Level level = Level::stratified;
  std::uint64_t seed = 0;
  RecipeRows rows;
  RecipeAnswers answers;
  BlockTally tally;
  double seconds = 0;  ///< of the kernel alone

  bool passed() const { return answers.failure.empty() && answers.lost == 0 && tally.passed(); }
};

/// Calls the kernel for all rows in stretches. Throws nothing of the kernel's: a KernelFailure ends up in
/// `failure`.
RecipeAnswers run_rows(const RecipePlan& plan, const RecipeRows& rows, const RowKernel& kernel,
                       const RecipeVerifyOptions& options = {});

/// Judges a kernel on the rows of the options' level. Throws InputError where the level does not apply,
/// Disagreement where the judge is at fault.
RecipeVerdict verify_recipe(const RecipePlan& plan, const RowKernel& kernel,
                            const RecipeVerifyOptions& options = {});

/// The same on given rows, e.g. those of a pack.
RecipeVerdict verify_rows(const RecipePlan& plan, RecipeRows rows, const RowKernel& kernel,
                          const RecipeVerifyOptions& options = {});

}  // namespace halfulp::vectors
