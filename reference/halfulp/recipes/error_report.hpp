// What quantization did to a tensor: errors of its values, and for keys of the attention scores made with
// them.
//
// Sums of squares and dot products are exact rationals; each number of a report is rounded once from them
// (rms and decibels once more, by a square root and a logarithm). Elements where the original or the result
// is Inf or NaN are counted and left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "halfulp/oracle/exact.hpp"
#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

struct ErrorReport {
  std::uint64_t compared = 0, not_finite = 0;
  std::uint64_t largest_at = 0;  ///< row-major index of the largest error, the first of equal ones
  oracle::Exact largest;         ///< absolute
  oracle::Exact squared_error, squared_norm;

  double largest_error() const;
  double rms() const;
  /// Frobenius norm of the error over that of the original; 0 when both are 0, Inf when only the original
  /// is.
  double relative() const;
  /// 10·log10(squared_norm / squared_error); Inf without error.
  double sqnr_db() const;
};

/// Throws InputError when the sizes differ.
ErrorReport compare(std::span<const double> original, std::span<const double> result);

/// Quantizes and dequantizes. Values are compared with what the recipe's transform makes of the tensor, as they stand for
/// that.
ErrorReport recipe_errors(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs = {});

/// Errors of the scores q·k of every query with every key, in row-major queries x keys order: exact dot
/// products with the original keys against exact dot products with what was read back. Queries are rows
/// like the keys. A score with an Inf or NaN among its operands is left out.
ErrorReport score_errors(const TensorView& queries, const TensorView& keys,
                         std::span<const double> keys_read_back);

/// One line per number; without compared elements two lines of counts and one that says so.
std::string to_string(const ErrorReport& report);

}  // namespace halfulp::recipes
