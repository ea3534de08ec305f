// The tables of wrong accumulation, each a function from a spec to a kernel, empty where it does not apply.
#pragma once

#include <vector>

#include "halfulp/vectors/mma/mma_kernels.hpp"

namespace halfulp::vectors {

const std::vector<MmaMutant>&
model_mutants();  ///< another model: width, chunk, promotion, rounding, order of a tree
const std::vector<MmaMutant>& row_mutants();  ///< the model on other operands, or its result changed

}  // namespace halfulp::vectors
