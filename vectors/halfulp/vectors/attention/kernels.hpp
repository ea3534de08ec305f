// Kernels of attention that come with this project: the reference kernel under any spec, and the mutants.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/attention/columns.hpp"

namespace halfulp::vectors {

/// Answers for all rows; they are the sequences of one batch.
using AttentionKernel = std::function<std::vector<AttentionAnswer>(const AttentionPlan&, const std::vector<attention::Case>&)>;

/// A deliberately wrong kernel.
struct AttentionMutant {
  std::string name;   ///< without `mutant:`
  std::string about;  ///< what it does wrong
  std::string spec;   ///< that it claims to follow
  std::string bug;    ///< the `fault` of tests/data/accumulation.json or block.json that it stands for; may be empty
  AttentionKernel kernel;
};
const std::vector<AttentionMutant>& attention_mutants();

/// `halfulp` (the plan's own spec), `attention:PRESET[,key=value]…` (another kernel) or `mutant:NAME`. Throws InputError with
/// the nearest names.
AttentionKernel attention_kernel(std::string_view implementation, unsigned threads = 1);

}  // namespace halfulp::vectors
