// Look-up of named recipes.
#include "halfulp/recipes/registry.hpp"

#include <map>
#include <mutex>

#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/parse.hpp"

namespace halfulp::recipes {
namespace {

template <class Visit>
void for_each_recipe(Visit visit) {
  for (const auto table : {fp8_int8_recipes(), block_fp8_recipes(), smoothquant_recipes(), mx_recipes(), nvfp4_recipes(), cache_recipes()}) {
    for (const NamedRecipe& recipe : table) visit(recipe);
  }
}

}  // namespace

std::vector<std::string_view> recipe_names() {
  std::vector<std::string_view> names;
  for_each_recipe([&](const NamedRecipe& recipe) { names.push_back(recipe.name); });
  return names;
}

const NamedRecipe& recipe_entry(std::string_view name) {
  const NamedRecipe* found = nullptr;
  for_each_recipe([&](const NamedRecipe& recipe) {
    if (recipe.name == name) found = &recipe;
  });
  if (found != nullptr) return *found;
  const std::string near = nearest_names(name, recipe_names());
  throw InputError("recipe '" + std::string(name.substr(0, 60)) + "'", "unknown",
                   near.empty() ? "`halfulp recipes` lists the recipes" : "nearest names: " + near);
}

const QuantRecipe& named_recipe(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, QuantRecipe, std::less<>> parsed;
  const NamedRecipe& entry = recipe_entry(name);
  const std::lock_guard lock(mutex);
  const auto known = parsed.find(name);
  if (known != parsed.end()) return known->second;
  return parsed.emplace(std::string(name), parse_recipe(std::string(name), entry.text)).first->second;
}

}  // namespace halfulp::recipes
