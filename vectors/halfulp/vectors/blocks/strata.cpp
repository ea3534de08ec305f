// Fills tensors; see strata.hpp.
#include "halfulp/vectors/blocks/strata.hpp"

#include <algorithm>
#include <limits>

#include "halfulp/recipes/quantize.hpp"
#include "halfulp/thresholds.hpp"

namespace halfulp::vectors::blocks {
namespace {

class BlockSource {
 public:
  BlockSource(Filling filling, const FormatSpec& source, std::size_t count, Random& random)
      : filling_(filling), source_(source), count_(count), random_(random) {
    const int lowest = source.min_exponent() - source.fraction_bits, highest = largest_exponent(source);
    scale_ = std::ldexp(
        1.0, filling == Filling::any_scale ? random.between(lowest, highest - 2) : random.between(-20, 20));
    sign_ = random.below(2) == 0 ? 1.0 : -1.0;
    special_ = random.below(count);
    if (lowest > -60 && filling != Filling::any_scale) scale_ = std::ldexp(1.0, random.between(-10, 6));
  }

  double operator[](std::size_t i) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                     kInf = std::numeric_limits<double>::infinity();
    const int lowest = source_.min_exponent() - source_.fraction_bits, highest = largest_exponent(source_);
    const double plain = random_.normal() * scale_;
    switch (filling_) {
      case Filling::normal:
      case Filling::any_scale: break;
      case Filling::outlier: return i == special_ ? std::ldexp(plain, random_.between(8, 30)) : plain;
      case Filling::offset: return sign_ * (std::fabs(plain) + 4 * scale_);
      case Filling::subnormal: {
        const double wide = random_.normal();
        return std::ldexp(wide, random_.between(lowest, lowest + source_.fraction_bits - 2));
      }
      case Filling::huge: {
        const double wide = random_.uniform() - 0.5;
        return std::ldexp(wide, highest + 2 - static_cast<int>(random_.below(3)));
      }
      case Filling::powers:
        return neighbour(std::ldexp(sign_of(plain), random_.between(lowest + 1, highest)));
      case Filling::mostly_zero: return random_.below(4) == 0 ? plain : 0 * sign_of(plain);
      case Filling::all_zero: return 0 * sign_;
      case Filling::bits: return random_bits();
      case Filling::some_nan: return i == special_ || random_.below(count_) == 0 ? sign_ * kNan : plain;
      case Filling::some_infinity:
        return i == special_ || random_.below(count_) == 0 ? sign_of(plain) * kInf : plain;
      case Filling::all_nan: return kNan;
    }
    return plain;
  }

 private:
  static double sign_of(double x) { return x < 0 ? -1.0 : 1.0; }
  double neighbour(double x) { return number_of(source_, code_of(source_, x) + random_.below(3) - 1); }
  double random_bits() {
    for (;;) {
      const double value = number_of(source_, random_.word() & low_mask(source_.width));
      if (std::isfinite(value)) return value;
    }
  }

  Filling filling_;
  const FormatSpec& source_;
  std::size_t count_, special_ = 0;
  Random& random_;
  double scale_ = 1, sign_ = 1;
};

}  // namespace

Tensor stratified(const recipes::QuantRecipe& recipe, std::int64_t rows, std::int64_t columns,
                  std::uint64_t seed, int fillings, const FormatSpec& source, int first) {
  Random random(seed);
  Tensor tensor = filled(rows, columns, 0);
  const recipes::Blocks blocks = recipes::blocks_of(recipe, rows, columns);
  for (std::int64_t i = 0; i < blocks.count(); ++i) {
    const auto filling = static_cast<Filling>((first + i) % fillings);
    const auto range = blocks[i];
    BlockSource block(filling, source, static_cast<std::size_t>(range.rows * range.columns), random);
    std::size_t next = 0;
    for_each_place(blocks, i,
                   [&](std::size_t place) { tensor.values[place] = in_format(source, block[next++]); });
  }
  return tensor;
}

