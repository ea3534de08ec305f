// Seeded tensors that reach the corners of recipes: scales, ties, specials, partial blocks. The same bits
// everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "halfulp/recipes/tensor.hpp"
#include "halfulp/vectors/blocks/random.hpp"

namespace halfulp::vectors::blocks {

/// rows x columns numbers, row-major.
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
Tensor stratified(const recipes::QuantRecipe& recipe, std::int64_t rows, std::int64_t columns,
                  std::uint64_t seed, int fillings = kFillings, const FormatSpec& source = kSource,
                  int first = 0);

/// The same tensor with half of its elements moved to where the recipe's own element rounding has a tie, or
/// one source ulp beside it: the middle of what two neighbouring codes stand for. The extremes of every
/// block stay. Throws InputError where the recipe refuses the tensor.
Tensor aimed_at_ties(const recipes::QuantRecipe& recipe, Tensor tensor, const recipes::Inputs& inputs,
                     std::uint64_t seed, const FormatSpec& source = kSource);

/// A tensor of one block per entry of `maxima`: that value in a random place, smaller ones beside it.
/// `rows` and `columns` are the block's where the recipe does not say.
Tensor with_maxima(const recipes::QuantRecipe& recipe, const std::vector<double>& maxima,
                   std::uint64_t seed, std::int64_t rows = 4, std::int64_t columns = 16,
                   const FormatSpec& source = kSource);

/// The same in a tensor of a given shape: block i has maximum i of `maxima`, in turn.
Tensor with_maxima_in(const recipes::Blocks& blocks, const std::vector<double>& maxima, std::uint64_t seed,
                      const FormatSpec& source = kSource);

/// Magnitudes at which the stored block scale changes its code, each with its neighbours one source ulp
/// below and above. For scales wider than 8 bits: products of a power of two and 1, 448, 127 or 6, and
/// random ones, with neighbours. `tensor_amax` is the largest magnitude of the tensor that the probed block
/// stands in (0: the block alone).
std::vector<double> scale_thresholds(const recipes::QuantRecipe& recipe, const recipes::Inputs& inputs,
                                     std::uint64_t seed, double tensor_amax = 0,
                                     const FormatSpec& source = kSource);

}  // namespace halfulp::vectors::blocks
