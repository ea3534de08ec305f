// Runs recipes on exact values; see quantize_exact.hpp.
#include "halfulp/recipes/quantize_exact.hpp"

#include <bit>
#include <cmath>

#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
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

/// A number of binary64 as one.
double double_of(const Value& value) {
  return std::bit_cast<double>(oracle::nearest(value, spec_of("f64"), {.overflow = Overflow::overflow}).code);
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

/// The registers of a run: tensor and block registers hold one value, element registers one per element of the block.
class Run {
 public:
  Run(const QuantRecipe& recipe, const Inputs& inputs)
      : recipe_(recipe), inputs_(inputs), registers_(static_cast<std::size_t>(recipe.registers)) {
    set_inputs(PerInput::tensor, 0);
  }

  /// The values of the inputs of one kind, for place `i` of it.
  void set_inputs(PerInput per, std::int64_t i) {
    for (const Input& input : recipe_.inputs) {
      if (input.per == per) set(input.reg, input_value(input, i));
      if (per != PerInput::tensor || input.per != PerInput::table) continue;
      std::vector<Value> entries;
      for (const double entry : inputs_.at(input.name)) entries.push_back(value_of_double(entry));
      set_elements(input.reg, entries);
    }
  }

  /// Those per column or element, for a block.
  void place_inputs(const Blocks::Range& range, std::int64_t columns) {
    for (const Input& input : recipe_.inputs) {
      if (input.per != PerInput::column && input.per != PerInput::element) continue;
      std::vector<Value> values;
      for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
        for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
          values.push_back(input_value(input, input.per == PerInput::column ? c : r * columns + c));
        }
      }
      set_elements(input.reg, values);
    }
  }

  void set(int reg, const Value& value) {
    if (reg >= 0) registers_[static_cast<std::size_t>(reg)] = {value};
  }
  void set_elements(int reg, std::vector<Value> values) {
    if (reg >= 0) registers_[static_cast<std::size_t>(reg)] = std::move(values);
  }
  /// The value of a register for element `i`; tensor and block registers have one for all.
  const Value& get(int reg, std::size_t i) const {
    const std::vector<Value>& values = registers_[static_cast<std::size_t>(reg)];
    return values.size() == 1 ? values[0] : values[i];
  }

  void set_extremes(const Extremes& e, int amax, int low, int high) {
    const bool poisoned = e.nan && recipe_.amax_propagates_nan;
    set(amax, poisoned ? oracle::nan_value(false) : e.amax);
    set(low, poisoned ? oracle::nan_value(false) : e.low);
    set(high, poisoned ? oracle::nan_value(false) : e.high);
  }

  /// Shows a step that has just run.
  void show(const Step& step, std::int64_t block, const StepObserver& observer) const {
    if (!observer) return;
    StepTrace trace{&step, block, {}, registers_[static_cast<std::size_t>(step.result)]};
    for (const int reg : step.operands) trace.operands.push_back(registers_[static_cast<std::size_t>(reg)]);
    observer(trace);
  }

  /// Replaces the tensor's elements by what the recipe's transform makes of them.
  void transform(const Blocks& blocks, std::vector<Value>& all) {
    std::vector<std::uint64_t> codes;
    for (const Step& step : recipe_.transform_steps) {
      if (step.scope == Scope::tensor) run(step, 0, codes);
    }
    for (std::int64_t i = 0; i < blocks.count(); ++i) {
      const Blocks::Range range = blocks[i];
      std::vector<std::size_t> places;
      for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
        for (std::int64_t c = range.column; c < range.column + range.columns; ++c) places.push_back(static_cast<std::size_t>(r * blocks.columns + c));
      }
      std::vector<Value> block;
      for (const std::size_t place : places) block.push_back(all[place]);
      set_elements(recipe_.given, block);
      place_inputs(range, blocks.columns);
      for (const Step& step : recipe_.transform_steps) {
        if (step.scope != Scope::tensor) run(step, places.size(), codes);
      }
      for (std::size_t n = 0; n < places.size(); ++n) all[places[n]] = get(recipe_.transform_reg, n);
    }
  }

  /// Runs a step for `elements` elements; a cast leaves its codes in `codes`.
  void run(const Step& step, std::size_t elements, std::vector<std::uint64_t>& codes) {
    if (is_collective(step.op)) {
      const std::vector<Value>& in = registers_[static_cast<std::size_t>(step.operands[0])];
      set_elements(step.result, collective_exact(step, in, step.operands.size() > 1 ? get(step.operands[1], 0) : Value{}));
      return;
    }
    const std::size_t count = step.scope == Scope::element ? elements : 1;
    std::vector<Value> results(count);
    codes.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (step.op == Op::nearest_entry) {
        const std::size_t index = nearest_entry_exact(step, get(step.operands[0], i), entries(step.operands[1]));
        results[i] = oracle::value_from(oracle::Exact(static_cast<std::int64_t>(index)));
        continue;
      }
      if (step.op == Op::entry) {
        const auto index = get(step.operands[1], i).number().to_int64().value();
        results[i] = entries(step.operands[0])[static_cast<std::size_t>(index)];
        continue;
      }
      std::vector<Value> operands;
      for (const int reg : step.operands) operands.push_back(get(reg, i));
      results[i] = apply_exact(step, operands, &codes[i]);
    }
    set_elements(step.result, std::move(results));
  }

 private:
  const std::vector<Value>& entries(int reg) const { return registers_[static_cast<std::size_t>(reg)]; }

  Value input_value(const Input& input, std::int64_t i) const {
    const auto given = inputs_.find(input.name);
    if (given == inputs_.end()) return literal_exact(input.default_literal, Precision::f64);
    return value_of_double(given->second.size() == 1 ? given->second[0] : given->second[static_cast<std::size_t>(i)]);
  }

  const QuantRecipe& recipe_;
  const Inputs& inputs_;
  std::vector<std::vector<Value>> registers_;
};

}  // namespace

