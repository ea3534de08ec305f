// Blocks at the corners of two recipes; see witness_blocks.hpp.
#include "halfulp/recipes/witness_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "halfulp/recipes/quantize.hpp"
#include "halfulp/thresholds.hpp"

namespace halfulp::recipes {
namespace {

constexpr FormatSpec kF32 = spec_of("f32"), kF64 = spec_of("f64");
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = 0x1.fffffep+127;

bool has_butterflies(const QuantRecipe& recipe) {
  return std::any_of(recipe.transform_steps.begin(), recipe.transform_steps.end(),
                     [](const Step& step) { return step.op == Op::hadamard; });
}

/// Blocks that are known to tell recipes apart which agree nearly everywhere.
struct DocumentedBlock {
  double tensor_amax;  ///< 0: that of the values
  std::array<double, 4> values;
};
constexpr DocumentedBlock kDocumented[] = {
    {0x1.51e6e2p+5, {0x1.f2eeeap+4, 0, 0, 0}},  // four over six: an exact tie of the errors
    {0, {1.625, 0.01904296875, 0, 0}},          // divide or multiply by the reciprocal
    {0, {3.875, 0.04541015625, 0, 0}},          // 448 / a or a / 448
    {0, {511.5, 0, 0, 0}},                      // amax rounded to bf16
    {4.0625, {0.047607421875, 0, 0, 0}},        // order of the factors of an NVFP4 scale
    {3670016, {7.9, 0, -1, 0}},                 // an NVFP4 scale that underflows
};

constexpr std::int64_t kAll = std::int64_t{1} << 40;  ///< a block takes every row, or every column

std::int64_t rows_of_a_block(const QuantRecipe& recipe) {
  switch (recipe.granularity) {
    case Granularity::tensor:
    case Granularity::column: return kAll;
    case Granularity::row:
    case Granularity::group: return 1;
    case Granularity::tile: break;
  }
  return recipe.rows;
}

std::int64_t columns_of_a_block(const QuantRecipe& recipe) {
  switch (recipe.granularity) {
    case Granularity::tensor:
    case Granularity::row: return kAll;
    case Granularity::column: return 1;
    case Granularity::group:
    case Granularity::tile: break;
  }
  return recipe.columns;
}

}  // namespace

double number_of_f32(std::uint64_t code) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(code)));
}
std::uint64_t f32_code(double value) {
  constexpr CastPolicy policy = {.overflow = Overflow::saturate_keep_inf};
  return cast(kF64, std::bit_cast<std::uint64_t>(value), kF32, policy).code;
}
double with_bits(double value, int bits) {
  if (!std::isfinite(value) || value == 0) return value;
  const int shift = bits - 1 - std::ilogb(value);
  return in_f32(std::ldexp(std::nearbyint(std::ldexp(value, shift)), -shift));
}

bool along_a_column(const QuantRecipe& recipe) {
  return recipe.granularity == Granularity::column || (recipe.granularity == Granularity::tile && recipe.columns == 1);
}

bool blocks_differ(const QuantRecipe& a, const QuantRecipe& b) {
  return rows_of_a_block(a) != rows_of_a_block(b) || columns_of_a_block(a) != columns_of_a_block(b);
}

WitnessBlocks::WitnessBlocks(const QuantRecipe& a, const QuantRecipe& b, SpecimenShape shape)
    : a_(a), b_(b), tensor_amax_(a.A >= 0 && b.A >= 0), width_(along_a_column(a) || along_a_column(b) ? 1 : 0), shape_(shape) {
  const bool butterflies = has_butterflies(a) || has_butterflies(b);
  if (shape == SpecimenShape::matrix) {
    const std::int64_t rows_a = rows_of_a_block(a), rows_b = rows_of_a_block(b);
    const std::int64_t columns_a = columns_of_a_block(a), columns_b = columns_of_a_block(b);
    const std::int64_t least_rows = std::min(rows_a, rows_b), least_columns = std::min(columns_a, columns_b);
    const bool by_rows = columns_a == columns_b || (rows_a != rows_b && least_rows <= least_columns);
    width_ = by_rows ? (butterflies ? 16 : 4) : least_columns + 1;
    const std::int64_t rows = by_rows ? least_rows + 1 : std::min<std::int64_t>(least_rows, 2);
    length_ = static_cast<std::size_t>(rows * width_);
    return;
  }
  if (butterflies) length_ = 16;
  const int block_a = width_ == 1 ? a.rows : a.columns, block_b = width_ == 1 ? b.rows : b.columns;
  if (block_a > 0 && block_b > 0 && block_a != block_b) {
    length_ = static_cast<std::size_t>(std::min(std::max(block_a, block_b), std::min(block_a, block_b) + 4));
  }
}

double WitnessBlocks::uniform() { return std::ldexp(static_cast<double>(word() >> 40), -24); }

