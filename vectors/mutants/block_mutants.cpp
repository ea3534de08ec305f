// The zoo of block mutants: lines of the tables as kernels. Each must be killed by the default level of its SPEC.
#include "block_mutants.hpp"

namespace halfulp::vectors {
namespace {

recipes::QuantRecipe mutated(const BlockMutantLine& line, recipes::QuantRecipe recipe) {
  for (const auto& [from, to] : line.edits) {
    auto edited = with_text(recipe, from, to);
    if (!edited) throw std::logic_error(std::string("mutant ") + line.name + ": '" + from + "' is not in recipe " + recipe.name);
    recipe = std::move(*edited);
  }
  if (line.policies != nullptr) line.policies(recipe);
  return recipe;
}

BlockMutant mutant_of(const BlockMutantLine& line) {
  BlockMutant mutant{line.name, line.about, line.spec, {}};
  mutant.open = [&line](const RecipePlan& plan) -> RowFunction {
    if (line.row == nullptr) {
      return [recipe = mutated(line, plan.recipe)](const RecipePlan& p, const RecipeRow& row) { return answer_by(p, recipe, row); };
    }
    return [&line](const RecipePlan& p, const RecipeRow& row) {
      auto answer = line.row(p, row);
      if (!answer) throw std::logic_error(std::string("mutant ") + line.name + " does not apply to " + spec_text(p));
      return *answer;
    };
  };
  return mutant;
}

}  // namespace

const std::vector<BlockMutant>& block_mutants() {
  static const std::vector<BlockMutant> zoo = [] {
    std::vector<BlockMutant> list;
    for (const auto table : {scale_mutants(), element_mutants(), memory_mutants(), decode_mutants()}) {
      for (const BlockMutantLine& line : table) list.push_back(mutant_of(line));
    }
    return list;
  }();
  return zoo;
}

}  // namespace halfulp::vectors