Quantized quantize_exact(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs) {
  return observe_exact(recipe, tensor, inputs, {});
}

Quantized observe_exact(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs, const StepObserver& observer) {
  Quantized out;
  out.blocks = blocks_of(recipe, tensor.rows, tensor.columns);
  check_inputs(recipe, out.blocks, inputs);
  check_block_sizes(recipe, out.blocks, recipe.transform_steps);
  check_block_sizes(recipe, out.blocks, recipe.steps);
  Run run(recipe, inputs);
  out.codes.resize(tensor.values.size());
  const Value start = literal_exact(recipe.amax_start, Precision::f64);
  const auto at = [&](std::int64_t row, std::int64_t column) { return static_cast<std::size_t>(row * tensor.columns + column); };

  std::vector<std::uint64_t> codes;
  std::vector<Value> all;
  for (const double x : tensor.values) all.push_back(value_of_double(x));
  if (recipe.transform_reg >= 0) run.transform(out.blocks, all);
  Extremes whole{.amax = start};
  for (const Value& x : all) whole.add(x);
  run.set_extremes(whole, recipe.A, recipe.LO, recipe.HI);
  const auto amax = given_value(inputs, kTensorAmax), scale = given_value(inputs, kTensorScale);
  if (amax) run.set(recipe.A, value_of_double(*amax));
  if (recipe.A >= 0) out.tensor_amax = double_of(run.get(recipe.A, 0));
  for (const Step& step : recipe.steps) {
    if (step.scope != Scope::tensor) continue;
    run.run(step, 0, codes);
    run.show(step, -1, observer);
    if (step.result != recipe.tensor_scale.reg) continue;
    const FormatSpec& stored = recipe.tensor_scale.format;
    out.tensor_scale = scale ? oracle::nearest(value_of_double(*scale), stored, recipe.tensor_scale.policy).code : codes[0];
    run.set(step.result, oracle::value_of(stored, *out.tensor_scale));
  }

  for (std::int64_t i = 0; i < out.blocks.count(); ++i) {
    const Blocks::Range range = out.blocks[i];
    Extremes e{.amax = start};
    std::vector<Value> values;
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
        values.push_back(all[at(r, c)]);
        e.add(values.back());
      }
    }
    run.set_extremes(e, recipe.a, recipe.lo, recipe.hi);
    run.set_inputs(PerInput::block, i);
    run.place_inputs(range, tensor.columns);
    run.set_elements(recipe.x, values);
    for (const Step& step : recipe.steps) {
      if (step.scope == Scope::tensor) continue;
      run.run(step, values.size(), codes);
      run.show(step, i, observer);
      if (step.result == recipe.scale.reg) out.scales.push_back(codes[0]);
      if (step.result == recipe.zero.reg) out.zeros.push_back(codes[0]);
      if (step.result != recipe.code.reg) continue;
      std::size_t next = 0;
      for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
        for (std::int64_t c = range.column; c < range.column + range.columns; ++c) out.codes[at(r, c)] = codes[next++];
      }
    }
    for (std::size_t n = 0; recipe.keep_reg >= 0 && n < values.size(); ++n) {
      const Value& flag = run.get(recipe.keep_reg, n);
      const auto width = static_cast<std::size_t>(range.columns);
      const std::int64_t index = (range.row + static_cast<std::int64_t>(n / width)) * tensor.columns + range.column +
                                 static_cast<std::int64_t>(n % width);
      if (flag.cls != ValueClass::zero) out.kept.push_back({index, tensor.values[static_cast<std::size_t>(index)]});
    }
  }
  return out;
}

