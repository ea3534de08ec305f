// Reading rows of tests/data/block.json: literals, codes, and the tensor that a row of a named recipe asks
// for.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/text.hpp"
#include "recipe_twins.hpp"

namespace halfulp::test {

using nlohmann::json;

inline bool has(const json& row, const char* key) {
  return row.contains(key) && !row.at(key).is_null();
}
inline std::uint64_t code_of_text(const std::string& text) {
  return std::stoull(text, nullptr, 16);
}
inline bool is_code(const std::string& text) {
  return text.substr(0, 2) == "0x" && text.find('p') == std::string::npos;
}
inline json as_list(const json& value) {
  return value.is_array() ? value : json::array({value});
}

/// A word of the source format, a literal, or a hex-float, as a number.
inline double number(const std::string& text, const std::string& from = "f32") {
  constexpr CastPolicy exact = {.overflow = Overflow::overflow};
  if (is_code(text)) return number_of(require_format(from).spec, code_of_text(text));
  return number_of(spec_of("f64"), cast(parse_literal(text).value, spec_of("f64"), exact).code);
}

struct Block {
  recipes::QuantRecipe recipe;
  Tensor tensor;
  recipes::Inputs inputs;
};

/// What a row of a named recipe asks for. Its values are one row, or one column where the recipe groups
/// along columns.
inline Block block_of(const json& row, const std::string& element) {
  Block block{element.empty() ? recipes::named_recipe(row.at("recipe").get<std::string>())
                              : recipes::named_recipe(row.at("recipe").get<std::string>(), element),
              {},
              {}};
  std::vector<double> values;
  for (const std::string text : as_list(row.at("input"))) values.push_back(number(text, row.at("from")));
  block.tensor = row_of(std::move(values));
  const auto count = static_cast<int>(block.tensor.values.size());
  if (block.recipe.granularity == recipes::Granularity::tile && block.recipe.columns == 1) {
    std::swap(block.tensor.rows, block.tensor.columns);
    block.recipe = recipes::with_granularity(block.recipe, recipes::Granularity::tile, count, 1);
  } else if (block.recipe.granularity == recipes::Granularity::group && row.contains("block")) {
    block.recipe =
        recipes::with_granularity(block.recipe, recipes::Granularity::group, 1, row.at("block").get<int>());
  }
  if (has(row, "tensor_amax")) block.inputs[recipes::kTensorAmax] = {number(row.at("tensor_amax"))};
  if (has(row, "tensor_scale")) block.inputs["scale"] = {number(row.at("tensor_scale"))};
  return block;
}

inline std::int64_t integer_code(const json& code, const FormatSpec& format) {
  return code.is_string() ? static_cast<std::int64_t>(code_of_text(code))
                          : code.get<std::int64_t>() & static_cast<std::int64_t>(low_mask(format.width));
}

}  // namespace halfulp::test
