// The exact twin of quantize.hpp: every step on exact rationals, then one rounding to the stated precision by the oracle.
//
// Shares with the engine only data: recipe.hpp, tensor.hpp. IEEE 754-2019 6 (Inf, NaN, signed zeros) for the operations.
#pragma once

#include <functional>

#include "halfulp/oracle/value.hpp"
#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

/// A step as it was computed: its operands and results hold one value, or one per element of the block.
struct StepTrace {
  const Step* step = nullptr;
  std::int64_t block = -1;  ///< -1: once for the tensor
  std::vector<std::vector<oracle::Value>> operands;
  std::vector<oracle::Value> results;
};
/// Sees every step of quantization in the order of computation, but for those of a transform.
using StepObserver = std::function<void(const StepTrace&)>;

/// As quantize(). Steps with several admissible results take the correctly rounded one.
Quantized quantize_exact(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs = {});

/// The same, step by step in sight.
Quantized observe_exact(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs,
                        const StepObserver& observer);

/// As dequantize(); values are returned exactly, as numbers of the last step's precision.
std::vector<oracle::Value> dequantize_exact(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs = {});

}  // namespace halfulp::recipes