Tensor aimed_at_ties(const recipes::QuantRecipe& recipe, Tensor tensor, const recipes::Inputs& inputs,
                     std::uint64_t seed, const FormatSpec& source) {
  Random random(seed);
  recipes::Quantized lower = recipes::quantize(recipe, tensor.view(), inputs);
  recipes::Quantized upper = lower;
  const OrderedCodes order(recipe.code.format);
  for (std::size_t i = 0; i < lower.codes.size(); ++i) {
    std::uint64_t position = random.below(order.size() - 1);
    if (recipe.code.format.width > 16)
      position = order.negatives() - 200 + position % 400;  // small integers
    lower.codes[i] = order[position];
    upper.codes[i] = order[position + 1];
  }
  const std::vector<double> below = recipes::dequantize(recipe, lower, inputs);
  const std::vector<double> above = recipes::dequantize(recipe, upper, inputs);
  for (std::int64_t block = 0; block < lower.blocks.count(); ++block) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for_each_place(lower.blocks, block, [&](std::size_t i) {
      low = std::fmin(low, tensor.values[i]);
      high = std::fmax(high, tensor.values[i]);
    });
    const double amax = std::fmax(std::fabs(low), std::fabs(high));
    for_each_place(lower.blocks, block, [&](std::size_t i) {
      const std::uint64_t choice = random.below(8);
      const double tie = in_format(source, (below[i] + above[i]) / 2), x = tensor.values[i];
      if (choice < 4 || !(tie > low && tie < high && std::fabs(tie) < amax && tie != 0)) return;
      if (!std::isfinite(x) || x == low || x == high || std::fabs(x) == amax) return;
      const std::uint64_t code = code_of(source, tie);
      const double beside = choice == 5   ? number_of(source, code - 1)
                            : choice == 6 ? number_of(source, code + 1)
                                          : tie;
      if (beside > low && beside < high && std::fabs(beside) < amax) tensor.values[i] = beside;
    });
  }
  return tensor;
}

Tensor with_maxima_in(const recipes::Blocks& blocks, const std::vector<double>& maxima, std::uint64_t seed,
                      const FormatSpec& source) {
  Random random(seed);
  Tensor tensor = filled(blocks.rows, blocks.columns, 0);
  for (std::int64_t i = 0; i < blocks.count(); ++i) {
    const double amax = maxima[static_cast<std::size_t>(i) % maxima.size()];
    const auto range = blocks[i];
    const std::uint64_t special = random.below(static_cast<std::uint64_t>(range.rows * range.columns));
    std::uint64_t next = 0;
    for_each_place(blocks, i, [&](std::size_t place) {
      const double other = in_format(source, amax * (2 * random.uniform() - 1));
      tensor.values[place] = next++ == special ? (random.below(2) == 0 ? amax : -amax) : other;
    });
  }
  return tensor;
}

Tensor with_maxima(const recipes::QuantRecipe& recipe, const std::vector<double>& maxima,
                   std::uint64_t seed, std::int64_t rows, std::int64_t columns, const FormatSpec& source) {
  using recipes::Granularity;
  const bool rowwise = recipe.granularity == Granularity::row || recipe.granularity == Granularity::tensor;
  const auto count = static_cast<std::int64_t>(maxima.size());
  if (recipe.rows > 0) rows = recipe.rows;
  if (recipe.columns > 0) columns = recipe.columns;
  if (recipe.granularity == Granularity::row || recipe.granularity == Granularity::group) rows = 1;
  if (recipe.granularity == Granularity::column) columns = 1;
  const std::int64_t high = rowwise ? rows * count : rows, wide = rowwise ? columns : columns * count;
  return with_maxima_in(recipes::blocks_of(recipe, high, wide), maxima, seed, source);
}

std::vector<double> scale_thresholds(const recipes::QuantRecipe& recipe, const recipes::Inputs& inputs,
                                     std::uint64_t seed, double tensor_amax, const FormatSpec& source) {
  std::vector<double> found;
  const std::uint64_t top = source.largest_magnitude();
  const auto add = [&](std::uint64_t code) {
    for (std::uint64_t c = code == 0 ? 0 : code - 1; c <= code + 1 && c <= top; ++c)
      found.push_back(number_of(source, c));
  };
  if (recipe.scale.reg < 0 || recipe.scale.format.width > 8) {
    Random random(seed);
    for (int e = source.min_exponent() - source.fraction_bits; e <= largest_exponent(source); e += 3) {
      for (const double m : {1.0, 448.0, 127.0, 6.0}) add(code_of(source, std::ldexp(m, e)));
    }
    for (int i = 0; i < 100; ++i) add(random.below(top));
    return found;
  }
  const auto scale_at = [&](std::uint64_t code) {
    std::vector<double> values = {number_of(source, code)};
    if (tensor_amax == 0) return recipes::quantize(recipe, row_of(values).view(), inputs).scales.at(0);
    Tensor tensor = filled(std::max(recipe.rows, 1), 2 * std::max(recipe.columns, 1), 0);
    tensor.values[0] = tensor_amax;
    tensor.values[static_cast<std::size_t>(std::max(recipe.columns, 1))] = values[0];
    return recipes::quantize(recipe, tensor.view(), inputs).scales.at(1);
  };
  const auto split = [&](auto& self, std::uint64_t low, std::uint64_t low_scale, std::uint64_t high,
                         std::uint64_t high_scale) -> void {
    if (low_scale == high_scale) return;
    if (high - low == 1) return add(high);
    const std::uint64_t middle = low + (high - low) / 2, scale = scale_at(middle);
    self(self, low, low_scale, middle, scale);
    self(self, middle, scale, high, high_scale);
  };
  const std::uint64_t last = tensor_amax == 0 ? top : code_of(source, tensor_amax);
  split(split, 0, scale_at(0), last, scale_at(last));
  return found;
}

}  // namespace halfulp::vectors::blocks
