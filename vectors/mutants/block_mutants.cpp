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
  mutant.run = [&line](const RecipePlan& plan, const RecipeRow& row) {
    if (line.row == nullptr) return answer_by(plan, mutated(line, plan.recipe), row);
    auto answer = line.row(plan, row);
    if (!answer) throw std::logic_error(std::string("mutant ") + line.name + " does not apply to " + spec_text(plan));
    return *answer;
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
