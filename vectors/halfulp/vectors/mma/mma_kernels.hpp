// Kernels for accumulation models that come with this project: the engine, the exact twin, every model, and
// the mutants.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/mma/mma_row.hpp"
#include "halfulp/vectors/row_kernel.hpp"

namespace halfulp::vectors {

/// A deliberately wrong unit: what it makes of any spec that it applies to.
struct MmaMutant {
  std::string name;   ///< without `mutant:`
  std::string about;  ///< what it does wrong
  std::string spec;   ///< one under which it is wrong
  std::optional<MmaFunction> (*open)(const accumulation::MmaSpec& spec);
};
const std::vector<MmaMutant>& mma_mutants();

/// The kernel of `halfulp` (the engine), `halfulp-exact` (its twin), `mma:MODEL[,key=value]…` (another
/// model with the same columns) or `mutant:NAME`. Throws InputError with the nearest names, and for a model
/// whose columns are not the plan's.
MmaFunction mma_function(const MmaPlan& plan, std::string_view implementation);

/// The same behind the interface of all kernels: bytes in, bytes out.
RowKernel mma_kernel(const MmaPlan& plan, MmaFunction function);

/// A model of the registry run with the plan's columns, promotion and choices as far as it has them; empty
/// where its columns are not the plan's.
std::optional<accumulation::MmaSpec> comparable_model(const MmaPlan& plan, std::string_view model);

}  // namespace halfulp::vectors
