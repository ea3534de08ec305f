// One step of a recipe on exact values. Twin of apply() in quantize.cpp.
#pragma once

#include <span>
#include <vector>

#include "halfulp/oracle/value.hpp"
#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// The result of `step` on its operands, rounded once where the operation rounds. For a cast, `code` (if not null)
/// receives the code. Throws InputError when the cast is refused.
oracle::Value apply_exact(const Step& step, std::span<const oracle::Value> operands, std::uint64_t* code);

/// Operations over the elements of a block: one result, or one per element. `fraction` is quantile's.
std::vector<oracle::Value> collective_exact(const Step& step, std::span<const oracle::Value> elements,
                                            const oracle::Value& fraction);

/// The index of the entry nearest to `value`, distances rounded to the step's precision, the first of equal ones.
std::size_t nearest_entry_exact(const Step& step, const oracle::Value& value, std::span<const oracle::Value> entries);

/// a < b by IEEE 754-2019 5.11: false with a NaN.
bool less(const oracle::Value& a, const oracle::Value& b);

/// A literal rounded to a precision; throws InputError when it is not one.
oracle::Value literal_exact(const std::string& literal, Precision precision);

}  // namespace halfulp::recipes
