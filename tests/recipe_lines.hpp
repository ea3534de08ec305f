// A recipe's result on a few literals as one line of text: the scale, then the codes, in hexadecimal.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>

#include "halfulp/literal.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/quantize_exact.hpp"
#include "recipe_data.hpp"

namespace halfulp::test {

inline constexpr FormatSpec kLiteralsOf = spec_of("f32");

/// Blank-separated literals, each rounded to `source`.
inline std::vector<double> numbers(const std::string& literals, const FormatSpec& source = kLiteralsOf) {
  constexpr CastPolicy policy = {.overflow = Overflow::overflow};
  std::vector<double> values;
  std::istringstream words(literals);
  for (std::string word; words >> word;)
    values.push_back(number_of(source, cast(parse_literal(word).value, source, policy).code));
  return values;
}

inline std::string hex(std::uint64_t code) {
  char text[20];
  std::snprintf(text, sizeof text, "%02llx", static_cast<unsigned long long>(code));
  return text;
}

/// "SCALE CODE CODE …" of every block, blocks separated by " / ". Codes of at most 4 bits take one digit.
inline std::string lines(const recipes::QuantRecipe& recipe, const recipes::Quantized& q) {
  std::string text;
  for (std::int64_t block = 0; block < q.blocks.count(); ++block) {
    if (block > 0) text += " / ";
    text += q.scales.empty() ? "-" : hex(q.scales[static_cast<std::size_t>(block)]);
    const auto range = q.blocks[block];
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
        const std::string code = hex(q.codes[static_cast<std::size_t>(r * q.blocks.columns + c)]);
        text += " " + (recipe.code.format.width <= 4 ? code.substr(1) : code);
      }
    }
  }
  return text;
}

/// One row of literals, by the engine; the exact twin must agree.
inline std::string line(const recipes::QuantRecipe& recipe, const std::string& literals,
                        const recipes::Inputs& inputs = {}) {
  const std::vector<double> values = numbers(literals);
  const recipes::TensorView view{1, static_cast<std::int64_t>(values.size()), values};
  const recipes::Quantized q = recipes::quantize(recipe, view, inputs);
  EXPECT_EQ(q, recipes::quantize_exact(recipe, view, inputs)) << recipe.name << ": " << literals;
  return lines(recipe, q);
}

}  // namespace halfulp::test
