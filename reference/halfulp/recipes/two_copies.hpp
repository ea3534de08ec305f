// A matrix kept in two quantized copies, blocks along its rows and blocks along its columns (matrix
// products need both).
//
// Decides: each copy is made from the original. A column copy made from the row copy is a third thing; what
// it changes is shown here. Transformer Engine keeps the column copy in the matrix's own order: it is not
// physically transposed.
#pragma once

#include <vector>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

struct TwoCopies {
  Quantized rows;     ///< of the matrix: blocks along k
  Quantized columns;  ///< of its transpose, as the recipe sees it: row c holds column c of the matrix
};

/// The values of a matrix with rows and columns exchanged.
std::vector<double> transposed(const TensorView& matrix);

/// Both copies from the original.
TwoCopies quantize_both_ways(const QuantRecipe& recipe, const TensorView& matrix,
                             const Inputs& inputs = {});

/// One element for which a column copy made from the row copy stands for another number.
struct Requantized {
  std::int64_t row, column;  ///< in the matrix
  std::uint64_t scale_from_original, code_from_original;
  std::uint64_t scale_from_rows, code_from_rows;
  double value_from_original, value_from_rows;
};

/// What requantizing the transpose of the row copy changes: the elements whose scale, code or value
/// differs, in the order of the transpose.
std::vector<Requantized> changed_by_requantizing(const QuantRecipe& recipe, const TensorView& matrix,
                                                 const Inputs& inputs = {});

}  // namespace halfulp::recipes