void WitnessBlocks::fill_inputs(Specimen& specimen, bool plain) {
  for (const QuantRecipe* recipe : {&a_, &b_}) {
    for (const Input& input : recipe->inputs) {
      const bool wanted = input.default_literal.empty() || input.name == "scale" || input.per == PerInput::column;
      if (!wanted || specimen.inputs.contains(input.name)) continue;
      std::vector<double>& values = specimen.inputs[input.name];
      if (input.per == PerInput::table) {
        for (std::int64_t i = 0; i < input.entries; ++i) {
          values.push_back(in_f32(-1 + 2 * static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(input.entries - 1, 1))));
        }
      } else if (input.name == "random") {
        values = {plain ? 0 : static_cast<double>(below(256))};
      } else if (input.name.ends_with("lower")) {
        values = {-1};
      } else {
        values = {plain || below(8) == 0 ? 1 : with_bits(std::ldexp(1 + uniform(), static_cast<int>(below(12)) - 8), 1 + static_cast<int>(below(24)))};
      }
    }
  }
}

Specimen WitnessBlocks::start() {
  Specimen specimen;
  specimen.width = width_;
  specimen.values.assign(length_, 0);
  fill_inputs(specimen, false);
  return specimen;
}

std::vector<Specimen> WitnessBlocks::with_tensor_amax(const std::vector<std::vector<double>>& blocks) const {
  std::vector<Specimen> all;
  for (const std::vector<double>& block : blocks) {
    for (const double amax : {0.0, 1.0, 6.0, 2688.0, 3670016.0, 0x1p+127, 0x1p-126}) {
      if (amax != 0 && !tensor_amax_) break;
      if (std::any_of(block.begin(), block.end(), [&](double x) { return amax != 0 && std::isfinite(x) && std::fabs(x) > amax; })) continue;
      WitnessBlocks plain(a_, b_, shape_);
      Specimen specimen = plain.start();
      specimen.inputs.clear();
      plain.fill_inputs(specimen, true);
      std::copy_n(block.begin(), std::min(block.size(), specimen.values.size()), specimen.values.begin());
      for (std::size_t i = block.size(); shape_ == SpecimenShape::matrix && i < specimen.values.size(); ++i)  // smaller and smaller
        specimen.values[i] = in_f32(block[i % block.size()] / static_cast<double>(1 + 2 * (i / block.size())));
      if (amax != 0) specimen.tensor_amax = amax;
      all.push_back(std::move(specimen));
    }
  }
  return all;
}

std::vector<Specimen> WitnessBlocks::simple() const {
  return with_tensor_amax({{1}, {-1}, {2}, {448}, {-127}, {6}, {0.5, 0.75}, {1, 2, 3}, {3, 4}, {6, 2.5, 0.75, -0.25}, {465}, {480},
                           {0x1p-9}, {0x1p-10}, {0x1p-20}, {1e-6}, {7.9, -1}, {0x1p+20, 1}, {65504}, {65536}, {9, 10, 11, 12}});
}
std::vector<Specimen> WitnessBlocks::extreme() const {
  return with_tensor_amax({{0x1p-40}, {0x1p-100}, {0x1p-126}, {0x1p-127}, {0x1p-140}, {0x1p-149}, {1, 0x1p-149}, {0x1p+100}, {0x1p+127},
                           {kLargest}, {kLargest, 1}, {-kLargest, kLargest}});
}
std::vector<Specimen> WitnessBlocks::zeros() const { return with_tensor_amax({{1, -0.0}, {0}, {-0.0}}); }
std::vector<Specimen> WitnessBlocks::non_finite() const {
  return with_tensor_amax({{kInf}, {-kInf}, {kInf, 1}, {kNan}, {-kNan}, {kNan, 1}, {1, kNan}, {kNan, kInf}});
}
std::vector<Specimen> WitnessBlocks::documented() const {
  std::vector<Specimen> all;
  for (const DocumentedBlock& known : kDocumented) {
    std::vector<double> block(known.values.begin(), known.values.end());
    for (double& x : block) x = in_f32(x);
    Specimen specimen = with_tensor_amax({block}).front();
    if (tensor_amax_ && known.tensor_amax != 0) specimen.tensor_amax = known.tensor_amax;
    all.push_back(std::move(specimen));
  }
  return all;
}

double WitnessBlocks::amax() {
  const bool far = below(10) == 0;
  const int exponent = far ? static_cast<int>(below(250)) - 125 : static_cast<int>(below(24)) - 12;
  switch (below(5)) {
    case 0: return with_bits(std::ldexp(1 + uniform(), exponent), 8);
    case 1: return std::ldexp(1.0, exponent);
    case 2: {
      constexpr double whole[] = {448, 127, 6, 7, 7.5, 1.75, 255};
      return in_f32(std::ldexp(whole[below(7)], std::min(exponent, 110)));
    }
    case 3: return with_bits(std::ldexp(1 + uniform(), exponent), 2 + static_cast<int>(below(12)));
    default: return in_f32(std::ldexp(1 + uniform(), exponent));
  }
}

