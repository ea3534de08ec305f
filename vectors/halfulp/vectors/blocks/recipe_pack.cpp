// Packs of rows; see recipe_pack.hpp.
#include "halfulp/vectors/blocks/recipe_pack.hpp"

#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/recipes/step_text.hpp"
#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/blocks/recipe_judge.hpp"

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;

Json steps_json(const recipes::QuantRecipe& recipe, const std::vector<recipes::Step>& steps) {
  Json list = Json::array();
  for (const recipes::Step& step : steps) {
    if (step.op == recipes::Op::constant) continue;
    const recipes::StepText text = recipes::step_text(recipe, step);
    list.push_back({{"per", text.per}, {"result", text.result}, {"operation", text.operation}, {"precision", text.precision},
                    {"rounding", text.rounding}, {"exact", text.exact}});
  }
  return list;
}

/// The recipe with every step spelled out, and what the SPEC adds to it.
std::string details_of(const RecipePlan& plan) {
  const recipes::QuantRecipe& recipe = plan.recipe;
  Json json = {{"recipe", plan.name}, {"element", plan.element}, {"task", name_of(plan.task)},
               {"block", recipes::granularity_text(recipe)}, {"tensor_shape", {plan.rows, plan.columns}},
               {"source", plan.from_name}, {"packing", plan.packing ? std::string(packing_name(*plan.packing)) : "one word per code"},
               {"scale_layout", plan.layout ? std::string(scale_layout_name(*plan.layout)) : "row-major block order"},
               {"amax", {{"nan", recipe.amax_propagates_nan ? "propagate" : "drop"}, {"start", recipe.amax_start}}}};
  Json fixed = Json::object();
  for (const auto& [name, value] : plan.fixed_text) fixed[name] = value;
  for (const recipes::Input& input : recipe.inputs) {
    if (!fixed.contains(input.name) && !plan.is_varied(input.name) && !input.default_literal.empty()) fixed[input.name] = input.default_literal;
  }
  json["fixed_inputs"] = fixed;
  if (recipe.transform_reg >= 0) json["transform"] = steps_json(recipe, recipe.transform_steps);
  json["quantize"] = steps_json(recipe, recipe.steps);
  json["dequantize"] = steps_json(recipe, recipe.value_steps);
  json["facts"] = recipe.facts;
  return json.dump();
}

void put_word(std::uint32_t word, std::vector<std::byte>& bytes) {
  for (int b = 0; b < 4; ++b) bytes.push_back(static_cast<std::byte>(word >> (8 * b)));
}

/// Cells of one row of some columns, for the functions of recipe_columns.hpp.
std::vector<std::vector<std::byte>> cells_of(const std::vector<RecipeColumn>& columns) {
  std::vector<std::vector<std::byte>> cells;
  for (const RecipeColumn& column : columns) cells.emplace_back(column.row_bytes());
  return cells;
}

std::vector<std::span<std::byte>> spans_of(std::vector<std::vector<std::byte>>& cells) { return {cells.begin(), cells.end()}; }

/// The columns of a pack by their place in the manifest, each checked against what the SPEC asks for.
std::vector<std::span<const std::byte>> columns_of(const PackReader& reader, const std::vector<RecipeColumn>& wanted, Role role,
                                                   const RecipePlan& plan) {
  const Manifest& manifest = reader.manifest();
  std::vector<std::span<const std::byte>> found;
  for (const RecipeColumn& column : wanted) {
    std::vector<std::uint64_t> shape = {manifest.rows};
    shape.insert(shape.end(), column.shape.begin(), column.shape.end());
    const ColumnInfo* info = manifest.find(column.name);
    if (info == nullptr || info->role != role || info->format != column.format || info->shape != shape) {
      throw InputError("pack of " + spec_text(plan) + ", column " + column.name, "missing, or not of the shape and format that its SPEC asks for",
                       "write the pack again with `halfulp gen`");
    }
    found.push_back(reader.column(static_cast<std::size_t>(info - manifest.columns.data())));
  }
  return found;
}

std::vector<std::span<const std::byte>> row_of(const std::vector<std::span<const std::byte>>& columns, std::uint64_t row, std::uint64_t rows) {
  std::vector<std::span<const std::byte>> cells;
  for (const auto column : columns) cells.push_back(column.subspan(row * (column.size() / rows), column.size() / rows));
  return cells;
}

}  // namespace

Manifest recipe_manifest(const RecipePlan& plan, Level level, std::uint64_t seed, const RecipeRows& rows) {
  Manifest manifest;
  manifest.generator = "halfulp " HALFULP_VERSION;
  manifest.kind = "recipe";
  manifest.spec = spec_text(plan);
  manifest.details = details_of(plan);
  manifest.rows = rows.rows.size();
  manifest.seed = seed;
  manifest.level = level;
  manifest.completeness = Completeness::sampled;
  manifest.refused = rows.refused;
  manifest.columns = manifest_columns(plan, rows.rows.size());
  manifest.flags = row_flags();
  return manifest;
}

void write_columns(const RecipePlan& plan, const RecipeRows& rows, PackWriter& writer) {
  const std::vector<RecipeColumn> inputs = input_columns(plan), answers = expected_columns(plan);
  std::vector<std::vector<std::byte>> in = cells_of(inputs), out = cells_of(answers);
  const std::size_t count = inputs.size() + answers.size();
  std::vector<std::vector<std::byte>> columns(count + 1);
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    put_inputs(plan, rows.rows[row], spans_of(in));
    put_answer(plan, rows.expected[row], spans_of(out));
    for (std::size_t i = 0; i < in.size(); ++i) columns[i].insert(columns[i].end(), in[i].begin(), in[i].end());
    for (std::size_t i = 0; i < out.size(); ++i) columns[in.size() + i].insert(columns[in.size() + i].end(), out[i].begin(), out[i].end());
    put_word(rows.rows[row].flags, columns[count]);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) writer.write(i, columns[i]);
}

RecipePack read_recipe_pack(const PackReader& reader, int threads) {
  const Manifest& manifest = reader.manifest();
  RecipePack pack{parse_recipe_spec(manifest.spec), {}};
  const RecipePlan& plan = pack.plan;
  const auto inputs = columns_of(reader, input_columns(plan), Role::input, plan);
  const auto answers = columns_of(reader, expected_columns(plan), Role::expected, plan);
  if (manifest.rows == 0) throw InputError("pack of " + spec_text(plan), "it has no rows", "write it again with `halfulp gen`");
  std::vector<RecipeRow> rows;
  for (std::uint64_t i = 0; i < manifest.rows; ++i) rows.push_back(get_inputs(plan, row_of(inputs, i, manifest.rows)));
  pack.rows = judged_rows(plan, std::move(rows), threads);
  if (pack.rows.refused > 0)
    throw InputError("pack of " + spec_text(plan), "the recipe refuses some of its rows", "write it again with `halfulp gen`");
  std::vector<RowAnswer> held;
  for (std::uint64_t i = 0; i < manifest.rows; ++i) held.push_back(get_answer(plan, row_of(answers, i, manifest.rows)));
  const BlockTally tally = judge_blocks(plan, pack.rows, held);
  if (tally.words_wrong > 0) {
    throw InputError("pack of " + spec_text(plan) + ", row " + std::to_string(tally.first().row),
                     "what it expects is not what this version computes", "write it again with `halfulp gen`");
  }
  return pack;
}

}  // namespace halfulp::vectors
