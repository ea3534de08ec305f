// Packs of rows; see recipe_pack.hpp.
#include "halfulp/vectors/blocks/recipe_pack.hpp"

#include <nlohmann/json.hpp>

#include "halfulp/error.hpp"
#include "halfulp/recipes/step_text.hpp"
#include "halfulp/vectors/blocks/recipe_claims.hpp"
#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/blocks/recipe_judge.hpp"

namespace halfulp::vectors {
namespace {

using Json = nlohmann::ordered_json;

/// One line per step: scope, result, operation, what is rounded and how.
Json steps_json(const recipes::QuantRecipe& recipe, const std::vector<recipes::Step>& steps) {
  Json list = Json::array();
  for (const recipes::Step& step : steps) {
    if (step.op == recipes::Op::constant) continue;
    const recipes::StepText text = recipes::step_text(recipe, step);
    std::string line = text.per + ": " + text.result + " = " + text.operation;
    if (!text.precision.empty()) line += ", " + text.precision;
    if (!text.rounding.empty()) line += ", " + text.rounding;
    if (!text.exact) line += ", any result within one ulp is admissible";
    list.push_back(line);
  }
  return list;
}

/// The recipe with every step spelled out, and what the SPEC adds to it.
std::string details_of(const RecipePlan& plan) {
  const recipes::QuantRecipe& recipe = plan.recipe;
  Json json = {
      {"recipe", plan.name},
      {"element", plan.element},
      {"task", name_of(plan.task)},
      {"block", recipes::granularity_text(recipe)},
      {"tensor_shape", {plan.rows, plan.columns}},
      {"source", plan.from_name},
      {"packing", plan.packing ? std::string(packing_name(*plan.packing)) : "one word per code"},
      {"scale_layout",
       plan.layout ? std::string(scale_layout_name(*plan.layout)) : "row-major block order"},
      {"amax", {{"nan", recipe.amax_propagates_nan ? "propagate" : "drop"}, {"start", recipe.amax_start}}}};
  Json fixed = Json::object();
  for (const auto& [name, value] : plan.fixed_text) fixed[name] = value;
  for (const recipes::Input& input : recipe.inputs) {
    if (!fixed.contains(input.name) && !plan.is_varied(input.name) && !input.default_literal.empty())
      fixed[input.name] = input.default_literal;
  }
  json["fixed_inputs"] = fixed;
  if (recipe.transform_reg >= 0) json["transform"] = steps_json(recipe, recipe.transform_steps);
  json["quantize"] = steps_json(recipe, recipe.steps);
  json["dequantize"] = steps_json(recipe, recipe.value_steps);
  return json.dump();
}

class RecipeRowSource : public RowSource {
 public:
  RecipeRowSource(RecipePlan plan, Level level, std::uint64_t seed, int threads)
      : plan_(std::move(plan)),
        rows_(level_rows(plan_, level, seed, threads)),
        manifest_(recipe_manifest(plan_, level, seed, rows_)) {
    if (rows_.rows.empty())
      throw InputError("SPEC " + manifest_.spec, "the recipe refuses every row of the level",
                       "name other inputs");
  }

  const Manifest& manifest() const override { return manifest_; }

  void fill(std::uint64_t first, std::uint64_t count,
            std::span<const std::span<std::byte>> columns) const override {
    const std::vector<RecipeColumn> in = input_columns(plan_), out = expected_columns(plan_);
    std::vector<std::vector<std::byte>> spare(in.size() +
                                              out.size());  // for columns that are not asked for
    const auto cells = [&](std::size_t from, const std::vector<RecipeColumn>& list, std::uint64_t row) {
      std::vector<std::span<std::byte>> spans;
      for (std::size_t i = 0; i < list.size(); ++i) {
        const std::size_t bytes = list[i].row_bytes();
        if (columns[from + i].empty()) spare[from + i].resize(bytes);
        spans.push_back(columns[from + i].empty() ? std::span(spare[from + i])
                                                  : columns[from + i].subspan(row * bytes, bytes));
      }
      return spans;
    };
    const std::span<std::byte> flags = columns[in.size() + out.size()];
    for (std::uint64_t row = 0; row < count; ++row) {
      put_inputs(plan_, rows_.rows[first + row], cells(0, in, row));
      put_answer(plan_, rows_.expected[first + row], cells(in.size(), out, row));
      for (std::size_t b = 0; b < sizeof(std::uint32_t) && !flags.empty(); ++b)
        flags[row * sizeof(std::uint32_t) + b] =
            static_cast<std::byte>(rows_.rows[first + row].flags >> (8 * b));
    }
  }

