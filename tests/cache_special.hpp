// The special inputs of the cache recipes, and a recipe's answer on one as text.
#pragma once

#include <string>

#include "cache_recipes.hpp"
#include "halfulp/error.hpp"

namespace halfulp::test {

struct Special {
  std::string_view name;
  std::vector<double> values;
};

inline const std::vector<Special>& specials() {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                   kInf = std::numeric_limits<double>::infinity();
  static const std::vector<Special> all = {
      {"zeros", {0, -0.0, 0, 0}},
      {"NaN", {kNan, 448, -1, 0}},
      {"Inf", {kInf, -kInf, 1, 0}},
      {"half subnormals", {0x1p-24, -0x1p-23, 0, 0x1p-24}},
      {"subnormals", {0x1p-130, -0x1p-149, 0, 0}},
      {"half's largest", {65504, -65504, 1, 0}},
      {"largest", {0x1.fffffep+127, -0x1.fffffep+126, 1, 0}},
      {"constant", {3, 3, 3, 3}},
      {"one element", {3}},
  };
  return all;
}

inline std::string short_number(double x) {
  if (std::isnan(x)) return "nan";
  char text[40];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

/// `SCALE[:ZERO] CODE … = VALUE …[ kept N]` in hexadecimal; `refused` where the engine refuses. One block:
/// a row, or a column where the recipe's blocks are columns.
inline std::string answer(const recipes::QuantRecipe& recipe, const std::vector<double>& values) {
  using recipes::Granularity;
  const auto count = static_cast<std::int64_t>(values.size());
  const bool down = recipe.granularity == Granularity::column ||
                    (recipe.granularity == Granularity::tile && recipe.columns == 1);
  const recipes::TensorView view{down ? count : 1, down ? 1 : count, values};
  recipes::Inputs inputs;
  for (const recipes::Input& input : recipe.inputs) {
    if (input.name == "codebook") {
      for (std::int64_t i = 0; i < input.entries; ++i)
        inputs["codebook"].push_back(static_cast<double>(2 * i - 15) / 16);
    }
    if (input.name == "outlier_lower") inputs[input.name] = {-2};
    if (input.name == "outlier_upper") inputs[input.name] = {2};
  }
  std::string text;
  const auto add = [&](std::uint64_t code) {
    char word[32];
    std::snprintf(word, sizeof word, "%llx", static_cast<unsigned long long>(code));
    text += word;
  };
  try {
    const recipes::Quantized q = recipes::quantize(recipe, view, inputs);
    if (q != recipes::quantize_exact(recipe, view, inputs)) return "the twin disagrees";
    if (q.scales.empty())
      text += "-";
    else
      add(q.scales[0]);
    if (!q.zeros.empty()) {
      text += ":";
      add(q.zeros[0]);
    }
    for (const std::uint64_t code : q.codes) {
      text += " ";
      add(code);
    }
    text += " =";
    for (const double v : recipes::dequantize(recipe, q, inputs)) text += " " + short_number(v);
    if (!q.kept.empty()) text += " kept " + std::to_string(q.kept.size());
  } catch (const InputError&) {
    return "refused";
  }
  return text;
}

}  // namespace halfulp::test
