// The zoo of wrong accumulation.
#include "mma_mutants.hpp"

namespace halfulp::vectors {

const std::vector<MmaMutant>& mma_mutants() {
  static const std::vector<MmaMutant> zoo = [] {
    std::vector<MmaMutant> all = model_mutants();
    all.insert(all.end(), row_mutants().begin(), row_mutants().end());
    return all;
  }();
  return zoo;
}

}  // namespace halfulp::vectors
