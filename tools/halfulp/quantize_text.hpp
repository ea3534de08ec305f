// The text form of tensors and of what a recipe makes of them: one row, or one block, per line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/recipes/tensor.hpp"

namespace halfulp::tool {

/// Lines of standard input of any length, trimmed, with blank ones. `before_wait` runs before each tensor is waited for.
class TensorLines {
 public:
  /// False at the end. Throws InputError when standard input cannot be read.
  bool next(std::string& line);
  std::uint64_t number() const { return number_; }

 private:
  std::uint64_t number_ = 0;
};

struct TextTensor {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;
};

/// Reads the next tensor: rows of codes or literals of `format` up to a blank line; `#` comments are skipped. False
/// when there is none. What is wrong is thrown with the number of the line.
bool read_rows(TensorLines& lines, const Format& format, TextTensor& tensor);

/// Appends rows of hex-floats.
void append_rows(std::string& text, std::int64_t columns, std::span<const double> values);

/// Calls action(index) for the elements of a block, in row-major order.
template <class Action>
void for_each_element(const recipes::Blocks& blocks, const recipes::Blocks::Range& range, const Action& action) {
  for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
    for (std::int64_t column = range.column; column < range.column + range.columns; ++column)
      action(static_cast<std::size_t>(row * blocks.columns + column));
  }
}

/// The blocks of a quantized tensor as text, for a recipe.
class BlockText {
 public:
  explicit BlockText(const recipes::QuantRecipe& recipe);

  /// `# tensor-scale 0x…` for recipes that store one, and the tensor's amax where `value` is made from it.
  void append_head(std::string& text, const recipes::Quantized& quantized) const;
  /// One line per block. `marked`: lines that end with ` ~`; `values`: of every element, for `= v v …` lines. Either may
  /// be empty.
  void append_blocks(std::string& text, const recipes::Quantized& quantized, const std::vector<bool>& marked,
                     const std::vector<double>& values) const;

  /// The words of the text form.
  std::string scale_text(const recipes::Quantized& quantized, std::size_t block) const;
  std::string zero_text(const recipes::Quantized& quantized, std::size_t block) const;
  std::string element_text(std::uint64_t code) const;

  struct Block {
    std::uint64_t scale = 0, zero = 0;
    std::vector<std::uint64_t> codes;
  };
  struct Tensor {
    std::optional<std::uint64_t> scale;  ///< code of the tensor scale
    std::optional<double> amax;
    std::vector<Block> blocks;
    std::vector<recipes::Kept> kept;
  };
  /// Reads the next tensor, as append_head() and append_blocks() write it. False when there is none.
  bool read(TensorLines& lines, Tensor& tensor) const;

 private:
  std::uint64_t parse_element(std::string_view word) const;
  Block parse_block(std::string_view line) const;
  void parse_comment(std::string_view line, Tensor& tensor) const;

  const recipes::QuantRecipe* recipe_;
  bool decimal_elements_, decimal_zero_;
};

}  // namespace halfulp::tool
