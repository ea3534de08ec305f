// Parses SPECs of recipes; see recipe_plan.hpp.
#include "halfulp/vectors/blocks/recipe_plan.hpp"

#include <algorithm>
#include <charconv>

#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/input_range.hpp"
#include "halfulp/recipes/operations.hpp"
#include "halfulp/recipes/registry.hpp"

namespace halfulp::vectors {
namespace {

using recipes::Granularity;
using recipes::Input;
using recipes::PerInput;
using recipes::QuantRecipe;

constexpr std::string_view kPrefix = "recipe:";
constexpr std::int64_t kMostElements = 1 << 20;  ///< of one row's tensor
constexpr std::string_view kVaried = "varied";
constexpr std::string_view kSources[] = {"f32", "bf16", "f16"};

std::optional<std::int64_t> count_of(std::string_view text, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most)
    return std::nullopt;
  return value;
}

/// Rows and columns that hold several blocks.
void default_shape(RecipePlan& plan) {
  const QuantRecipe& recipe = plan.recipe;
  switch (recipe.granularity) {
    case Granularity::tensor: plan.rows = 2, plan.columns = 16; return;
    case Granularity::row: plan.rows = 4, plan.columns = 16; return;
    case Granularity::column: plan.rows = 16, plan.columns = 4; return;
    case Granularity::group: plan.rows = 2, plan.columns = 2 * std::int64_t{recipe.columns}; return;
    case Granularity::tile: break;
  }
  constexpr int kLargeTile = 1024;  // elements: two of them are enough
  const std::int64_t high = recipe.rows, wide = recipe.columns;
  plan.rows = high * wide > kLargeTile ? high : 2 * high;
  plan.columns = 2 * wide;
}

void parse_shape(RecipePlan& plan, std::string_view text) {
  const auto x = text.find('x');
  const auto rows = count_of(text.substr(0, x), kMostElements);
  const auto columns =
      x == std::string_view::npos ? std::nullopt : count_of(text.substr(x + 1), kMostElements);
  if (!rows || !columns || *rows * *columns > kMostElements) {
    throw InputError("shape " + quoted(text), "not a shape of a row's tensor",
                     "write rows and columns as 2x64, at most 2^20 elements");
  }
  plan.rows = *rows, plan.columns = *columns;
}

bool reads_in_f64(const QuantRecipe& recipe, int reg) {
  for (const auto* steps : {&recipe.transform_steps, &recipe.steps, &recipe.value_steps}) {
    for (const recipes::Step& step : *steps) {
      if (step.precision == recipes::Precision::f64 &&
          std::count(step.operands.begin(), step.operands.end(), reg) > 0)
        return true;
    }
  }
  return false;
}

/// Whether the way that the task goes reads the input at all.
bool takes_part(const RecipePlan& plan, const Input& input) {
  return plan.task != Task::dequantize || recipes::reads(plan.recipe.value_steps, input.reg);
}

/// Sorts the recipe's inputs into fixed ones and columns.
void sort_inputs(RecipePlan& plan, std::vector<std::pair<std::string, std::string>> named) {
  const QuantRecipe& recipe = plan.recipe;
  const auto take = [&](const std::string& name) -> std::optional<std::string> {
    const auto found =
        std::find_if(named.begin(), named.end(), [&](const auto& pair) { return pair.first == name; });
    if (found == named.end()) return std::nullopt;
    const std::string value = found->second;
    named.erase(found);
    return value;
  };
  const auto settle = [&](const std::string& name, PerInput per, std::int64_t entries,
                          const std::string& format, bool varies_unnamed) {
    const auto value = take(name);
    if (value && *value != kVaried) {
      if (per == PerInput::table)
        throw InputError("input '" + name + "'", "a table is no single value",
                         "leave it out: every row brings its own");
      const Format wide = require_format(format == "f64" ? "f64" : "f32");
      const Literal literal = parse_literal(*value);
      if (literal.error != LiteralError::none)
        throw InputError("input '" + name + "', value " + quoted(*value), "not a number",
                         "write a literal, or `varied`");
      plan.fixed[name] = recipes::decode(wide.spec, read_literal_as(literal.value, wide, *value));
      recipes::check_input_range(name, plan.fixed[name], "input '" + name + "', value " + quoted(*value));
      plan.fixed_text.emplace_back(name, *value);
      return;
    }
    if (!value && !varies_unnamed) return;
    plan.varied.push_back({name, per, entries, format});
    if (value) plan.asked_to_vary.push_back(name);
  };
  if (plan.task != Task::dequantize && recipe.A >= 0)
    settle(recipes::kTensorAmax, PerInput::tensor, 1, "f32", false);
  if (plan.task != Task::dequantize && recipe.tensor_scale.reg >= 0)
    settle(recipes::kTensorScale, PerInput::tensor, 1, "f32", false);
  if (plan.task == Task::dequantize && recipes::reads(recipe.value_steps, recipe.A))
    settle(recipes::kTensorAmax, PerInput::tensor, 1, "f32", true);
  for (const Input& input : recipe.inputs) {
    if (!takes_part(plan, input)) continue;
    const bool varies = input.default_literal.empty() || input.per != PerInput::tensor;
    const std::string format = input.per == PerInput::element    ? "uint8"
                               : reads_in_f64(recipe, input.reg) ? "f64"
                                                                 : "f32";
    settle(input.name, input.per, input.entries, format, varies);
  }
  if (plan.is_varied(recipes::kTensorAmax) && plan.is_varied(recipes::kTensorScale))
    throw InputError("recipe " + plan.name, "tensor_amax and tensor_scale both vary", "name one of them");
  if (named.empty()) return;
  std::vector<std::string_view> known = {"to",   "block",   "from",   "task",     "shape",
                                         "rows", "packing", "layout", "multiple", "nan"};
  for (const Input& input : recipe.inputs) known.push_back(input.name);
  if (recipe.A >= 0) known.push_back(recipes::kTensorAmax);
  if (recipe.tensor_scale.reg >= 0) known.push_back(recipes::kTensorScale);
  const std::string near = nearest_names(named[0].first, known);
  throw InputError(
      "recipe " + plan.name + ", option " + quoted(named[0].first), "not one of this recipe's",
      near.empty() ? "`halfulp recipes " + plan.name + "` shows its inputs" : "nearest names: " + near);
}

void check(const RecipePlan& plan) {
  const int width = plan.recipe.code.format.width;
  if (plan.packing && !packs(*plan.packing, width)) {
    throw InputError("packing '" + std::string(packing_name(*plan.packing)) + "'",
                     "it does not hold codes of " + std::to_string(width) + " bits",
                     "use byte_low_bits or dense");
  }
  if (plan.layout && plan.recipe.scale.reg < 0)
    throw InputError("recipe " + plan.name, "it stores no block scales to lay out", "leave layout= out");
  if (plan.task == Task::fake_quantize && (plan.packing || plan.layout))
    throw InputError("task fake_quantize", "only values come and go", "leave packing= and layout= out");
  if (plan.layout) plan.scale_grid().check();
}

template <class Find, class Table>
auto require_named(const char* what, std::string_view word, Find find, const Table& table) {
  const auto found = find(word);
  if (found) return *found;
  std::vector<std::string_view> known;
  for (const auto& row : table) known.push_back(row.name);
  std::string all;
  for (const auto name : known) all += (all.empty() ? "" : ", ") + std::string(name);
  throw InputError(what + (" " + quoted(word)), "unknown", "choose from: " + all);
}

}  // namespace

