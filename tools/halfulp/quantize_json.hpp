// `--json` of `quantize` and `dequantize`: one object per block or row of text, and one that sums a tensor up.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halfulp/recipes/error_report.hpp"
#include "quantize_text.hpp"

namespace halfulp::tool {

/// What is known of a tensor when it is done.
struct TensorSummary {
  std::uint64_t tensor = 0;  ///< of the input, from 0
  const recipes::QuantRecipe* recipe = nullptr;
  std::vector<std::uint64_t> shape;  ///< of the tensor as it was given, or as its values come out
  std::size_t axis = 0;              ///< that blocks run along
  std::uint64_t elements = 0, blocks = 0, kept = 0;
  std::string tensor_scale;             ///< code, empty without one
  std::optional<double> tensor_amax;    ///< where values are made from it
  const recipes::ErrorReport* errors = nullptr;  ///< when asked for
  std::string written;                  ///< file or folder, empty for text
};

/// Counts, tensor scale and amax of a quantized tensor; shape and place are left to the caller. Keeps a pointer to the recipe.
TensorSummary summary_of(const recipes::QuantRecipe& recipe, const recipes::Quantized& quantized);

/// Appends the summary and a line end.
void append_summary(std::string& text, const TensorSummary& summary);

/// Appends one line per block, with the words of the text form; `marked` and `values` as in BlockText::append_blocks().
void append_blocks_json(std::string& text, std::uint64_t tensor, const BlockText& form, const recipes::Quantized& quantized,
                        const std::vector<bool>& marked, const std::vector<double>& values);

/// Appends one line per row of values, as hex-floats.
void append_rows_json(std::string& text, std::uint64_t tensor, std::int64_t columns, std::span<const double> values);

}  // namespace halfulp::tool
