// Row and column copies; see two_copies.hpp.
#include "halfulp/recipes/two_copies.hpp"

#include <cmath>

#include "halfulp/recipes/quantize.hpp"

namespace halfulp::recipes {
namespace {

bool same(double a, double b) {
  return (a == b && std::signbit(a) == std::signbit(b)) || (std::isnan(a) && std::isnan(b));
}

std::uint64_t scale_at(const Quantized& quantized, std::int64_t row, std::int64_t column) {
  if (quantized.scales.empty()) return 0;
  const Blocks& b = quantized.blocks;
  return quantized
      .scales[static_cast<std::size_t>(row / b.block_rows * b.across() + column / b.block_columns)];
}

}  // namespace

std::vector<double> transposed(const TensorView& matrix) {
  std::vector<double> values;
  values.reserve(matrix.values.size());
  for (std::int64_t c = 0; c < matrix.columns; ++c) {
    for (std::int64_t r = 0; r < matrix.rows; ++r)
      values.push_back(matrix.values[static_cast<std::size_t>(r * matrix.columns + c)]);
  }
  return values;
}

TwoCopies quantize_both_ways(const QuantRecipe& recipe, const TensorView& matrix, const Inputs& inputs) {
  const std::vector<double> turned = transposed(matrix);
  return {quantize(recipe, matrix, inputs),
          quantize(recipe, {matrix.columns, matrix.rows, turned}, inputs)};
}

std::vector<Requantized> changed_by_requantizing(const QuantRecipe& recipe, const TensorView& matrix,
                                                 const Inputs& inputs) {
  const TwoCopies both = quantize_both_ways(recipe, matrix, inputs);
  const std::vector<double> row_values = dequantize(recipe, both.rows, inputs);
  const std::vector<double> turned = transposed({matrix.rows, matrix.columns, row_values});
  const Quantized again = quantize(recipe, {matrix.columns, matrix.rows, turned}, inputs);
  const std::vector<double> right = dequantize(recipe, both.columns, inputs),
                            wrong = dequantize(recipe, again, inputs);
  std::vector<Requantized> changed;
  for (std::int64_t c = 0; c < matrix.columns; ++c) {
    for (std::int64_t r = 0; r < matrix.rows; ++r) {
      const auto i = static_cast<std::size_t>(c * matrix.rows + r);
      const Requantized each = {r,
                                c,
                                scale_at(both.columns, c, r),
                                both.columns.codes[i],
                                scale_at(again, c, r),
                                again.codes[i],
                                right[i],
                                wrong[i]};
      if (each.scale_from_original == each.scale_from_rows &&
          each.code_from_original == each.code_from_rows && same(right[i], wrong[i]))
        continue;
      changed.push_back(each);
    }
  }
  return changed;
}

}  // namespace halfulp::recipes
