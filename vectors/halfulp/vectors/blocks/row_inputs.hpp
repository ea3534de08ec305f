// Values for the inputs of recipes that vary from row to row.
#pragma once

#include "halfulp/vectors/blocks/recipe_row.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::vectors::blocks {

/// One value for each place of every input that varies, fit for the tensor: scales that spread its elements
/// over the codes, with a zero now and then; thresholds inside the range; a table over -1..1; random bytes.
recipes::Inputs varied_inputs(const RecipePlan& plan, const Tensor& tensor, Random& random);

/// The same for stored results that are dequantized.
recipes::Inputs varied_inputs(const RecipePlan& plan, Random& random);

}  // namespace halfulp::vectors::blocks
