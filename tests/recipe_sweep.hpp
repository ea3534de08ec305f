// Many tensors through a recipe's engine and its twin: strata, ties, scale thresholds, odd shapes, three
// source formats.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "recipe_twins.hpp"

namespace halfulp::test {

/// Transforms and sums of tiles refuse partial blocks.
inline bool takes_whole_blocks(const recipes::QuantRecipe& recipe) {
  const auto tree = [](const recipes::Step& step) { return step.op == recipes::Op::tree_sum; };
  return recipe.transform_reg >= 0 || std::any_of(recipe.steps.begin(), recipe.steps.end(), tree);
}

/// Values for a recipe's inputs: random bytes where it asks for random numbers, else powers of two near 1.
inline recipes::Inputs some_inputs(const recipes::QuantRecipe& recipe, std::int64_t elements,
                                   Random& random) {
  recipes::Inputs inputs;
  for (const recipes::Input& input : recipe.inputs) {
    if (input.per != recipes::PerInput::element) {
      if (input.default_literal.empty()) inputs[input.name] = {std::ldexp(1.0, random.between(-3, 3))};
      continue;
    }
    for (std::int64_t i = 0; i < elements; ++i)
      inputs[input.name].push_back(static_cast<double>(random.below(256)));
  }
  return inputs;
}

/// Blocks whose maxima lie where the stored scale changes, in a tensor whose amax is given where the recipe
/// has one.
inline std::uint64_t compare_at_thresholds(const recipes::QuantRecipe& recipe, std::uint64_t most,
                                           std::uint64_t seed) {
  Random random(seed);
  recipes::Inputs inputs = some_inputs(recipe, 0, random);
  for (const recipes::Input& input : recipe.inputs) inputs.emplace(input.name, std::vector<double>{128});
  double amax = 0;
  if (recipe.A >= 0)
    inputs[recipes::kTensorAmax] = {
        amax = in_format(spec_of("f32"), std::ldexp(1 + random.uniform(), random.between(-20, 20)))};
  std::vector<double> maxima;
  for (const double m : scale_thresholds(recipe, inputs, seed)) {
    if (amax == 0 || m <= 2 * amax) maxima.push_back(m);
  }
  for (std::size_t i = maxima.size(); i > 1; --i) std::swap(maxima[i - 1], maxima[random.below(i)]);
  const auto per_block = static_cast<std::uint64_t>(std::max(recipe.rows, 1) * std::max(recipe.columns, 1));
  maxima.resize(std::min<std::uint64_t>(maxima.size(), most / per_block + 1));
  return maxima.empty() ? 0 : compare_with_twin(recipe, with_maxima(recipe, maxima, seed), inputs);
}

/// Compares engine and twin on at least `elements` elements (counting those on which both give an answer).
inline std::uint64_t sweep(const recipes::QuantRecipe& recipe, std::uint64_t elements, std::uint64_t seed) {
  constexpr FormatSpec sources[] = {spec_of("f32"), spec_of("bf16"), spec_of("f16")};
  Random random(seed);
  const bool whole = takes_whole_blocks(recipe);
  const std::int64_t high = std::max(recipe.rows, 1), wide = std::max(recipe.columns, 1);
  std::uint64_t done = whole ? 0 : compare_at_thresholds(recipe, elements / 4, seed);
  for (int n = 0; done < elements && !testing::Test::HasFailure(); ++n) {
    const FormatSpec& source = sources[n % 3];
    const int first = static_cast<int>(random.below(kFillings)), kind = n % 4;
    // a tensor scale is made from every block: few blocks keep the extremes of one from hiding the others
    const std::int64_t down = recipe.A >= 0 ? 1 + n % 2 : 16, across = recipe.A >= 0 ? 1 + n % 5 : 8;
    const bool odd = kind == 3 && !whole;
    const std::int64_t rows = high * down - (odd && high > 1 ? random.between(0, 5) : 0);
    const std::int64_t columns = wide * across - (odd ? random.between(1, static_cast<int>(wide) - 1) : 0);
    const recipes::Inputs inputs = some_inputs(recipe, rows * columns, random);
    const int fillings = kind == 0 ? kFillings : kFiniteFillings;
    Tensor tensor = stratified(recipe, rows, columns, random.word(), fillings, source, first);
    if (kind == 1 && recipe.transform_reg < 0)
      tensor = aimed_at_ties(recipe, tensor, inputs, random.word(), source);
    done += compare_with_twin(recipe, tensor, inputs);
  }
  return done;
}

/// Runs the jobs on all cores.
inline void in_parallel(const std::vector<std::function<void()>>& jobs) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t job = next++; job < jobs.size(); job = next++) jobs[job]();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// The same on all cores, in shards with seeds of their own.
inline std::uint64_t sweep_in_parallel(const recipes::QuantRecipe& recipe, std::uint64_t elements) {
  constexpr std::uint64_t shards = 50;
  std::atomic<std::uint64_t> done{0};
  std::vector<std::function<void()>> jobs;
  for (std::uint64_t shard = 0; shard < shards; ++shard) {
    jobs.emplace_back([&, shard] { done += sweep(recipe, elements / shards + 1, 1000 + shard); });
  }
  in_parallel(jobs);
  return done;
}

}  // namespace halfulp::test