double WitnessBlocks::scale_threshold(const Specimen& base, const QuantRecipe& recipe, double start) {
  Specimen probe = base;
  std::fill(probe.values.begin(), probe.values.end(), 0.0);
  const auto scale_at = [&](std::uint64_t code) {
    probe.values[0] = number_of_f32(code);
    const RecipeAnswer answer = answer_of(recipe, probe);
    return answer.quantized.scales.empty() ? 0 : answer.quantized.scales[0];
  };
  std::uint64_t low = f32_code(start), high = f32_code(2.5 * start);
  const std::uint64_t at_low = scale_at(low);
  if (scale_at(high) == at_low) return start;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (scale_at(middle) == at_low ? low : high) = middle;
  }
  return number_of_f32(low + below(3) - 1 + below(2));
}

/// Puts elements where the recipe changes between two codes, or up to two ulps beside.
void WitnessBlocks::aim(Specimen& specimen, const QuantRecipe& recipe) {
  RecipeAnswer lower = answer_of(recipe, specimen);
  if (!lower.refused.empty()) return;
  Quantized upper = lower.quantized;
  const OrderedCodes order(recipe.code.format);
  for (std::size_t i = 0; i < upper.codes.size(); ++i) {
    std::uint64_t position = below(order.size() - 1);
    if (recipe.code.format.width > 16) position = order.negatives() - 200 + position % 400;
    lower.quantized.codes[i] = order[position];
    upper.codes[i] = order[position + 1];
  }
  const Inputs inputs = inputs_of(recipe, specimen);
  const std::vector<double> low = dequantize(recipe, lower.quantized, inputs), high = dequantize(recipe, upper, inputs);
  for (std::size_t i = 1; i < specimen.values.size(); ++i) {
    const double tie = (low[i] + high[i]) / 2;
    if (!std::isfinite(tie) || tie == 0 || std::fabs(tie) >= std::fabs(specimen.values[0])) continue;
    constexpr int offsets[] = {0, 0, 0, 0, 1, -1, 2, -2};
    const double x = number_of_f32(f32_code(tie) + static_cast<std::uint64_t>(static_cast<std::int64_t>(offsets[below(8)])));
    if (std::isfinite(x)) specimen.values[i] = below(8) == 0 ? with_bits(x, 8) : x;
  }
}

Specimen WitnessBlocks::threshold() {
  Specimen specimen = start();
  const QuantRecipe& recipe = below(2) == 0 ? a_ : b_;
  double most = amax();
  if (tensor_amax_ && below(4) != 0) {
    const double factor = below(2) == 0 ? std::ldexp(1.0, static_cast<int>(below(12))) : std::ldexp(1 + uniform(), static_cast<int>(below(10)));
    specimen.tensor_amax = std::fmin(in_f32(most * factor), kLargest);
  }
  const bool probed = recipe.scale.reg >= 0 && recipe.scale.format.width <= 8 && below(2) == 0 && most < 0x1p+120;
  if (probed) most = scale_threshold(specimen, recipe, most);
  if (specimen.tensor_amax && *specimen.tensor_amax < most) specimen.tensor_amax = most;
  specimen.values[0] = below(2) == 0 ? most : -most;
  if (recipe.lo >= 0 || recipe.LO >= 0) {  // a range: another end
    specimen.values[1] = in_f32(most * (2 * uniform() - 1));
  }
  if (shape_ == SpecimenShape::matrix) {  // every row gets a largest element of its own
    for (std::size_t i = static_cast<std::size_t>(width_); i < specimen.values.size(); i += static_cast<std::size_t>(width_))
      specimen.values[i] = in_f32(std::ldexp(most * uniform(), -static_cast<int>(below(8))));
  }
  aim(specimen, recipe);
  return specimen;
}

Specimen WitnessBlocks::power() {
  Specimen specimen = start();
  const int top = static_cast<int>(below(270)) - 145;
  for (double& x : specimen.values) {
    const double p = std::ldexp(below(2) == 0 ? 1.0 : -1.0, std::clamp(top - static_cast<int>(below(20)), -149, 127));
    x = number_of_f32(f32_code(p) + below(3) - 1);
    if (!std::isfinite(x)) x = p;
  }
  return specimen;
}

Specimen WitnessBlocks::random() {
  Specimen specimen = start();
  const int exponent = static_cast<int>(below(40)) - 20;
  const bool bits = below(4) == 0;
  for (double& x : specimen.values) {
    x = bits ? number_of_f32(word() & 0xffffffff) : in_f32(std::ldexp(2 * uniform() - 1, exponent));
    if (!std::isfinite(x)) x = 0;
  }
  return specimen;
}

}  // namespace halfulp::recipes
