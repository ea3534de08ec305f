// The exact twin of quantize.hpp: every step on exact rationals, then one rounding to the stated precision by the oracle.
//
// Shares with the engine only data: recipe.hpp, tensor.hpp. IEEE 754-2019 6 (Inf, NaN, signed zeros) for the operations.
#pragma once

#include "halfulp/oracle/value.hpp"
#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

/// As quantize(). Steps with several admissible results take the correctly rounded one.
Quantized quantize_exact(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs = {});

/// As dequantize(); values are returned exactly, as numbers of the last step's precision.
std::vector<oracle::Value> dequantize_exact(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs = {});

}  // namespace halfulp::recipes
