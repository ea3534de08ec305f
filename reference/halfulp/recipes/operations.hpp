// One step of a recipe on binary64 numbers. Twin: exact_operations.hpp.
#pragma once

#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// The number a code stands for.
double decode(const FormatSpec& format, std::uint64_t code);

/// A literal in binary64; throws InputError when it is not one.
double literal_value(const std::string& literal);

/// C's fmin and fmax; of two zeros the minimum is -0 and the maximum +0.
double minimum(double p, double q);
double maximum(double p, double q);

/// One operation on numbers; the result is rounded to the step's precision where the operation rounds.
double apply(const Step& step, double p, double q, double r, double s);

/// A collective operation over the elements of a block: one result, or one per element. `fraction` is quantile's.
std::vector<double> apply_collective(const Step& step, const std::vector<double>& elements, double fraction);

/// The index of the entry with the least |entry - value|, each difference rounded; the first of equal ones.
double nearest_entry(const Step& step, double value, const std::vector<double>& entries);

}  // namespace halfulp::recipes
