// Edits the text of recipes; see recipe_edits.hpp.
#include "halfulp/vectors/blocks/recipe_edits.hpp"

#include <cctype>

#include "halfulp/error.hpp"
#include "halfulp/recipes/parse.hpp"

namespace halfulp::vectors {
namespace {

using recipes::QuantRecipe;

std::optional<QuantRecipe> parsed(const QuantRecipe& recipe, const std::string& text) {
  try {
    return recipes::parse_recipe(recipe.name, text);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

bool is_meant(std::string_view first, Statements where) {
  for (const std::string_view word : {"granularity", "element", "precision", "amax", "input", "transform", "fact"}) {
    if (first == word) return false;
  }
  if (where == Statements::back) return first == "value";
  if (where == Statements::behind_scale && first == "scale") return false;
  return first != "value";
}

struct Place {
  std::size_t begin = 0, end = 0;
};

/// Where the expression of a statement stands: behind the statement's word and, for stored results, the format.
std::optional<Place> place_of(const std::string& text, std::string_view statement) {
  for (std::size_t line = 0; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    if (text.compare(line, statement.size() + 1, std::string(statement) + " ") == 0) {
      std::size_t at = line + statement.size() + 1;
      const bool has_format = statement == "code" || statement == "scale" || statement == "zero" || statement == "tensor_scale";
      if (has_format) at = text.find(' ', at) + 1;
      const std::size_t precision = text.find('@', at);
      std::size_t stop = std::min(precision, end);
      while (stop > at && text[stop - 1] == ' ') --stop;
      return Place{at, stop};
    }
    line = end + 1;
  }
  return std::nullopt;
}

}  // namespace

std::optional<QuantRecipe> with_text(const QuantRecipe& recipe, std::string_view from, std::string_view to) {
  std::string text = recipe.text;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return std::nullopt;
  return parsed(recipe, text.replace(at, from.size(), to));
}

std::optional<QuantRecipe> with_variable(const QuantRecipe& recipe, std::string_view variable, std::string_view expression,
                                         Statements where) {
  std::string text;
  bool found = false;
  for (std::size_t line = 0; line < recipe.text.size();) {
    const std::size_t end = std::min(recipe.text.find('\n', line), recipe.text.size());
    const std::string_view statement = std::string_view(recipe.text).substr(line, end - line);
    const std::string_view first = statement.substr(0, statement.find(' '));
    const bool plain = !is_meant(first, where);
    for (std::size_t i = 0; i < statement.size();) {
      if (!is_word_char(statement[i])) {
        text += statement[i++];
        continue;
      }
      std::size_t stop = i;
      while (stop < statement.size() && is_word_char(statement[stop])) ++stop;
      const std::string_view word = statement.substr(i, stop - i);
      const bool defines = i == 0;
      if (!plain && !defines && word == variable) {
        text += expression;
        found = true;
      } else {
        text += word;
      }
      i = stop;
    }
    text += '\n';
    line = end + 1;
  }
  return found ? parsed(recipe, text) : std::nullopt;
}

std::string expression_of(const QuantRecipe& recipe, std::string_view statement) {
  const auto place = place_of(recipe.text, statement);
  return place ? recipe.text.substr(place->begin, place->end - place->begin) : std::string();
}

std::optional<QuantRecipe> with_expression(const QuantRecipe& recipe, std::string_view statement, std::string_view expression) {
  const auto place = place_of(recipe.text, statement);
  if (!place) return std::nullopt;
  std::string text = recipe.text;
  return parsed(recipe, text.replace(place->begin, place->end - place->begin, expression));
}

}  // namespace halfulp::vectors
