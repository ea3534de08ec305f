// Seeded tensors that reach the corners of recipes: scales, ties, specials, partial blocks. The same bits
// everywhere.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/thresholds.hpp"

namespace halfulp::test {

struct Tensor {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;

  recipes::TensorView view() const { return {rows, columns, values}; }
};

/// One row.
inline Tensor row_of(std::vector<double> values) {
  return {1, static_cast<std::int64_t>(values.size()), std::move(values)};
}
inline Tensor filled(std::int64_t rows, std::int64_t columns, double value) {
  return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns), value)};
}

/// The source format where none is named.
inline constexpr FormatSpec kSource = spec_of("f32");

/// Counter-based words (splitmix64); the distributions use exact arithmetic alone.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t word() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return word() % n; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  double uniform() { return std::ldexp(static_cast<double>(word() >> 32), -32); }
  double normal() {  // sum of twelve uniforms: mean 0, deviation 1
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

inline double number_of(const FormatSpec& format, std::uint64_t code) {
  constexpr CastPolicy exact = {.overflow = Overflow::overflow};
  return std::bit_cast<double>(cast(format, code, spec_of("f64"), exact).code);
}
inline std::uint64_t code_of(const FormatSpec& format, double value) {
  constexpr CastPolicy policy = {.overflow = Overflow::saturate_keep_inf};
  return cast(spec_of("f64"), std::bit_cast<std::uint64_t>(value), format, policy).code;
}
/// The nearest number of a format; finite values stay finite.
inline double in_format(const FormatSpec& format, double value) {
  return number_of(format, code_of(format, value));
}

inline int largest_exponent(const FormatSpec& format) {
  return std::ilogb(number_of(format, format.largest_magnitude()));
}

/// What a block is filled with.
enum class Filling : std::uint8_t {
  normal,         ///< at a scale of 2^-20 .. 2^20
  outlier,        ///< one element 2^8 .. 2^30 times the others
  any_scale,      ///< normal at any scale of the source format
  offset,         ///< all on one side of zero
  subnormal,      ///< subnormal in the source format
  huge,           ///< in the top binades
  powers,         ///< powers of two and their neighbours
  mostly_zero,    ///< zeros of both signs and a few numbers
  all_zero,       ///< zeros of one sign
  bits,           ///< random finite codes
  some_nan,       ///< normal, one to three NaNs
  some_infinity,  ///< normal, one or two infinities
  all_nan,
};
inline constexpr int kFillings = 13;
inline constexpr int kFiniteFillings = 10;  ///< the first ones hold finite numbers only

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
      case Filling::subnormal:
        return std::ldexp(random_.normal(), random_.between(lowest, lowest + source_.fraction_bits - 2));
      case Filling::huge:
        return std::ldexp(random_.uniform() - 0.5, highest + 2 - static_cast<int>(random_.below(3)));
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

/// Calls visit(place in the tensor) for the elements of a block.
template <class Visit>
void for_each_place(const recipes::Blocks& blocks, std::int64_t block, Visit visit) {
  const auto range = blocks[block];
  for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
    for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
      visit(static_cast<std::size_t>(r * blocks.columns + c));
    }
  }
}

/// A tensor whose blocks are filled in turn by the fillings from `first` on (the first `fillings` of them).
inline Tensor stratified(const recipes::QuantRecipe& recipe, std::int64_t rows, std::int64_t columns,
                         std::uint64_t seed, int fillings = kFillings, const FormatSpec& source = kSource,
                         int first = 0) {
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

/// The same tensor with half of its elements moved to where the recipe's own element rounding has a tie, or
/// one source ulp beside it: the middle of what two neighbouring codes stand for. The extremes of every
/// block stay.
inline Tensor aimed_at_ties(const recipes::QuantRecipe& recipe, Tensor tensor,
                            const recipes::Inputs& inputs, std::uint64_t seed,
                            const FormatSpec& source = kSource) {
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

/// A tensor of one block per entry of `maxima`: that value in a random place, smaller ones beside it.
/// `rows` and `columns` are the block's where the recipe does not say.
inline Tensor with_maxima(const recipes::QuantRecipe& recipe, const std::vector<double>& maxima,
                          std::uint64_t seed, std::int64_t rows = 4, std::int64_t columns = 16,
                          const FormatSpec& source = kSource) {
  using recipes::Granularity;
  Random random(seed);
  const bool rowwise = recipe.granularity == Granularity::row || recipe.granularity == Granularity::tensor;
  const auto count = static_cast<std::int64_t>(maxima.size());
  if (recipe.rows > 0) rows = recipe.rows;
  if (recipe.columns > 0) columns = recipe.columns;
  if (recipe.granularity == Granularity::row || recipe.granularity == Granularity::group) rows = 1;
  if (recipe.granularity == Granularity::column) columns = 1;
  Tensor tensor = rowwise ? filled(rows * count, columns, 0) : filled(rows, columns * count, 0);
  const recipes::Blocks blocks = recipes::blocks_of(recipe, tensor.rows, tensor.columns);
  for (std::int64_t i = 0; i < blocks.count(); ++i) {
    const double amax = maxima[static_cast<std::size_t>(i)];
    const std::uint64_t special = random.below(static_cast<std::uint64_t>(rows * columns));
    std::uint64_t next = 0;
    for_each_place(blocks, i, [&](std::size_t place) {
      const double other = in_format(source, amax * (2 * random.uniform() - 1));
      tensor.values[place] = next++ == special ? (random.below(2) == 0 ? amax : -amax) : other;
    });
  }
  return tensor;
}

/// Magnitudes at which the stored block scale changes its code, each with its neighbours one source ulp
/// below and above. For scales wider than 8 bits: products of a power of two and 1, 448, 127 or 6, and
/// random ones, with neighbours. `tensor_amax` is the largest magnitude of the tensor that the probed block
/// stands in (0: the block alone).
inline std::vector<double> scale_thresholds(const recipes::QuantRecipe& recipe,
                                            const recipes::Inputs& inputs, std::uint64_t seed,
                                            double tensor_amax = 0, const FormatSpec& source = kSource) {
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

}  // namespace halfulp::test
