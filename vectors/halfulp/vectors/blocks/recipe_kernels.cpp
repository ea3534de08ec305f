// Rows through kernels; see recipe_kernels.hpp.
#include "halfulp/vectors/blocks/recipe_kernels.hpp"

#include <algorithm>

#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::string_view kRecipe = "recipe:", kMutant = "mutant:", kEngine = "halfulp";

template <class Byte>
std::vector<std::span<Byte>> row_of(const std::vector<std::span<Byte>>& columns, std::uint64_t row, std::uint64_t rows) {
  std::vector<std::span<Byte>> cells;
  for (const std::span<Byte> column : columns) {
    const std::size_t bytes = column.size() / rows;
    cells.push_back(column.subspan(row * bytes, bytes));
  }
  return cells;
}

/// Both store a thing or neither does, in words of one size. `reads`: the other decodes the plan's codes.
bool alike(const recipes::Stored& own, const recipes::Stored& other, bool reads) {
  if ((own.reg >= 0) != (other.reg >= 0)) return false;
  if (own.reg < 0) return true;
  return own.format.storage_bytes() == other.format.storage_bytes() && (!reads || own.format.width <= other.format.width);
}

/// The other recipe in the plan's blocks; empty when its columns are not those of the plan.
std::optional<recipes::QuantRecipe> comparable(const RecipePlan& plan, recipes::QuantRecipe other) {
  const recipes::QuantRecipe& own = plan.recipe;
  const bool reads = plan.task == Task::dequantize;
  if (plan.task != Task::fake_quantize) {
    if (own.code.format.width != other.code.format.width || (own.keep_reg >= 0) != (other.keep_reg >= 0)) return std::nullopt;
    if (!alike(own.scale, other.scale, reads) || !alike(own.zero, other.zero, reads)) return std::nullopt;
    if (own.tensor_scale.reg >= 0 && other.tensor_scale.reg < 0) return std::nullopt;
    if (reads && other.tensor_scale.reg >= 0 && own.tensor_scale.reg < 0) return std::nullopt;
  }
  const bool same_blocks = own.granularity == other.granularity && own.rows == other.rows && own.columns == other.columns;
  return same_blocks ? other : recipes::with_granularity(std::move(other), own.granularity, own.rows, own.columns);
}

}  // namespace

RowKernel row_kernel(const RecipePlan& plan, RowFunction function) {
  return [plan, function = std::move(function)](const RowJob& job) {
    for (std::uint64_t i = 0; i < job.rows; ++i) {
      const RecipeRow row = get_inputs(plan, row_of(job.inputs, i, job.rows));
      try {
        put_answer(plan, function(plan, row), row_of(job.answers, i, job.rows));
      } catch (const InputError& error) {
        throw KernelFailure("row " + std::to_string(job.first + i) + " is refused: " + error.what());
      }
    }
  };
}

std::optional<recipes::QuantRecipe> comparable_recipe(const RecipePlan& plan, std::string_view name, std::string_view element) {
  return comparable(plan, recipes::named_recipe(name, element));
}

bool is_recipe_implementation(std::string_view implementation) {
  if (implementation == kEngine || implementation.starts_with(kRecipe)) return true;
  if (!implementation.starts_with(kMutant)) return false;
  const std::string_view name = implementation.substr(kMutant.size());
  const auto& all = block_mutants();
  return std::any_of(all.begin(), all.end(), [&](const BlockMutant& one) { return one.name == name; });
}

RowKernel recipe_kernel(const RecipePlan& plan, std::string_view implementation) {
  const auto by = [&](const recipes::QuantRecipe& recipe) {
    return row_kernel(plan, [recipe](const RecipePlan& p, const RecipeRow& row) { return answer_by(p, recipe, row); });
  };
  if (implementation == kEngine) return by(plan.recipe);
  if (implementation.starts_with(kRecipe)) {
    RecipePlan named = parse_recipe_spec(implementation);
    const std::vector<std::string> elements = recipes::recipe_elements(named.name);
    const bool open = implementation.find(",to=") == std::string_view::npos;
    if (open && std::find(elements.begin(), elements.end(), plan.element) != elements.end())
      named.recipe = recipes::named_recipe(named.name, plan.element);
    const auto other = comparable(plan, std::move(named.recipe));
    if (other) return by(*other);
    throw InputError("implementation " + std::string(implementation.substr(0, 60)), "it does not store what " + plan.name + " stores",
                     "name a recipe with the same kinds of scales and codes");
  }
  std::vector<std::string> names = {std::string(kEngine)};
  for (const BlockMutant& mutant : block_mutants()) {
    if (implementation == std::string(kMutant) + mutant.name) return row_kernel(plan, mutant.open(plan));
    names.push_back(std::string(kMutant) + mutant.name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string near = nearest_names(implementation, known);
  throw InputError("implementation '" + std::string(implementation.substr(0, 60)) + "'", "not one for recipes",
                   near.empty() ? "use halfulp, recipe:NAME or mutant:NAME" : "nearest names: " + near);
}

}  // namespace halfulp::vectors
