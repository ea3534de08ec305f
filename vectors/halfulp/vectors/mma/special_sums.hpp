// Rows of specials: NaN, Inf, zeros of either sign, the largest numbers, in every place where they can
// stand.
#pragma once

#include <vector>

#include "halfulp/vectors/mma/sum_builder.hpp"

namespace halfulp::vectors {

std::vector<MmaRow> special_sums(SumBuilder& builder);

}  // namespace halfulp::vectors
