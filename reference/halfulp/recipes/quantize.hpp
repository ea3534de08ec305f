// The engine of recipes: every step on all elements of a block, in binary64 registers rounded to the step's precision.
//
// Twin: quantize_exact.hpp. For + - * / of operands of at most 24 bits, one rounding to binary64 and one to the narrower
// precision give the correctly rounded result, as 53 >= 2 * 24 + 2; fma rounds in binary32 itself.
#pragma once

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

/// Every x, row-major: what the recipe's transform makes of the tensor's elements, or the elements themselves where it has
/// none. The values of dequantize() stand for these. Throws InputError when a required input is missing.
std::vector<double> transformed(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs = {});

/// Quantizes a tensor. Throws InputError when a required input is missing or a cast is refused.
Quantized quantize(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs = {});

/// The numbers that the codes stand for, by the recipe's own steps; a NaN is the positive quiet one.
std::vector<double> dequantize(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs = {});

}  // namespace halfulp::recipes
