// Quantized tensors as JSON lines; see quantize_json.hpp.
#include "quantize_json.hpp"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "halfulp/text.hpp"
#include "recipe_spec.hpp"
#include "values.hpp"

namespace halfulp::tool {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(double value) {
  std::string text;
  append_hex_float(text, unpack(spec_of("f64"), std::bit_cast<std::uint64_t>(value)));
  return text;
}

/// A number, or null where JSON has none.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json errors_json(const recipes::ErrorReport& report, const recipes::QuantRecipe& recipe) {
  Json json = {{"compared_with", recipe.transform_reg < 0 ? "x" : "transformed x"}, {"compared", report.compared}, {"not_finite", report.not_finite}};
  if (report.compared == 0) return json;
  json.update({{"largest", number(report.largest_error())}, {"largest_at", report.largest_at}, {"rms", number(report.rms())},
               {"relative", number(report.relative())}, {"exact", report.squared_error.is_zero()}, {"sqnr_db", number(report.sqnr_db())}});
  return json;
}

}  // namespace

TensorSummary summary_of(const recipes::QuantRecipe& recipe, const recipes::Quantized& quantized) {
  TensorSummary summary;
  summary.recipe = &recipe;
  summary.elements = quantized.codes.size();
  summary.blocks = static_cast<std::uint64_t>(quantized.blocks.count());
  summary.kept = quantized.kept.size();
  if (quantized.tensor_scale) summary.tensor_scale = code_text(recipe.tensor_scale.format, *quantized.tensor_scale);
  if (recipes::reads(recipe.value_steps, recipe.A)) summary.tensor_amax = quantized.tensor_amax;
  return summary;
}

void append_summary(std::string& text, const TensorSummary& summary) {
  const recipes::QuantRecipe& recipe = *summary.recipe;
  Json json = {{"tensor", summary.tensor}, {"recipe", recipe.name}, {"spec", recipe_spec_text(recipe)},
               {"element", recipe.code.format_name}, {"shape", summary.shape}, {"axis", summary.axis},
               {"elements", summary.elements}, {"blocks", summary.blocks}};
  if (recipe.keep_reg >= 0) json["kept"] = summary.kept;
  if (!summary.tensor_scale.empty()) json["tensor_scale"] = summary.tensor_scale;
  if (summary.tensor_amax) json["tensor_amax"] = hex(*summary.tensor_amax);
  if (summary.errors != nullptr) json["errors"] = errors_json(*summary.errors, recipe);
  if (!summary.written.empty()) json["written"] = summary.written;
  text += json.dump() + "\n";
}

void append_blocks_json(std::string& text, std::uint64_t tensor, const BlockText& form, const recipes::Quantized& quantized,
                        const std::vector<bool>& marked, const std::vector<double>& values) {
  for (std::int64_t i = 0; i < quantized.blocks.count(); ++i) {
    const auto block = static_cast<std::size_t>(i);
    const recipes::Blocks::Range range = quantized.blocks[i];
    Json json = {{"tensor", tensor}, {"block", block}, {"row", range.row}, {"rows", range.rows}, {"column", range.column}, {"columns", range.columns}};
    if (!quantized.scales.empty()) json["scale"] = form.scale_text(quantized, block);
    if (!quantized.zeros.empty()) json["zero"] = form.zero_text(quantized, block);
    json["codes"] = Json::array();
    for_each_element(quantized.blocks, range, [&](std::size_t element) { json["codes"].push_back(form.element_text(quantized.codes[element])); });
    if (!marked.empty() && marked[block]) json["could_differ"] = true;
    if (!values.empty()) for_each_element(quantized.blocks, range, [&](std::size_t element) { json["values"].push_back(hex(values[element])); });
    text += json.dump() + "\n";
  }
  for (const recipes::Kept& kept : quantized.kept) text += Json({{"tensor", tensor}, {"kept", kept.index}, {"value", hex(kept.value)}}).dump() + "\n";
}

void append_rows_json(std::string& text, std::uint64_t tensor, std::int64_t columns, std::span<const double> values) {
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t row = 0; width > 0 && row < values.size() / width; ++row) {
    Json json = {{"tensor", tensor}, {"row", row}, {"values", Json::array()}};
    for (const double value : values.subspan(row * width, width)) json["values"].push_back(hex(value));
    text += json.dump() + "\n";
  }
}

}  // namespace halfulp::tool
