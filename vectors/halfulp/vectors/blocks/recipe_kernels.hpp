// Kernels for recipes that come with this project: the engine, every named recipe, and the mutants.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/vectors/blocks/recipe_row.hpp"
#include "halfulp/vectors/row_kernel.hpp"

namespace halfulp::vectors {

/// A kernel as a function of one row.
using RowFunction = std::function<RowAnswer(const RecipePlan&, const RecipeRow&)>;

/// The same behind the interface of all kernels: bytes in, bytes out.
RowKernel row_kernel(const RecipePlan& plan, RowFunction function);

/// A deliberately wrong quantizer or dequantizer.
struct BlockMutant {
  std::string name;   ///< without `mutant:`
  std::string about;  ///< what it does wrong
  std::string spec;   ///< under which it is wrong
  std::function<RowFunction(const RecipePlan&)> open;
};
const std::vector<BlockMutant>& block_mutants();

/// The kernel of `halfulp` (the plan's own recipe by the engine), `recipe:NAME` (another recipe, with
/// to=ELEMENT where it has several) or `mutant:NAME`. Throws InputError with the nearest names, and for a
/// recipe whose columns are not those of the plan.
RowKernel recipe_kernel(const RecipePlan& plan, std::string_view implementation);

/// True when `implementation` names one of those.
bool is_recipe_implementation(std::string_view implementation);

/// A named recipe for one of its elements, in the plan's blocks; empty unless its columns are those of the plan.
std::optional<recipes::QuantRecipe> comparable_recipe(const RecipePlan& plan, std::string_view name, std::string_view element);

}  // namespace halfulp::vectors
