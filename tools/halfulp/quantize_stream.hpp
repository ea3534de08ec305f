// Quantizing a tensor in strips, so that one larger than memory can be quantized: at most two passes over the file.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "halfulp/recipes/tensor.hpp"
#include "halfulp/tensors/tensor.hpp"
#include "quantize_options.hpp"

namespace halfulp::tool {

/// A tensor of any rank as rows x columns: `axis` becomes the columns, the others in their order the rows.
class TensorRows {
 public:
  /// Axes count from the end when negative. Throws InputError for an axis that is not there, an empty tensor, or
  /// elements of no format.
  TensorRows(tensors::TensorSource source, int axis);
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  bool moved() const { return inner_ != 1; }
  std::size_t axis() const { return axis_; }  ///< counted from the first
  /// The shape with the axis moved to its end.
  const std::vector<std::uint64_t>& shape() const { return shape_; }
  /// Elements `first` … of the rows in row-major order; whole rows when the axis is moved. Any number of threads.
  std::vector<double> read(std::int64_t first, std::int64_t count) const;

 private:
  void read_run(std::int64_t first, std::int64_t count, double* out, std::int64_t stride) const;

  tensors::TensorSource source_;
  FormatSpec spec_;
  std::vector<std::uint64_t> shape_;
  std::int64_t rows_ = 1, columns_ = 1, inner_ = 1;
  std::size_t axis_ = 0;
};

/// A strip of the result: some rows' codes and the scales of their blocks.
struct Strip {
  std::int64_t first = 0;      ///< element, row-major
  std::vector<double> values;  ///< that were quantized
  std::vector<double> compared;  ///< what the values read back stand for, when asked for: x, of the recipe's transform
  recipes::Quantized quantized;
  std::vector<double> read_back;  ///< when asked for
};

struct StreamOptions {
  int threads = 1;
  bool read_back = false;  ///< Strip::read_back and Strip::compared
};

/// Quantizes the tensor and calls `take` for each strip in order. Blocks that reach over strips (of a tensor or a column) repeat their
/// scale in each. Throws what the engine throws, and InputError when the user interrupts.
void quantize_strips(const recipes::QuantRecipe& recipe, const recipes::Inputs& inputs, const RecipeOptions& options,
                     const TensorRows& tensor, const StreamOptions& stream, const std::function<void(const Strip&)>& take);

/// True when the recipe needs the whole tensor in memory: sums, medians or transforms over blocks that reach over strips.
bool needs_whole_tensor(const recipes::QuantRecipe& recipe);

}  // namespace halfulp::tool
