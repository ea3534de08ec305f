// Replaces a recipe's blocks, in its data and in its text.
#include "halfulp/recipes/granularity.hpp"

#include <charconv>
#include <optional>

#include "halfulp/error.hpp"

namespace halfulp::recipes {
namespace {

std::optional<int> count_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > 1 << 20)
    return std::nullopt;
  return value;
}

std::string words_of(Granularity granularity, int rows, int columns) {
  switch (granularity) {
    case Granularity::tensor: return "tensor";
    case Granularity::row: return "row";
    case Granularity::column: return "column";
    case Granularity::group: return "group " + std::to_string(columns);
    case Granularity::tile: break;
  }
  return "tile " + std::to_string(rows) + " " + std::to_string(columns);
}

}  // namespace

QuantRecipe with_granularity(QuantRecipe recipe, Granularity granularity, int rows, int columns) {
  const bool sized = granularity == Granularity::group || granularity == Granularity::tile;
  recipe.granularity = granularity;
  recipe.rows = sized ? (granularity == Granularity::group ? 1 : rows) : 0;
  recipe.columns = sized ? columns : 0;
  constexpr std::string_view word = "granularity ";
  const std::string line = std::string(word) + words_of(granularity, rows, columns);
  if (const auto at = recipe.text.find(word); at != std::string::npos) {
    recipe.text.replace(at, recipe.text.find('\n', at) - at, line);
  } else {
    recipe.text = line + "\n" + recipe.text;
  }
  return recipe;
}

QuantRecipe with_block(QuantRecipe recipe, std::string_view block) {
  if (block == "tensor") return with_granularity(std::move(recipe), Granularity::tensor);
  if (block == "row") return with_granularity(std::move(recipe), Granularity::row);
  if (block == "column") return with_granularity(std::move(recipe), Granularity::column);
  const auto x = block.find('x');
  const auto first = count_of(block.substr(0, x));
  if (x == std::string_view::npos && first)
    return with_granularity(std::move(recipe), Granularity::group, 1, *first);
  const auto second = x == std::string_view::npos ? std::nullopt : count_of(block.substr(x + 1));
  if (!first || !second) {
    throw InputError("block '" + std::string(block.substr(0, 60)) + "'", "not a block",
                     "write tensor, row, column, a length as 128, or rows and columns as 128x128");
  }
  return with_granularity(std::move(recipe), Granularity::tile, *first, *second);
}

std::string block_words(const QuantRecipe& recipe) {
  switch (recipe.granularity) {
    case Granularity::tensor: return "tensor";
    case Granularity::row: return "row";
    case Granularity::column: return "column";
    case Granularity::group: return std::to_string(recipe.columns);
    case Granularity::tile: break;
  }
  return std::to_string(recipe.rows) + "x" + std::to_string(recipe.columns);
}

}  // namespace halfulp::recipes
