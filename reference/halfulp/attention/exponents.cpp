// Exponentials of a row; see detail/kernel_plan.hpp.
#include "halfulp/attention/detail/kernel_plan.hpp"
#include "halfulp/attention/exp2.hpp"

namespace halfulp::attention::detail {

void exponentials(const float* S, std::size_t count, float L, float b, float* t, float* P) {
  for (std::size_t i = 0; i < count; ++i) {
    t[i] = fused(S[i], L, b);
    P[i] = exp2_p6(t[i]);
  }
}

}  // namespace halfulp::attention::detail
