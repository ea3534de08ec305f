// A recipe against its exact twin over many small tensors: every filling, ties, scale thresholds, random
// inputs and shapes.
#pragma once

#include <algorithm>
#include <atomic>
#include <thread>

#include "recipe_twins.hpp"

namespace halfulp::test {

/// Runs body(i) for i in [0, count) on all cores.
template <class Body>
void parallel(std::size_t count, Body body) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Values for every required input and for half of the others, now and then a zero; exact in f16.
inline recipes::Inputs random_inputs(const recipes::QuantRecipe& recipe, std::int64_t rows,
                                     std::int64_t columns, Random& random) {
  recipes::Inputs inputs;
  const recipes::Blocks blocks = recipes::blocks_of(recipe, rows, columns);
  for (const recipes::Input& input : recipe.inputs) {
    if (!input.default_literal.empty() && random.below(2) == 0) continue;
    std::int64_t count = 1;
    if (input.per == recipes::PerInput::block) count = blocks.count();
    if (input.per == recipes::PerInput::column) count = columns;
    if (input.per == recipes::PerInput::element) count = rows * columns;
    for (std::int64_t i = 0; i < count; ++i) {
      const double value =
          std::ldexp(1 + in_format(spec_of("e2m3"), random.uniform()), random.between(-12, 2));
      inputs[input.name].push_back(random.below(16) == 0 ? 0 : value);
    }
  }
  return inputs;
}

struct Swept {
  std::uint64_t elements = 0;  ///< that agree
  std::uint64_t blocks = 0;
};

/// Compares tensors of up to some thousand elements until `elements` agree. Sources are f32, bf16 and f16
/// in turn.
inline Swept sweep_corners(const recipes::QuantRecipe& recipe, std::uint64_t elements, std::uint64_t seed) {
  Random random(seed);
  const FormatSpec sources[] = {spec_of("f32"), spec_of("f32"), spec_of("bf16"), spec_of("f16")};
  const std::vector<double> thresholds =
      scale_thresholds(recipe, random_inputs(recipe, 1, 1, random), seed);
  Swept swept;
  for (int round = 0; swept.elements < elements && !testing::Test::HasFailure(); ++round) {
    const FormatSpec& source = sources[round % 4];
    std::int64_t rows = random.between(1, 40), columns = random.between(1, 60);
    if (recipe.granularity == recipes::Granularity::tensor) rows = 1 + rows % 16;
    if (recipe.columns > 0) {  // whole blocks, and a partial one in every other tensor
      rows = recipe.rows > 1 ? recipe.rows + random.between(0, recipe.rows) : 1 + rows % 16;
      columns = recipe.columns * (1 + round % 3) + (round % 2 == 0 ? 0 : random.between(1, recipe.columns));
    }
    Tensor tensor;
    if (round % 5 == 4) {
      std::vector<double> maxima;
      for (int i = 0; i < 12; ++i) maxima.push_back(thresholds[random.below(thresholds.size())]);
      tensor = with_maxima(recipe, maxima, random.word());
    } else {
      tensor = stratified(recipe, rows, columns, random.word(), kFillings, source, round);
    }
    const recipes::Inputs inputs = random_inputs(recipe, tensor.rows, tensor.columns, random);
    if (round % 2 == 1) tensor = aimed_at_ties(recipe, std::move(tensor), inputs, random.word(), source);
    swept.elements += compare_with_twin(recipe, tensor, inputs);
    swept.blocks +=
        static_cast<std::uint64_t>(recipes::blocks_of(recipe, tensor.rows, tensor.columns).count());
    if (round > 1000 && swept.elements == 0) break;  // refused throughout
  }
  return swept;
}

}  // namespace halfulp::test
