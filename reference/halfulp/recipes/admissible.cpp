// Choices of approximate steps, tried one combination at a time on the whole tensor.
#include "halfulp/recipes/admissible.hpp"

#include <algorithm>

#include "halfulp/recipes/operations.hpp"
#include "halfulp/recipes/quantize.hpp"

namespace halfulp::recipes {
namespace {

/// Block `i` holds the same scale, zero point and codes in both.
bool same_line(const Quantized& a, const Quantized& b, std::int64_t i) {
  const auto block = static_cast<std::size_t>(i);
  if (a.tensor_scale != b.tensor_scale) return false;
  if (!a.scales.empty() && a.scales[block] != b.scales[block]) return false;
  if (!a.zeros.empty() && a.zeros[block] != b.zeros[block]) return false;
  const Blocks::Range range = a.blocks[i];
  for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
    const auto from = static_cast<std::ptrdiff_t>(row * a.blocks.columns + range.column);
    const auto begin = a.codes.begin() + from;
    if (!std::equal(begin, begin + range.columns, b.codes.begin() + from)) return false;
  }
  return true;
}

}  // namespace

bool is_approximate(Op op) {
  return op == Op::reciprocal_approx || op == Op::log2 || op == Op::exp2;
}

std::vector<double> admissible_results(const Step& step, double operand) {
  std::vector<double> results;
  for (const int ulps : {-1, 0, 1}) {
    Step choice = step;
    choice.ulps = ulps;
    const double result = apply(choice, operand, 0, 0, 0);
    if (results.empty() || result > results.back()) results.push_back(result);
  }
  return results;
}

std::vector<QuantRecipe> admissible_variants(const QuantRecipe& recipe) {
  std::vector<std::size_t> approximate;
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    if (is_approximate(recipe.steps[i].op) && recipe.steps[i].precision == Precision::f32)
      approximate.push_back(i);
  }
  std::vector<QuantRecipe> variants = {recipe};
  const bool combine = approximate.size() <= kMostCombined;
  for (const std::size_t i : approximate) {
    const std::size_t before = combine ? variants.size() : 1;
    for (std::size_t n = 0; n < before; ++n) {
      for (const int ulps : {-1, 1}) {
        QuantRecipe variant = variants[n];
        variant.steps[i].ulps = ulps;
        variants.push_back(std::move(variant));
      }
    }
  }
  return variants;
}

std::vector<bool> lines_that_could_differ(const QuantRecipe& recipe, const TensorView& tensor,
                                          const Inputs& inputs) {
  const std::vector<QuantRecipe> variants = admissible_variants(recipe);
  const auto blocks = static_cast<std::size_t>(blocks_of(recipe, tensor.rows, tensor.columns).count());
  std::vector<bool> differ(blocks, false);
  if (variants.size() == 1) return differ;
  const Quantized printed = quantize(recipe, tensor, inputs);
  for (std::size_t n = 1; n < variants.size(); ++n) {
    const Quantized other = quantize(variants[n], tensor, inputs);
    for (std::size_t i = 0; i < blocks; ++i) {
      if (!same_line(printed, other, static_cast<std::int64_t>(i))) differ[i] = true;
    }
  }
  return differ;
}

std::vector<bool> lines_that_are_admissible(const QuantRecipe& recipe, const TensorView& tensor,
                                            const Quantized& got, const Inputs& inputs) {
  std::vector<bool> right(static_cast<std::size_t>(got.blocks.count()), false);
  for (const QuantRecipe& variant : admissible_variants(recipe)) {
    const Quantized result = quantize(variant, tensor, inputs);
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (same_line(result, got, static_cast<std::int64_t>(i))) right[i] = true;
    }
  }
  return right;
}

}  // namespace halfulp::recipes
