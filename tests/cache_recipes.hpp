// The recipes of caches, integers and GGML blocks with everything a sweep needs: inputs, source format,
// shapes.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_twins.hpp"

namespace halfulp::test {

/// How a recipe is swept.
struct Sweep {
  std::string_view name;
  std::string_view element;  ///< empty: the recipe's own
  std::string_view source;   ///< format of the elements
  std::int64_t rows, columns;
  std::string_view inputs = "";  ///< names of what is given: scale, mean, codebook, thresholds
  std::string_view block = "";   ///< empty: the recipe's own; smaller ones for more of them

  recipes::QuantRecipe recipe() const {
    recipes::QuantRecipe own =
        element.empty() ? recipes::named_recipe(name) : recipes::named_recipe(name, element);
    return block.empty() ? own : recipes::with_block(std::move(own), block);
  }
};

// clang-format off
inline const std::vector<Sweep> kCacheSweeps = {
    {"kv_fp8/vllm",                "",      "f16", 8, 32, "scale"},
    {"kv_fp8/vllm",                "",      "f32", 8, 32, "scale"},
    {"kv_fp8/vllm_packed",         "",      "bf16", 8, 32, "scale"},
    {"kv_fp8/vllm_half",           "",      "f16", 8, 32, "scale"},
    {"kv_fp8/vllm_per_head",       "",      "bf16", 104, 32, "scale"},
    {"kv_fp8/vllm_calculated",     "",      "bf16", 8, 32},
    {"kv_fp8/vllm_calculated_v",   "",      "f16", 8, 32},
    {"kv_fp8/scale_1",             "",      "f32", 8, 32},
    {"kivi/k",                     "",      "f16", 104, 40},
    {"kivi/k",                     "uint4", "f16", 104, 40},
    {"kivi/k",                     "",      "f32", 104, 40},
    {"kivi/v",                     "",      "f16", 40, 104},
    {"kivi/v",                     "uint4", "f16", 40, 104},
    {"sage/int8_qk",               "",      "f16", 80, 200, "mean"},
    {"sage/int8_qk",               "",      "f32", 26, 200, "mean", "8x32"},
    {"sage/int8_qk_triton",        "",      "f16", 80, 200, "mean"},
    {"sage/int8_qk_triton",        "",      "f16", 26, 200, "mean", "8x32"},
    {"sage/int8_qk_triton",        "",      "f32", 26, 200, "", "8x32"},
    {"sage/int8_qk_triton_thread", "",      "f16", 26, 200, "mean", "8x32"},
    {"nvfp4_kv/vllm",              "",      "bf16", 13, 72, "k_scale"},
    {"nvfp4_kv/vllm",              "",      "f32", 13, 72, "k_scale"},
    {"int_asym/zero_point",        "",      "f32", 26, 40},
    {"int_asym/zero_point",        "uint4", "f16", 26, 40, "clip"},
    {"int_asym/zero_point",        "uint2", "f32", 26, 40},
    {"int_asym/zero_point_group",  "",      "f32", 13, 300},
    {"int_asym/zero_point_group",  "uint8", "f16", 13, 300},
    {"int_sym/quarot",             "",      "f32", 26, 40},
    {"int_sym/quarot",             "int8",  "f16", 26, 40, "clip"},
    {"quarot/k",                   "",      "f16", 26, 64},
    {"quarot/k",                   "uint2", "f16", 26, 32, "clip"},
    {"kvquant/k",                  "",      "f16", 40, 26, "codebook thresholds"},
    {"kvquant/k",                  "uint2", "f32", 40, 26, "codebook thresholds"},
    {"kvquant/k_calibrated",       "",      "f16", 64, 26, "codebook dense"},
    {"kvquant/v",                  "",      "f16", 26, 48, "codebook dense"},
    {"kvquant/v",                  "uint2", "f32", 26, 48, "codebook dense"},
    {"ggml/q8_0",                  "",      "f32", 13, 72},
    {"ggml/q4_0",                  "",      "f32", 13, 72},
    {"ggml/q4_1",                  "",      "f32", 13, 72},
    {"ggml/mxfp4",                 "",      "f32", 13, 72},
};
// clang-format on

/// A sorted table over -1..1; some entries equal now and then.
inline std::vector<double> random_codebook(std::size_t count, Random& random) {
  std::vector<double> table(count);
  for (double& entry : table) entry = in_format(spec_of("f32"), 2 * random.uniform() - 1);
  std::sort(table.begin(), table.end());
  if (count > 2 && random.below(3) == 0) table[1] = table[2];
  table.front() = -1;
  table.back() = 1;
  return table;
}

/// Inputs of a sweep for one tensor.
inline recipes::Inputs inputs_for(const Sweep& sweep, const Tensor& tensor, std::uint64_t seed) {
  const recipes::QuantRecipe recipe = sweep.recipe();
  const recipes::Blocks blocks = recipes::blocks_of(recipe, tensor.rows, tensor.columns);
  Random random(seed);
  recipes::Inputs inputs;
  const auto has = [&](std::string_view word) { return sweep.inputs.find(word) != std::string_view::npos; };
  const auto f32 = [](double x) { return in_format(spec_of("f32"), x); };
  if (has("k_scale")) {
    inputs["k_scale"] = {f32(std::ldexp(1 + random.uniform(), random.between(-12, 3)))};
  } else if (has("scale")) {
    for (std::int64_t i = 0; i < blocks.count(); ++i)
      inputs["scale"].push_back(f32(std::ldexp(1 + random.uniform(), random.between(-12, 3))));
  }
  if (has("clip")) inputs["clip"] = {f32(0.9)};
  if (has("dense")) inputs["dense"] = {random.below(2) == 0 ? 0.99 : 0.9};
  if (has("codebook"))
    inputs["codebook"] = random_codebook(std::size_t{1} << recipe.code.format.width, random);
  if (has("mean")) {
    for (std::int64_t c = 0; c < tensor.columns; ++c) {
      inputs["mean"].push_back(
          in_format(spec_of("f16"), random.normal() * std::ldexp(1.0, random.between(-4, 4))));
    }
  }
  if (has("thresholds")) {  // inside the block's range, so that some elements lie outside
    for (std::int64_t i = 0; i < blocks.count(); ++i) {
      double low = 0, high = 0;
      for_each_place(blocks, i, [&](std::size_t place) {
        low = std::fmin(low, tensor.values[place]);
        high = std::fmax(high, tensor.values[place]);
      });
      inputs["outlier_lower"].push_back(f32(std::fmax(low, -1e30) * 0.75));
      inputs["outlier_upper"].push_back(f32(std::fmin(high, 1e30) * 0.75));
    }
  }
  return inputs;
}

/// What one tensor of a sweep added.
struct Compared {
  std::uint64_t elements = 0, blocks = 0;
};

/// Stratified blocks of every filling, and the same aimed at ties; partial blocks at the edges.
inline Compared compare_once(const Sweep& sweep, std::uint64_t seed) {
  const recipes::QuantRecipe recipe = sweep.recipe();
  const FormatSpec source = find_format(sweep.source)->spec;
  const bool whole = recipe.granularity == recipes::Granularity::tensor;
  Compared total;
  const auto compare = [&](const Tensor& tensor, const recipes::Inputs& inputs) {
    total.elements += compare_with_twin(recipe, tensor, inputs);
    total.blocks +=
        static_cast<std::uint64_t>(recipes::blocks_of(recipe, tensor.rows, tensor.columns).count());
  };
  for (int filling = 0; filling < (whole ? kFillings : 1); ++filling) {
    const Tensor plain =
        stratified(recipe, sweep.rows, sweep.columns, seed * 64 + static_cast<std::uint64_t>(filling),
                   kFillings, source, filling);
    compare(plain, inputs_for(sweep, plain, seed));
    const Tensor finite =
        stratified(recipe, sweep.rows, sweep.columns, seed * 64 + 32 + static_cast<std::uint64_t>(filling),
                   kFiniteFillings, source, filling);
    const recipes::Inputs inputs = inputs_for(sweep, finite, seed);
    compare(aimed_at_ties(recipe, finite, inputs, seed, source), inputs);
  }
  return total;
}

}  // namespace halfulp::test
