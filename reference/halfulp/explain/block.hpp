// What a recipe does to a small tensor, step by step: exact results before each rounding, codes, errors,
// packed bytes. Everything is the exact twin's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::explain {

/// One operation with the numbers put in.
struct ExplainedStep {
  std::string result;     ///< a variable, `code`, or %N for a part of an expression; `given` for what the
                          ///< recipe starts from
  std::string operation;  ///< `a / 448`; empty for given values
  std::string exact;      ///< before the rounding; empty where nothing was rounded away
  std::string value;      ///< hex-float and decimal
  std::string
      rounded_to;  ///< precision or format with its rounding; empty where the operation does not round
  std::string admissible;  ///< other results that are right, for approximate steps
};

struct ExplainedElement {
  std::int64_t row = 0, column = 0;
  std::string input;
  std::vector<ExplainedStep> steps;
  std::string code, value;
  std::string error;     ///< value - input, exact; `0` when equal, empty with Inf or NaN
  std::string relative;  ///< per cent of |input|; empty for an input of 0
  bool kept = false;     ///< stored as it is, beside the codes
};

struct ExplainedBlock {
  std::size_t index = 0;  ///< among the tensor's blocks, row-major
  std::string place;  ///< rows and columns
  std::vector<ExplainedStep> steps;
  std::vector<ExplainedElement> elements;
  std::string scale, zero;  ///< stored codes, empty where there is none
  std::string stored;  ///< SCALE CODE CODE …, as `halfulp quantize` prints and `dequantize` reads it
  std::string packed;  ///< bytes of the element codes in hexadecimal, in the order of `packing`; empty for
                       ///< whole words
  std::string packing;
};

struct BlockExplanation {
  std::string recipe, granularity;
  std::int64_t rows = 0, columns = 0;
  std::string tensor_scale;  ///< stored code, empty where there is none
  std::vector<ExplainedStep> tensor_steps;
  std::vector<ExplainedBlock> blocks;
  std::string value_rule;  ///< the statement that makes a value of a code
  std::vector<std::string> facts;
};

/// More elements than this are refused: the text has several lines for each.
inline constexpr std::int64_t kMostExplained = 4096;

/// Explains the quantization of a tensor. Throws InputError for an empty tensor, too many elements, and
/// what quantize() refuses.
BlockExplanation explain_block(const recipes::QuantRecipe& recipe, const recipes::TensorView& tensor,
                               const recipes::Inputs& inputs = {});

/// Text for a terminal.
std::string to_text(const BlockExplanation& explanation);

/// One HTML page with everything inside, without a script.
std::string to_html(const BlockExplanation& explanation);

}  // namespace halfulp::explain
