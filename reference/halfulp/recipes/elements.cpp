// Element overrides: which exist, and the recipes they give.
#include "halfulp/recipes/elements.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/parse.hpp"
#include "halfulp/recipes/registry.hpp"

namespace halfulp::recipes {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view element) {
  std::string known;
  for (const std::string& each : recipe_elements(name)) known += (known.empty() ? "" : ", ") + each;
  throw InputError("recipe " + std::string(name) + ", element '" + std::string(element.substr(0, 40)) + "'", "not one of its elements",
                   "choose from: " + known);
}

}  // namespace

std::vector<std::string> recipe_elements(std::string_view name) {
  std::string_view rest = mx_elements(name);
  if (rest.empty()) {
    const QuantRecipe& own = named_recipe(name);
    return own.elements.empty() ? std::vector<std::string>{own.code.format_name} : own.elements;
  }
  std::vector<std::string> elements;
  while (!rest.empty()) {
    elements.emplace_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), elements.back().size() + 1));
  }
  return elements;
}

std::string recipe_text(std::string_view name, std::string_view element) {
  const std::vector<std::string> elements = recipe_elements(name);
  if (std::find(elements.begin(), elements.end(), element) == elements.end()) refuse(name, element);
  if (element == elements[0]) return std::string(recipe_entry(name).text);
  return mx_elements(name).empty() ? text_with_element(recipe_entry(name).text, element) : mx_text(name, element);
}

const QuantRecipe& named_recipe(std::string_view name, std::string_view element) {
  const auto format = find_format(element);
  if (!format) refuse(name, element);
  const std::string canonical(format->name);
  if (canonical == recipe_elements(name)[0]) return named_recipe(name);
  static std::mutex mutex;
  static std::map<std::string, QuantRecipe, std::less<>> parsed;
  const std::string text = recipe_text(name, canonical), key = std::string(name) + " " + canonical;
  const std::lock_guard lock(mutex);
  const auto known = parsed.find(key);
  if (known != parsed.end()) return known->second;
  return parsed.emplace(key, parse_recipe(std::string(name), text)).first->second;
}

}  // namespace halfulp::recipes
