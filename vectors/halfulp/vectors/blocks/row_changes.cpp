// Wrong kernels' handling of rows; see row_changes.hpp.
#include "halfulp/vectors/blocks/row_changes.hpp"

#include <algorithm>
#include <cmath>

#include "halfulp/recipes/granularity.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::vectors {
namespace {

using recipes::Blocks;
using recipes::Granularity;
using recipes::PerInput;

/// Inputs that belong to places of the tensor, which a changed shape would not fit.
bool has_placed_inputs(const RecipePlan& plan) {
  return std::any_of(plan.varied.begin(), plan.varied.end(), [](const VariedInput& input) {
    return input.per != PerInput::tensor && input.per != PerInput::table;
  });
}

template <class T>
std::vector<T> transposed(const std::vector<T>& values, std::int64_t rows, std::int64_t columns) {
  std::vector<T> turned;
  turned.reserve(values.size());
  for (std::int64_t c = 0; c < columns; ++c) {
    for (std::int64_t r = 0; r < rows; ++r)
      turned.push_back(values[static_cast<std::size_t>(r * columns + c)]);
  }
  return turned;
}

bool is_zero_block(const RecipePlan& plan, const RecipeRow& row, std::int64_t block) {
  bool zero = true;
  blocks::for_each_place(plan.blocks(), block, [&](std::size_t i) { zero = zero && row.values[i] == 0; });
  return zero;
}

RowAnswer right_answer(const RecipePlan& plan, const RecipeRow& row) {
  return answer_by(plan, plan.recipe, row);
}

}  // namespace

std::optional<RowAnswer> along_other_axis(const RecipePlan& plan, const RecipeRow& row) {
  if (plan.task != Task::quantize || has_placed_inputs(plan) ||
      plan.recipe.granularity == Granularity::tensor)
    return std::nullopt;
  RecipePlan turned = plan;
  std::swap(turned.rows, turned.columns);
  if (turned.blocks().count() != plan.blocks().count()) return std::nullopt;
  RecipeRow other = row;
  other.values = transposed(row.values, plan.rows, plan.columns);
  RowAnswer answer = right_answer(turned, other);
  answer.codes = transposed(answer.codes, turned.rows, turned.columns);
  if (!answer.kept.empty()) answer.kept = transposed(answer.kept, turned.rows, turned.columns);
  return answer;
}

std::optional<RowAnswer> with_stale_tail(const RecipePlan& plan, const RecipeRow& row) {
  const Blocks blocks = plan.blocks();
  const std::int64_t rest = blocks.columns % blocks.block_columns;
  if (plan.task != Task::quantize || has_placed_inputs(plan) ||
      plan.recipe.granularity != Granularity::group || rest == 0)
    return std::nullopt;
  RecipePlan whole = plan;
  whole.columns += blocks.block_columns - rest;
  RecipeRow longer = row;
  longer.values.clear();
  for (std::int64_t r = 0; r < plan.rows; ++r) {
    for (std::int64_t c = 0; c < whole.columns; ++c) {
      const std::int64_t from = c < plan.columns ? c : c - blocks.block_columns;
      longer.values.push_back(from < 0 ? 0 : row.values[static_cast<std::size_t>(r * plan.columns + from)]);
    }
  }
  const RowAnswer answer = right_answer(whole, longer);
  RowAnswer cut = answer;
  cut.codes.clear();
  for (std::size_t i = 0; i < answer.codes.size(); ++i) {
    if (static_cast<std::int64_t>(i) % whole.columns < plan.columns) cut.codes.push_back(answer.codes[i]);
  }
  cut.kept.clear();
  return cut;
}

std::optional<RowAnswer> with_running_amax(const RecipePlan& plan, const RecipeRow& row) {
  const recipes::QuantRecipe& recipe = plan.recipe;
  if (plan.task != Task::quantize || has_placed_inputs(plan) || recipe.A >= 0 ||
      recipe.transform_reg >= 0 || recipe.keep_reg >= 0 || recipe.granularity == Granularity::tensor)
    return std::nullopt;
  const Blocks all = plan.blocks();
  RowAnswer answer;
  answer.codes.resize(plan.elements());
  double running = 0;
  for (std::int64_t b = 0; b < all.count(); ++b) {
    std::vector<double> values;
    blocks::for_each_place(all, b, [&](std::size_t i) { values.push_back(row.values[i]); });
    for (const double x : values) running = std::isnan(x) ? running : std::fmax(running, std::fabs(x));
    values.push_back(running);
    RecipePlan one = plan;
    one.recipe = recipes::with_granularity(recipe, Granularity::tensor);
    one.rows = 1;
    one.columns = static_cast<std::int64_t>(values.size());
    const RowAnswer part = right_answer(one, {values, row.inputs, {}, 0});
    answer.scales.insert(answer.scales.end(), part.scales.begin(), part.scales.end());
    answer.zeros.insert(answer.zeros.end(), part.zeros.begin(), part.zeros.end());
    std::size_t next = 0;
    blocks::for_each_place(all, b, [&](std::size_t i) { answer.codes[i] = part.codes[next++]; });
  }
  return answer;
}