std::vector<Value> dequantize_exact(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs) {
  check_inputs(recipe, quantized.blocks, inputs);
  check_block_sizes(recipe, quantized.blocks, recipe.value_steps);
  Run run(recipe, inputs);
  std::vector<std::uint64_t> codes;
  if (quantized.tensor_scale) run.set(recipe.tensor_scale.reg, oracle::value_of(recipe.tensor_scale.format, *quantized.tensor_scale));
  run.set(recipe.A, value_of_double(tensor_amax_of(recipe, quantized, inputs).value_or(0)));
  for (const Step& step : recipe.value_steps) {
    if (step.scope == Scope::tensor) run.run(step, 0, codes);
  }
  std::vector<Value> out(quantized.codes.size());
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * quantized.blocks.columns + column);
  };
  for (std::int64_t i = 0; i < quantized.blocks.count(); ++i) {
    const Blocks::Range range = quantized.blocks[i];
    const auto block = static_cast<std::size_t>(i);
    if (recipe.scale.reg >= 0) run.set(recipe.scale.reg, oracle::value_of(recipe.scale.format, quantized.scales[block]));
    if (recipe.zero.reg >= 0) run.set(recipe.zero.reg, oracle::value_of(recipe.zero.format, quantized.zeros[block]));
    run.set_inputs(PerInput::block, i);
    run.place_inputs(range, quantized.blocks.columns);
    std::vector<Value> values;
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) {
        values.push_back(oracle::value_of(recipe.code.format, quantized.codes[at(r, c)]));
      }
    }
    run.set_elements(recipe.v, values);
    for (const Step& step : recipe.value_steps) {
      if (step.scope != Scope::tensor) run.run(step, values.size(), codes);
    }
    std::size_t next = 0;
    for (std::int64_t r = range.row; r < range.row + range.rows; ++r) {
      for (std::int64_t c = range.column; c < range.column + range.columns; ++c) out[at(r, c)] = run.get(recipe.value_reg, next++);
    }
  }
  for (const Kept& kept : quantized.kept) out[static_cast<std::size_t>(kept.index)] = value_of_double(kept.value);
  return out;
}

}  // namespace halfulp::recipes