 private:
  RecipePlan plan_;
  RecipeRows rows_;
  Manifest manifest_;
};

/// The columns of a pack by their place in the manifest, each checked against what the SPEC asks for.
std::vector<std::span<const std::byte>> columns_of(const PackReader& reader,
                                                   const std::vector<RecipeColumn>& wanted, Role role,
                                                   const RecipePlan& plan) {
  const Manifest& manifest = reader.manifest();
  std::vector<std::span<const std::byte>> found;
  for (const RecipeColumn& column : wanted) {
    std::vector<std::uint64_t> shape = {manifest.rows};
    shape.insert(shape.end(), column.shape.begin(), column.shape.end());
    const ColumnInfo* info = manifest.find(column.name);
    if (info == nullptr || info->role != role || info->format != column.format || info->shape != shape) {
      throw InputError("pack of " + spec_text(plan) + ", column " + column.name,
                       "missing, or not of the shape and format that its SPEC asks for",
                       "write the pack again with `halfulp gen`");
    }
    found.push_back(reader.column(static_cast<std::size_t>(info - manifest.columns.data())));
  }
  return found;
}

/// Throws InputError when the pack's flags are not those of its rows.
void require_flags(const PackReader& reader, const RecipePlan& plan, const RecipeRows& rows) {
  const std::vector<ColumnInfo>& columns = reader.manifest().columns;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns[c].role != Role::flags) continue;
    for (std::size_t row = 0; row < rows.rows.size(); ++row) {
      const auto cell = reader.column(c).subspan(row * columns[c].row_bytes());
      for (std::size_t b = 0; b < columns[c].row_bytes(); ++b) {
        if (b < sizeof(std::uint32_t) && cell[b] == static_cast<std::byte>(rows.rows[row].flags >> (8 * b))) continue;
        throw InputError("pack of " + spec_text(plan) + ", row " + std::to_string(row),
                         "its flags do not say why it is there", "write the pack again with `halfulp gen`");
      }
    }
  }
}

std::vector<std::span<const std::byte>> row_of(const std::vector<std::span<const std::byte>>& columns,
                                               std::uint64_t row, std::uint64_t rows) {
  std::vector<std::span<const std::byte>> cells;
  for (const auto column : columns)
    cells.push_back(column.subspan(row * (column.size() / rows), column.size() / rows));
  return cells;
}

}  // namespace

Manifest recipe_manifest(const RecipePlan& plan, Level level, std::uint64_t seed, const RecipeRows& rows) {
  Manifest manifest = sampled_manifest("recipe", spec_text(plan), level, seed, rows.rows.size());
  manifest.details = details_of(plan);
  manifest.refused = rows.refused;
  manifest.columns = manifest_columns(plan, rows.rows.size());
  manifest.flags = row_flags();
  return manifest;
}

std::unique_ptr<RowSource> recipe_rows(RecipePlan plan, Level level, std::uint64_t seed, int threads) {
  return std::make_unique<RecipeRowSource>(std::move(plan), level, seed, threads);
}

RecipePack read_recipe_pack(const PackReader& reader, int threads) {
  const Manifest& manifest = reader.manifest();
  RecipePack pack{parse_recipe_spec(manifest.spec), {}};
  const RecipePlan& plan = pack.plan;
  const auto inputs = columns_of(reader, input_columns(plan), Role::input, plan);
  const auto answers = columns_of(reader, expected_columns(plan), Role::expected, plan);
  if (manifest.rows == 0)
    throw InputError("pack of " + spec_text(plan), "it has no rows", "write it again with `halfulp gen`");
  std::vector<RecipeRow> rows;
  for (std::uint64_t i = 0; i < manifest.rows; ++i)
    rows.push_back(get_inputs(plan, row_of(inputs, i, manifest.rows)));
  pack.rows = judged_rows(plan, std::move(rows), threads);
  if (pack.rows.refused > 0)
    throw InputError("pack of " + spec_text(plan), "the recipe refuses some of its rows",
                     "write it again with `halfulp gen`");
  std::vector<RowAnswer> held;
  for (std::uint64_t i = 0; i < manifest.rows; ++i)
    held.push_back(get_answer(plan, row_of(answers, i, manifest.rows)));
  const BlockTally tally = judge_blocks(plan, pack.rows, held);
  if (tally.words_wrong > 0) {
    throw InputError("pack of " + spec_text(plan) + ", row " + std::to_string(tally.first().row),
                     "what it expects is not what this version computes",
                     "write it again with `halfulp gen`");
  }
  require_claims(plan, manifest, pack.rows);
  require_flags(reader, plan, pack.rows);
  return pack;
}

}  // namespace halfulp::vectors