std::optional<RowAnswer> with_stale_scale(const RecipePlan& plan, const RecipeRow& row, RowAnswer right) {
  if (plan.task != Task::quantize || right.scales.empty()) return std::nullopt;
  for (std::size_t b = 1; b < right.scales.size(); ++b) {
    if (is_zero_block(plan, row, static_cast<std::int64_t>(b))) right.scales[b] = right.scales[b - 1];
  }
  return right;
}

std::optional<RowAnswer> with_zero_block_scale(const RecipePlan& plan, const RecipeRow& row,
                                               RowAnswer right, std::uint64_t code) {
  if (plan.task != Task::quantize || right.scales.empty()) return std::nullopt;
  for (std::size_t b = 0; b < right.scales.size(); ++b) {
    if (is_zero_block(plan, row, static_cast<std::int64_t>(b))) right.scales[b] = code;
  }
  return right;
}

std::optional<RowAnswer> with_scales_rotated(RowAnswer right, std::int64_t by) {
  const auto n = static_cast<std::int64_t>(right.scales.size());
  if (n < 2) return std::nullopt;
  std::vector<std::uint64_t> scales(right.scales.size());
  for (std::int64_t i = 0; i < n; ++i)
    scales[static_cast<std::size_t>(((i + by) % n + n) % n)] = right.scales[static_cast<std::size_t>(i)];
  right.scales = std::move(scales);
  return right;
}

std::optional<RowAnswer> with_scales_moved(const RecipePlan& plan, RowAnswer right, int by) {
  if (right.scales.empty()) return std::nullopt;
  const std::uint64_t last = low_mask(plan.recipe.scale.format.width);
  for (std::uint64_t& code : right.scales) {
    if (by > 0 && code < last) ++code;
    if (by < 0 && code > 0) --code;
  }
  return right;
}

std::optional<RowAnswer> with_scales_laid_out(const RecipePlan& plan, RowAnswer right,
                                              ScaleLayout written) {
  if (right.scales.size() < 2) return std::nullopt;
  const ScaleGrid read = plan.scale_grid();
  const ScaleGrid wrote{written, read.rows, read.columns, 1};
  std::vector<std::uint64_t> buffer(std::max(read.stored(), wrote.stored()), 0);
  for (std::size_t i = 0; i < right.scales.size(); ++i)
    buffer[wrote.offset(i / read.columns, i % read.columns)] = right.scales[i];
  for (std::size_t i = 0; i < right.scales.size(); ++i)
    right.scales[i] = buffer[read.offset(i / read.columns, i % read.columns)];
  return right;
}

std::optional<RowAnswer> with_codes_packed(const RecipePlan& plan, RowAnswer right, Packing written) {
  const int width = plan.recipe.code.format.width;
  const Packing read = plan.packing.value_or(Packing::low_first);
  if (!packs(written, width) || !packs(read, width) || right.codes.empty()) return std::nullopt;
  const auto columns = static_cast<std::size_t>(plan.columns);
  const std::size_t bytes =
      std::max(packed_bytes(written, width, columns), packed_bytes(read, width, columns));
  for (std::size_t row = 0; row < right.codes.size(); row += columns) {
    const std::span<std::uint64_t> line = std::span(right.codes).subspan(row, columns);
    std::vector<std::uint8_t> wrote(packed_bytes(written, width, columns));
    pack<std::uint64_t>(written, width, line, wrote);
    wrote.resize(bytes);
    unpack<std::uint64_t>(read, width, std::span(wrote).first(packed_bytes(read, width, columns)), line);
  }
  return right;
}

std::optional<RowAnswer> with_tensor_scale_inverted(const RecipePlan& plan, RowAnswer right) {
  if (!right.tensor_scale || plan.recipe.tensor_scale.reg < 0) return std::nullopt;
  const FormatSpec& format = plan.recipe.tensor_scale.format;
  right.tensor_scale = blocks::code_of(format, 1 / blocks::number_of(format, *right.tensor_scale));
  return right;
}

RowAnswer with_codes_replaced(RowAnswer answer, std::uint64_t from, std::uint64_t to) {
  std::replace(answer.codes.begin(), answer.codes.end(), from, to);
  return answer;
}

RecipeRow subnormals_flushed(const RecipePlan& plan, RecipeRow row) {
  const double normal = std::ldexp(1.0, plan.from.min_exponent());
  for (double& x : row.values) {
    if (std::fabs(x) < normal) x = std::copysign(0.0, x);
  }
  return row;
}

RecipeRow rounded_to(RecipeRow row, const FormatSpec& format) {
  for (double& x : row.values) x = blocks::in_format(format, x);
  return row;
}

}  // namespace halfulp::vectors
