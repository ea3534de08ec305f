// Runs recipes on exact values; see quantize_exact.hpp.
#include "halfulp/recipes/quantize_exact.hpp"

#include <cmath>

#include "halfulp/recipes/exact_operations.hpp"

namespace halfulp::recipes {
namespace {

using oracle::Value;
using oracle::ValueClass;

/// A binary64 number as an exact value, signs of zeros kept.
Value value_of_double(double x) {
  if (x != x) return oracle::nan_value(false);
  const bool negative = std::signbit(x);
  if (std::isinf(x)) return oracle::infinity_value(negative);
  return x == 0 ? oracle::zero_value(negative) : oracle::value_from(oracle::Exact::from_double(x));
}

Value magnitude(Value v) {
  v.negative = false;
  return v;
}

/// Largest magnitude, minimum and maximum of some values, NaNs left out and counted.
struct Extremes {
  Value amax, low = oracle::infinity_value(false), high = oracle::infinity_value(true);
  bool nan = false;
  void add(const Value& v) {
    if (v.cls == ValueClass::nan) {
      nan = true;
      return;
    }
    if (less(amax, magnitude(v))) amax = magnitude(v);
    if (less(v, low)) low = v;
    if (less(high, v)) high = v;
  }
};

/// The registers of a run; element registers are computed one element at a time.
class Run {
 public:
  Run(const QuantRecipe& recipe, const Inputs& inputs)
      : recipe_(recipe), inputs_(inputs), registers_(static_cast<std::size_t>(recipe.registers)) {
    set_inputs(PerInput::tensor, 0);
  }

  /// The values of the inputs of one kind, for place `i` of it.
  void set_inputs(PerInput per, std::int64_t i) {
    for (const Input& input : recipe_.inputs) {
      if (input.per != per) continue;
      const auto given = inputs_.find(input.name);
      if (given == inputs_.end()) {
        set(input.reg, literal_exact(input.default_literal, Precision::f64));
      } else {
        set(input.reg, value_of_double(given->second.size() == 1 ? given->second[0] : given->second[static_cast<std::size_t>(i)]));
      }
    }
  }

  /// Those of one element.
  void set_element_inputs(std::int64_t row, std::int64_t column, std::int64_t columns) {
    set_inputs(PerInput::column, column);
    set_inputs(PerInput::element, row * columns + column);
  }

  void set(int reg, const Value& value) {
    if (reg >= 0) registers_[static_cast<std::size_t>(reg)] = value;
  }
  const Value& get(int reg) const { return registers_[static_cast<std::size_t>(reg)]; }

  void set_extremes(const Extremes& e, int amax, int low, int high) {
    const bool poisoned = e.nan && recipe_.amax_propagates_nan;
    set(amax, poisoned ? oracle::nan_value(false) : e.amax);
    set(low, poisoned ? oracle::nan_value(false) : e.low);
    set(high, poisoned ? oracle::nan_value(false) : e.high);
  }

  /// Runs the steps of one scope; `stored` maps results that are kept to the places for their codes.
  void run(const std::vector<Step>& steps, Scope scope, const std::map<int, std::uint64_t*>& stored) {
    for (const Step& step : steps) {
      if (step.scope != scope) continue;
      std::vector<Value> operands;
      for (const int reg : step.operands) operands.push_back(get(reg));
      const auto place = stored.find(step.result);
      set(step.result, apply_exact(step, operands, place == stored.end() ? nullptr : place->second));
    }
  }

 private:
  const QuantRecipe& recipe_;
  const Inputs& inputs_;
  std::vector<Value> registers_;
};

}  // namespace

Quantized quantize_exact(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs) {
  Quantized out;
  out.blocks = blocks_of(recipe, tensor.rows, tensor.columns);
  check_inputs(recipe, out.blocks, inputs);
  Run run(recipe, inputs);
  out.codes.resize(tensor.values.size());
  const Value start = literal_exact(recipe.amax_start, Precision::f64);
  const auto at = [&](std::int64_t row, std::int64_t column) { return static_cast<std::size_t>(row * tensor.columns + column); };

  Extremes whole{.amax = start};
  for (const double x : tensor.values) whole.add(value_of_double(x));
  run.set_extremes(whole, recipe.A, recipe.LO, recipe.HI);
  std::uint64_t tensor_code = 0;
  run.run(recipe.steps, Scope::tensor, {{recipe.tensor_scale.reg, &tensor_code}});
  if (recipe.tensor_scale.reg >= 0) out.tensor_scale = tensor_code;

  for (std::int64_t i = 0; i < out.blocks.count(); ++i) {
    const Blocks::Range range = out.blocks[i];
    Extremes e{.amax = start};
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) e.add(value_of_double(tensor.values[at(r, c)]));
    }
    run.set_extremes(e, recipe.a, recipe.lo, recipe.hi);
    run.set_inputs(PerInput::block, i);
    std::uint64_t scale = 0, zero = 0;
    run.run(recipe.steps, Scope::block, {{recipe.scale.reg, &scale}, {recipe.zero.reg, &zero}});
    if (recipe.scale.reg >= 0) out.scales.push_back(scale);
    if (recipe.zero.reg >= 0) out.zeros.push_back(zero);
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
        run.set(recipe.x, value_of_double(tensor.values[at(r, c)]));
        run.set_element_inputs(r, c, tensor.columns);
        run.run(recipe.steps, Scope::element, {{recipe.code.reg, &out.codes[at(r, c)]}});
      }
    }
  }
  return out;
}

std::vector<Value> dequantize_exact(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs) {
  check_inputs(recipe, quantized.blocks, inputs);
  Run run(recipe, inputs);
  if (quantized.tensor_scale) run.set(recipe.tensor_scale.reg, oracle::value_of(recipe.tensor_scale.format, *quantized.tensor_scale));
  run.run(recipe.value_steps, Scope::tensor, {});
  std::vector<Value> out(quantized.codes.size());
  for (std::int64_t i = 0; i < quantized.blocks.count(); ++i) {
    const Blocks::Range range = quantized.blocks[i];
    const auto block = static_cast<std::size_t>(i);
    if (recipe.scale.reg >= 0) run.set(recipe.scale.reg, oracle::value_of(recipe.scale.format, quantized.scales[block]));
    if (recipe.zero.reg >= 0) run.set(recipe.zero.reg, oracle::value_of(recipe.zero.format, quantized.zeros[block]));
    run.set_inputs(PerInput::block, i);
    run.run(recipe.value_steps, Scope::block, {});
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
        const auto at = static_cast<std::size_t>(r * quantized.blocks.columns + c);
        run.set_element_inputs(r, c, quantized.blocks.columns);
        run.set(recipe.v, oracle::value_of(recipe.code.format, quantized.codes[at]));
        run.run(recipe.value_steps, Scope::element, {});
        out[at] = run.get(recipe.value_reg);
      }
    }
  }
  return out;
}

}  // namespace halfulp::recipes
