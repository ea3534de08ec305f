// Runs recipes cut after each of their steps; see step_values.hpp.
#include "halfulp/vectors/blocks/step_values.hpp"

#include <bit>

#include "halfulp/recipes/cut_after.hpp"
#include "halfulp/recipes/quantize.hpp"

namespace halfulp::vectors {
using recipes::Scope;
using recipes::Step;

std::vector<StepValue> step_values(const RecipePlan& plan, const RecipeRow& row, std::int64_t block,
                                   std::int64_t element) {
  std::vector<StepValue> list;
  const recipes::Inputs inputs = inputs_for(plan, plan.recipe, row);
  const bool given_scale = inputs.contains(recipes::kTensorScale);
  for (std::size_t i = 0; i < plan.recipe.steps.size(); ++i) {
    const Step& step = plan.recipe.steps[i];
    if (step.op == recipes::Op::constant || (step.scope == Scope::tensor && given_scale)) continue;
    if (step.scope == Scope::element && element < 0) continue;
    const recipes::Quantized q =
        recipes::quantize(recipes::cut_after(plan.recipe, i), {plan.rows, plan.columns, row.values}, inputs);
    const std::uint64_t word = step.scope == Scope::tensor  ? q.tensor_scale.value_or(0)
                               : step.scope == Scope::block ? q.scales[static_cast<std::size_t>(block)]
                                                            : q.codes[static_cast<std::size_t>(element)];
    list.push_back({recipes::step_text(plan.recipe, step), std::bit_cast<double>(word)});
  }
  return list;
}

}  // namespace halfulp::vectors
