// Look-up of named recipes.
#include "halfulp/recipes/registry.hpp"

#include <algorithm>
#include <cctype>
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

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// The parts of a name, of two letters or more.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '/' || c == '_' || c == '-' || c == '.' || c == ' ') words.emplace_back();
    else words.back() += c;
  }
  std::erase_if(words, [](const std::string& word) { return word.size() < 2; });
  return words;
}

/// How well a candidate, in lower case, answers a request: 0 the same, 1 begins with it, 2 holds it, then by the words
/// of the request that it has; kFar without any.
constexpr std::size_t kFar = 1000;
std::size_t distance(const std::string& request, const std::vector<std::string>& words, const std::string& candidate) {
  if (candidate == request) return 0;
  if (candidate.starts_with(request)) return 1;
  if (candidate.find(request) != std::string::npos) return 2;
  const auto found = static_cast<std::size_t>(std::count_if(
      words.begin(), words.end(), [&](const std::string& word) { return candidate.find(word) != std::string::npos; }));
  return found == 0 ? kFar : 3 + words.size() - found;
}

/// Up to six names near to the request: those that have it, in any case, shorter ones first; else those a slip of the pen
/// away, then those that have most of its parts.
std::string nearest_recipes(std::string_view name) {
  constexpr std::size_t kLongest = 60, kMost = 6;
  if (name.empty() || name.size() > kLongest) return {};
  const std::string request = lower(name);
  const std::vector<std::string> words = words_of(request);
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view candidate : recipe_names()) ranked.emplace_back(distance(request, words, lower(candidate)), candidate);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.size()) < std::pair(b.first, b.second.size());
  });
  const std::size_t best = ranked.front().first;
  std::string text = best > 2 ? nearest_names(request, recipe_names()) : std::string();
  auto count = text.empty() ? std::size_t{0} : static_cast<std::size_t>(std::count(text.begin(), text.end(), ',') + 1);
  for (const auto& [far, candidate] : ranked) {
    if (far != best || far == kFar || count == kMost) break;
    if ((text + ",").find(std::string(candidate) + ",") != std::string::npos) continue;
    text += (text.empty() ? "" : ", ") + std::string(candidate);
    ++count;
  }
  return text;
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
  const std::string near = nearest_recipes(name);
  throw InputError("recipe '" + std::string(name.substr(0, 60)) + "'", "unknown",
                   near.empty() ? "`halfulp recipes` lists the recipes" : "nearest names: " + near + "; `halfulp recipes` lists all");
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
