// Tensors as recipes see them, and what a recipe makes of one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// rows x columns values, row-major, columns along the axis k that groups run along. Every value is a number of a format
/// of at most binary64, held exactly.
struct TensorView {
  std::int64_t rows = 0, columns = 0;
  std::span<const double> values;
};

/// How a tensor is cut into blocks; the last ones of a row or column may be partial.
struct Blocks {
  std::int64_t rows = 0, columns = 0;              ///< of the tensor
  std::int64_t block_rows = 1, block_columns = 1;  ///< of a whole block
  std::int64_t down() const { return rows == 0 ? 0 : (rows + block_rows - 1) / block_rows; }
  std::int64_t across() const { return columns == 0 ? 0 : (columns + block_columns - 1) / block_columns; }
  std::int64_t count() const { return down() * across(); }

  struct Range {
    std::int64_t row, rows, column, columns;  ///< first row and column, and how many
  };
  /// Block `i` in row-major block order.
  Range operator[](std::int64_t i) const {
    const std::int64_t row = i / across() * block_rows, column = i % across() * block_columns;
    return {row, rows - row < block_rows ? rows - row : block_rows, column,
            columns - column < block_columns ? columns - column : block_columns};
  }
};

Blocks blocks_of(const QuantRecipe& recipe, std::int64_t rows, std::int64_t columns);

/// Values of a recipe's inputs by name: one, or as many as the input's `per` says. Beside the recipe's own names,
/// kTensorAmax stands for A, and kTensorScale replaces the tensor scale that the recipe would store.
using Inputs = std::map<std::string, std::vector<double>>;
inline constexpr const char* kTensorAmax = "tensor_amax";
inline constexpr const char* kTensorScale = "tensor_scale";

/// That single value, if it is given.
std::optional<double> given_value(const Inputs& inputs, const char* name);

/// True when a step of the list reads the register.
bool reads(const std::vector<Step>& steps, int reg);

/// Throws InputError unless every required input is given and each has one value or as many as its places.
void check_inputs(const QuantRecipe& recipe, const Blocks& blocks, const Inputs& inputs);

/// Throws InputError, with the recipe's name, unless the elements of every block are as many as the steps need: a power of
/// two for `hadamard`, 16 x 16 for `tree_sum`.
void check_block_sizes(const QuantRecipe& recipe, const Blocks& blocks, const std::vector<Step>& steps);

/// An element that a recipe keeps as it is.
struct Kept {
  std::int64_t index = 0;  ///< row-major
  double value = 0;
  friend bool operator==(const Kept&, const Kept&) = default;
};

struct Quantized {
  Blocks blocks;
  std::optional<std::uint64_t> tensor_scale;  ///< code in recipe.tensor_scale.format
  std::optional<double> tensor_amax;          ///< A, of recipes that use it: a `value` may read it
  std::vector<std::uint64_t> scales;          ///< one code per block, or empty
  std::vector<std::uint64_t> zeros;           ///< one code per block, or empty
  std::vector<std::uint64_t> codes;           ///< one per element, row-major
  std::vector<Kept> kept;                     ///< by `keep`, in order of block, then element

  /// Compares what is stored.
  friend bool operator==(const Quantized& a, const Quantized& b) {
    return a.tensor_scale == b.tensor_scale && a.scales == b.scales && a.zeros == b.zeros && a.codes == b.codes &&
           a.kept == b.kept;
  }
};

/// A for the way back: the caller's, or what was kept. Throws InputError when the recipe's `value` needs it and neither is there.
std::optional<double> tensor_amax_of(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs);

}  // namespace halfulp::recipes
