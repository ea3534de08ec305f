// What the values of an input by name may be, so that a slip (a negative amax, NaN for a bound) is refused and not computed
// with. Values with a documented result are allowed: a scale of 0, an infinite tensor amax.
#pragma once

#include <string>
#include <string_view>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

/// Throws InputError that blames `what` (an option as the user wrote it) when `value` is outside the range of the input
/// `name`. Names without a range take every value.
void check_input_range(std::string_view name, double value, const std::string& what);

/// Throws InputError that blames `what` unless every pair of thresholds has the lower one first; where one of the two is not
/// given there is nothing to check.
void check_threshold_order(const Inputs& inputs, const std::string& what);

}  // namespace halfulp::recipes
