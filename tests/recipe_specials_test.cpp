// What every recipe gives for zeros, -0, NaN, Inf, subnormal and huge numbers, one element, a partial block
// and nothing: tests/data/recipe_specials.txt holds the documented results, engine and exact twin must both
// give them.
//
// A line is `RECIPE | INPUT | RESULT`. RESULT: [T=TENSOR SCALE] SCALE[:ZERO] CODE … = VALUE …[ kept N],
// stored words in hexadecimal, for the first (partial: the last) block, its first 4 elements; or `refused`;
// or `no blocks`.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/registry.hpp"
#include "recipe_twins.hpp"

namespace halfulp::test {
namespace {

using namespace halfulp::recipes;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();
constexpr double kLargest = 0x1.fffffep+127;

struct Special {
  const char* name;
  std::vector<double> values;
};
const std::vector<Special>& specials() {
  static const std::vector<Special> all = {{"zeros", {0, 0, 0, 0}},
                                           {"-0", {-0.0, -0.0, 1, 0}},
                                           {"NaN", {kNan, 448, -1, 0}},
                                           {"Inf", {kInf, -kInf, 1, 0}},
                                           {"NaN alone", {kNan, kNan, kNan, kNan}},
                                           {"subnormal", {0x1p-130, -0x1p-149, 0, 0}},
                                           {"huge", {kLargest, -kLargest / 2, 1, 0}},
                                           {"one element", {3}},
                                           {"partial", {0.75, -6}},
                                           {"empty", {}}};
  return all;
}

/// Values of the inputs that have no default.
Inputs required_inputs(const QuantRecipe& recipe) {
  Inputs inputs;
  for (const Input& input : recipe.inputs) {
    if (!input.default_literal.empty()) continue;
    std::vector<double>& values = inputs[input.name];
    if (input.name == "codebook") {
      for (std::int64_t i = 0; i < input.entries; ++i)
        values.push_back(in_format(spec_of("f32"), static_cast<double>(2 * i + 1 - input.entries) /
                                                       static_cast<double>(input.entries)));
    } else {
      values = {input.name == "scale"           ? 0.25
                : input.name == "outlier_lower" ? -2.0
                : input.name == "outlier_upper" ? 2.0
                : input.name == "random"        ? 0.0
                                                : 1.0};
    }
  }
  return inputs;
}

bool needs_whole_blocks(const QuantRecipe& recipe) {
  const auto any = [](const std::vector<recipes::Step>& steps, Op op) {
    return std::any_of(steps.begin(), steps.end(),
                       [op](const recipes::Step& step) { return step.op == op; });
  };
  return recipe.columns == 16 &&
         (any(recipe.transform_steps, Op::hadamard) || any(recipe.steps, Op::tree_sum));
}

/// The tensor of a special: one row, or a column where blocks are columns; `partial`: a block of ones
/// first. Recipes of whole blocks get the rest as zeros, but for the specials about sizes.
Tensor tensor_of(const QuantRecipe& recipe, const Special& special) {
  const std::string name = special.name;
  const bool down = recipe.granularity == Granularity::column ||
                    (recipe.granularity == Granularity::tile && recipe.columns == 1);
  std::vector<double> values = special.values;
  if (name == "partial")
    values.insert(values.begin(),
                  static_cast<std::size_t>(std::max({recipe.columns, down ? recipe.rows : 0, 0})), 1.0);
  const auto count = static_cast<std::int64_t>(values.size());
  if (needs_whole_blocks(recipe) && count == 4) {
    Tensor tensor = filled(std::max(recipe.rows, 1), recipe.columns, 0);
    std::copy(values.begin(), values.end(), tensor.values.begin());
    return tensor;
  }
  return {down ? count : (count > 0 ? 1 : 0), down ? 1 : count, std::move(values)};
}

std::string word(std::uint64_t code) {
  char text[24];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(code));
  return text;
}
std::string short_number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return std::isnan(x) ? "nan" : text;
}

std::string result_of(const QuantRecipe& recipe, const Special& special) {
  const Tensor tensor = tensor_of(recipe, special);
  const Inputs inputs = required_inputs(recipe);
  Quantized q;
  try {
    q = quantize(recipe, tensor.view(), inputs);
  } catch (const InputError&) {
    EXPECT_THROW(quantize_exact(recipe, tensor.view(), inputs), InputError)
        << recipe.name << ", " << special.name;
    return "refused";
  }
  EXPECT_EQ(q, quantize_exact(recipe, tensor.view(), inputs)) << recipe.name << ", " << special.name;
  const std::vector<double> values = dequantize(recipe, q, inputs);
  const std::vector<oracle::Value> truth = dequantize_exact(recipe, q, inputs);
  EXPECT_EQ(values.size(), truth.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(same_number(values[i], truth[i])) << recipe.name << ", " << special.name << " " << i;
  if (q.blocks.count() == 0) {
    EXPECT_TRUE(q.codes.empty() && q.scales.empty() && q.zeros.empty() && values.empty()) << recipe.name;
    return "no blocks";
  }
  const bool partial = std::string(special.name) == "partial";
  const auto block = static_cast<std::size_t>(partial ? q.blocks.count() - 1 : 0);
  const std::size_t first = partial ? q.codes.size() - special.values.size() : 0,
                    last = first + special.values.size();
  std::string text = q.tensor_scale ? "T=" + word(*q.tensor_scale) + " " : "";
  text += q.scales.empty() ? "-" : word(q.scales[block]);
  if (!q.zeros.empty()) text += ":" + word(q.zeros[block]);
  for (std::size_t i = first; i < last; ++i) text += " " + word(q.codes[i]);
  text += " =";
  for (std::size_t i = first; i < last; ++i) text += " " + short_number(values[i]);
  return q.kept.empty() ? text : text + " kept " + std::to_string(q.kept.size());
}

TEST(RecipeSpecials, EveryRecipeGivesItsDocumentedResults) {
  std::map<std::string, std::string> documented;
  std::ifstream file(HALFULP_SOURCE_DIR "/tests/data/recipe_specials.txt");
  for (std::string line; std::getline(file, line);) {
    const std::size_t result = line.rfind(" | ");
    if (line[0] == '#') continue;
    ASSERT_NE(result, std::string::npos) << line;
    EXPECT_TRUE(documented.emplace(line.substr(0, result), line.substr(result + 3)).second) << line;
  }
  const std::string actual = testing::TempDir() + "recipe_specials.txt";
  std::ofstream out(actual);
  std::size_t rows = 0;
  for (const std::string_view name : recipe_names()) {
    for (const Special& special : specials()) {
      const std::string key = std::string(name) + " | " + special.name,
                        result = result_of(named_recipe(name), special);
      out << key << " | " << result << "\n";
      const auto found = documented.find(key);
      if (found == documented.end()) {
        ADD_FAILURE() << key << ": no documented result; it gives " << result
                      << "; all results: " << actual;
      } else {
        EXPECT_EQ(result, found->second) << key;
      }
      ++rows;
    }
  }
  EXPECT_EQ(rows, documented.size()) << "documented results of recipes that are gone";
}

TEST(RecipeSpecials, EveryOtherElementAgreesWithItsTwin) {
  int checked = 0;
  for (const std::string_view name : recipe_names()) {
    const std::vector<std::string> elements = recipe_elements(name);
    for (std::size_t i = 1; i < elements.size(); ++i) {
      for (const Special& special : specials())
        EXPECT_FALSE(result_of(named_recipe(name, elements[i]), special).empty());
      ++checked;
    }
  }
  EXPECT_GE(checked, 30);
}

}  // namespace
}  // namespace halfulp::test
