// Makes inputs; see row_inputs.hpp.
#include "halfulp/vectors/blocks/row_inputs.hpp"

#include <algorithm>
#include <limits>

#include "halfulp/recipes/quantize.hpp"

namespace halfulp::vectors::blocks {
namespace {

using recipes::PerInput;

double in_f32(double x) { return in_format(spec_of("f32"), x); }

struct Range {
  double low = 0, high = 0;
  double amax() const { return std::fmax(-low, high); }
};

Range range_of(const Tensor& tensor, const recipes::Blocks& blocks, std::int64_t block) {
  Range range;
  for_each_place(blocks, block, [&](std::size_t place) {
    const double x = tensor.values[place];
    if (!std::isfinite(x)) return;
    range.low = std::fmin(range.low, x);
    range.high = std::fmax(range.high, x);
  });
  return range;
}

/// A positive number that f16 holds; now and then zero.
double some_factor(Random& random) {
  const double mantissa = 1 + in_format(spec_of("e2m3"), random.uniform());
  const double value = std::ldexp(mantissa, random.between(-6, 4));
  return random.below(24) == 0 ? 0 : value;
}

/// A static scale for a block: most elements in range, some clipped.
double some_scale(const RecipePlan& plan, double amax, Random& random) {
  const double top = number_of(plan.recipe.code.format, plan.recipe.code.format.largest_magnitude());
  const double mantissa = 1 + random.uniform();
  const double fit = amax > 0 ? amax / top : 1;
  switch (random.below(8)) {
    case 0: return 0;
    case 1: return std::ldexp(1.0, random.between(-20, 8));
    case 2: return in_f32(std::fmin(fit * 0.25 * mantissa, 0x1p+126));  // clips
    default: return in_f32(std::fmin(fit * mantissa, 0x1p+126));
  }
}

std::vector<double> sorted_table(std::int64_t entries, Random& random) {
  std::vector<double> table(static_cast<std::size_t>(entries));
  for (double& entry : table) entry = in_f32(2 * random.uniform() - 1);
  std::sort(table.begin(), table.end());
  table.front() = -1;
  table.back() = 1;
  if (entries > 2 && random.below(3) == 0) table[1] = table[2];  // two entries equally near
  return table;
}

double tensor_amax_for(const Tensor& tensor, Random& random) {
  double amax = 0;
  for (const double x : tensor.values) amax = std::isfinite(x) ? std::fmax(amax, std::fabs(x)) : amax;
  const double mantissa = random.below(2) == 0 ? 1 : 1 + random.uniform();
  return in_f32(std::fmin(std::fmax(amax, 0x1p-100) * std::ldexp(mantissa, random.between(0, 12)), 0x1.fffffep+127));
}

std::size_t places(const RecipePlan& plan, const VariedInput& input) {
  switch (input.per) {
    case PerInput::block: return static_cast<std::size_t>(plan.blocks().count());
    case PerInput::column: return static_cast<std::size_t>(plan.columns);
    case PerInput::element: return plan.elements();
    case PerInput::tensor:
    case PerInput::table: break;
  }
  return 1;
}

/// A value that fits no particular tensor.
double plain_value(const VariedInput& input, Random& random) {
  if (input.per == PerInput::element) return static_cast<double>(random.below(256));
  if (input.name == "mean") {
    const double wide = random.normal();
    return in_format(spec_of("f16"), wide * std::ldexp(1.0, random.between(-4, 4)));
  }
  return some_factor(random);
}

/// The recipe's own tensor scale for the tensor, or one beside it.
double tensor_scale_for(const RecipePlan& plan, const Tensor& tensor, Random& random) {
  recipes::QuantRecipe recipe = plan.recipe;
  recipes::Inputs inputs;
  for (const auto& [name, value] : plan.fixed) inputs[name] = {value};
  for (const recipes::Input& input : recipe.inputs) {
    if (input.default_literal.empty() && !inputs.contains(input.name)) inputs[input.name] = {0};
  }
  const auto q = recipes::quantize(recipe, tensor.view(), inputs);
  const double scale = number_of(recipe.tensor_scale.format, *q.tensor_scale);
  const double kept = std::isfinite(scale) && scale > 0 ? scale : 1;
  return random.below(2) == 0 ? kept : in_f32(std::fmin(kept * (1 + random.uniform()), 0x1p+126));
}

}  // namespace

recipes::Inputs varied_inputs(const RecipePlan& plan, const Tensor& tensor, Random& random) {
  recipes::Inputs inputs;
  const recipes::Blocks blocks = plan.blocks();
  for (const VariedInput& input : plan.varied) {
    std::vector<double>& values = inputs[input.name];
    if (input.per == PerInput::table) {
      values = sorted_table(input.entries, random);
      continue;
    }
    if (input.name == recipes::kTensorAmax || input.name == recipes::kTensorScale) {
      values = {input.name == recipes::kTensorAmax ? tensor_amax_for(tensor, random) : tensor_scale_for(plan, tensor, random)};
      continue;
    }
    for (std::size_t i = 0; i < places(plan, input); ++i) {
      const bool tensor_wide = input.per == PerInput::tensor;
      if (input.name == "scale" || input.name == "k_scale") {
        Range whole;
        for (std::int64_t b = 0; b < blocks.count(); ++b) {
          const Range one = range_of(tensor, blocks, b);
          if (tensor_wide || b == static_cast<std::int64_t>(i)) {
            whole.low = std::fmin(whole.low, one.low);
            whole.high = std::fmax(whole.high, one.high);
          }
        }
        values.push_back(some_scale(plan, whole.amax(), random));
      } else if (input.name == "outlier_lower" || input.name == "outlier_upper") {
        const Range range = range_of(tensor, blocks, static_cast<std::int64_t>(i));
        const double end = input.name == "outlier_lower" ? range.low : range.high;
        values.push_back(in_f32(std::fmax(std::fmin(end * 0.75, 1e30), -1e30)));
      } else {
        values.push_back(plain_value(input, random));
      }
    }
  }
  return inputs;
}

recipes::Inputs varied_inputs(const RecipePlan& plan, Random& random) {
  recipes::Inputs inputs;
  for (const VariedInput& input : plan.varied) {
    std::vector<double>& values = inputs[input.name];
    if (input.per == PerInput::table) {
      values = sorted_table(input.entries, random);
    } else if (input.name == recipes::kTensorAmax) {
      const double mantissa = 1 + random.uniform();
      values = {in_f32(std::ldexp(mantissa, random.between(-20, 20)))};
    } else {
      for (std::size_t i = 0; i < places(plan, input); ++i) values.push_back(plain_value(input, random));
    }
  }
  return inputs;
}

}  // namespace halfulp::vectors::blocks
