// Steps with several admissible results: approximate reciprocals and float logarithms (Op in recipe.hpp).
//
// Decides: which stored results are right although they differ from the printed one, and which lines are
// marked ` ~`.
#pragma once

#include <vector>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

/// True for rcp_approx, log2 and exp2: every float32 within one ulp of the exact result is admissible.
bool is_approximate(Op op);

/// What an approximate step may give for an operand, in increasing order; the correctly rounded result is
/// among them.
std::vector<double> admissible_results(const Step& step, double operand);

/// The recipe under every combination of choices of its approximate steps, the correctly rounded choice
/// first. Either engine runs them. With more than kMostCombined such steps, one step at a time departs from
/// the correctly rounded choice.
std::vector<QuantRecipe> admissible_variants(const QuantRecipe& recipe);
inline constexpr int kMostCombined = 5;

/// For each block, in row-major block order: whether another admissible choice changes its scale, its zero
/// point or a code.
std::vector<bool> lines_that_could_differ(const QuantRecipe& recipe, const TensorView& tensor,
                                          const Inputs& inputs = {});

/// For each block: whether some admissible choice gives exactly what `got` holds.
std::vector<bool> lines_that_are_admissible(const QuantRecipe& recipe, const TensorView& tensor,
                                            const Quantized& got, const Inputs& inputs = {});

}  // namespace halfulp::recipes
