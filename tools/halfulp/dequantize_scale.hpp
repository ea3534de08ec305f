// The tensor scale and the tensor's amax on the way back: what is stored, else what the options give.
#pragma once

#include <string>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::tool {

/// Completes `quantized` by inputs of the names kTensorScale and kTensorAmax. An amax gives the tensor scale that the recipe
/// makes of it. Throws InputError, naming `what`, for one that is stored already or that nothing reads, and when the recipe
/// needs one that is neither stored nor given.
void complete_tensor_scale(const recipes::QuantRecipe& recipe, const recipes::Inputs& inputs, const std::string& what,
                           recipes::Quantized& quantized);

}  // namespace halfulp::tool
