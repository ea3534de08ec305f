// Judges rows on several threads; see recipe_rows.hpp.
#include "halfulp/vectors/blocks/recipe_rows.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "halfulp/vectors/blocks/row_flags.hpp"
#include "halfulp/vectors/blocks/row_inputs.hpp"
#include "halfulp/vectors/blocks/stored_rows.hpp"

namespace halfulp::vectors {

using namespace blocks;

RecipeRows judged_rows(const RecipePlan& plan, std::vector<RecipeRow> rows, int threads) {
  std::vector<std::optional<RowAnswer>> answers(rows.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < rows.size(); i = next++) {
      try {
        answers[i] = expected_of(plan, rows[i]);
        if (answers[i]) rows[i].flags |= flags_of(plan, rows[i], *answers[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next = rows.size();
      }
    }
  };
  std::vector<std::thread> others;
  const int team =
      threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (int t = 1; t < team; ++t) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
  RecipeRows judged;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!answers[i]) {
      ++judged.refused;
      continue;
    }
    judged.rows.push_back(std::move(rows[i]));
    judged.expected.push_back(std::move(*answers[i]));
  }
  return judged;
}

RecipeRows level_rows(const RecipePlan& plan, Level level, std::uint64_t seed, int threads) {
  return judged_rows(plan, chosen_rows(plan, level, seed), threads);
}

RecipeRows random_rows(const RecipePlan& plan, std::size_t count, std::uint64_t seed) {
  if (plan.task == Task::dequantize) return judged_rows(plan, random_stored_rows(plan, count, seed));
  Random random(seed);
  std::vector<RecipeRow> rows;
  for (std::size_t n = 0; n < count; ++n) {
    Tensor tensor = filled(plan.rows, plan.columns, 0);
    for (double& x : tensor.values) x = in_format(plan.from, random.normal());
    recipes::Inputs inputs = varied_inputs(plan, tensor, random);
    rows.push_back({std::move(tensor.values), std::move(inputs), {}, 0});
  }
  return judged_rows(plan, std::move(rows));
}

}  // namespace halfulp::vectors