ScaleGrid RecipePlan::scale_grid() const {
  const recipes::Blocks b = blocks();
  return {layout.value_or(ScaleLayout::linear), static_cast<std::uint64_t>(b.down()),
          static_cast<std::uint64_t>(b.across()), multiple};
}

std::string RecipePlan::value_format() const {
  for (const recipes::Step& step : recipe.value_steps) {
    if (step.result == recipe.value_reg && step.op != recipes::Op::cast &&
        step.precision == recipes::Precision::f64)
      return "f64";
  }
  return "f32";
}

bool RecipePlan::is_varied(std::string_view input) const {
  return std::any_of(varied.begin(), varied.end(),
                     [&](const VariedInput& one) { return one.name == input; });
}

bool is_recipe_spec(std::string_view spec) {
  return spec.starts_with(kPrefix);
}

RecipePlan parse_recipe_spec(std::string_view spec) {
  if (!is_recipe_spec(spec))
    throw InputError("SPEC " + quoted(spec), "not that of a recipe", "write recipe:NAME[,key=value]…");
  std::string_view rest = spec.substr(kPrefix.size());
  RecipePlan plan;
  plan.name = std::string(rest.substr(0, rest.find(',')));
  rest.remove_prefix(std::min(rest.size(), plan.name.size() + 1));
  plan.name = std::string(recipes::recipe_entry(plan.name).name);
  std::vector<std::pair<std::string, std::string>> named;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size())
      throw InputError("SPEC " + quoted(spec) + ", " + quoted(part), "not key=value",
                       "write e.g. shape=2x64");
    const std::string key(part.substr(0, equals));
    if (std::any_of(named.begin(), named.end(), [&](const auto& pair) { return pair.first == key; }))
      throw InputError("SPEC " + quoted(spec) + ", option '" + key.substr(0, 60) + "'", "given twice",
                       "give it once");
    named.emplace_back(key, part.substr(equals + 1));
  }
  const auto take = [&](std::string_view key) -> std::optional<std::string> {
    const auto found =
        std::find_if(named.begin(), named.end(), [&](const auto& pair) { return pair.first == key; });
    if (found == named.end()) return std::nullopt;
    const std::string value = found->second;
    named.erase(found);
    return value;
  };
  const auto to = take("to");
  plan.element = to ? std::string(require_format(*to).name) : recipes::recipe_elements(plan.name)[0];
  plan.recipe = to ? recipes::named_recipe(plan.name, plan.element) : recipes::named_recipe(plan.name);
  if (const auto block = take("block")) {
    plan.block = *block;
    plan.recipe = recipes::with_block(std::move(plan.recipe), *block);
  }
  if (const auto from = take("from")) plan.from_name = std::string(require_format(*from).name);
  if (std::find(std::begin(kSources), std::end(kSources), plan.from_name) == std::end(kSources))
    throw InputError("source " + plan.from_name, "recipes are not checked from it", "use f32, bf16 or f16");
  plan.from = require_format(plan.from_name).spec;
  if (const auto task = take("task"))
    plan.task = require_named("task", *task, value_named<Task>, kNames<Task>);
  default_shape(plan);
  if (const auto shape = take("shape")) parse_shape(plan, *shape);
  if (plan.rows * plan.columns > kMostElements)
    throw InputError("recipe " + plan.name, "a row of several blocks has too many elements",
                     "name a shape=RxC");
  if (const auto rows = take("rows")) {
    const auto count = count_of(*rows, std::int64_t{1} << 32);
    if (!count) throw InputError("rows " + quoted(*rows), "not a count", "write e.g. rows=32");
    plan.most_rows = static_cast<std::uint64_t>(*count);
  }
  if (const auto packing = take("packing"))
    plan.packing = require_named("packing", *packing, find_packing, kPackings);
  if (const auto layout = take("layout"))
    plan.layout = require_named("layout", *layout, find_scale_layout, kScaleLayouts);
  if (const auto multiple = take("multiple")) {
    const auto count = count_of(*multiple, 1 << 20);
    if (!count || !plan.layout || !kScaleLayouts[static_cast<std::size_t>(*plan.layout)].multiple_is_free)
      throw InputError("multiple " + quoted(*multiple), "not a padding of this layout",
                       "use layout=linear or layout=transposed with e.g. multiple=4");
    plan.multiple = static_cast<std::uint32_t>(*count);
  }
  if (const auto nan = take("nan"))
    plan.nan = require_named("nan", *nan, value_named<NanAnswers>, kNames<NanAnswers>);
  sort_inputs(plan, std::move(named));
  check(plan);
  return plan;
}

std::string spec_text(const RecipePlan& plan) {
  std::string text = std::string(kPrefix) + plan.name + ",to=" + plan.element;
  if (!plan.block.empty()) text += ",block=" + plan.block;
  text += ",from=" + plan.from_name;
  if (plan.task != Task::quantize) text += ",task=" + std::string(name_of(plan.task));
  text += ",shape=" + std::to_string(plan.rows) + "x" + std::to_string(plan.columns);
  if (plan.most_rows) text += ",rows=" + std::to_string(*plan.most_rows);
  if (plan.packing) text += ",packing=" + std::string(packing_name(*plan.packing));
  if (plan.layout) text += ",layout=" + std::string(scale_layout_name(*plan.layout));
  if (plan.multiple != 1) text += ",multiple=" + std::to_string(plan.multiple);
  if (plan.nan != NanAnswers::any) text += ",nan=" + std::string(name_of(plan.nan));
  for (const auto& [name, value] : plan.fixed_text) text += "," + name + "=" + value;
  for (const std::string& name : plan.asked_to_vary) text += "," + name + "=" + std::string(kVaried);
  return text;
}

}  // namespace halfulp::vectors
