// Runs recipes; see quantize.hpp.
#include "halfulp/recipes/quantize.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/operations.hpp"

namespace halfulp::recipes {
namespace {

constexpr FormatSpec kF64 = spec_of("f64");

/// Registers of one run: a number per tensor or block register, an array per element register.
class Registers {
 public:
  explicit Registers(int count) : numbers_(static_cast<std::size_t>(count)), arrays_(static_cast<std::size_t>(count)) {}

  double& number(int reg) { return numbers_[static_cast<std::size_t>(reg)]; }
  std::vector<double>& array(int reg) { return arrays_[static_cast<std::size_t>(reg)]; }
  void set(int reg, double value) {
    if (reg >= 0) number(reg) = value;
  }

  /// Runs a step. Element steps run over `elements` values; a cast leaves its codes in `codes` when it is not null.
  void run(const Step& step, std::size_t elements, std::vector<std::uint64_t>* codes) {
    if (is_collective(step.op)) return run_collective(step);
    if (step.scope != Scope::element) {
      number(step.result) = one(step, 0, codes, 0);
      return;
    }
    std::vector<double>& out = array(step.result);
    out.resize(elements);
    for (std::size_t i = 0; i < elements; ++i) out[i] = one(step, i, codes, i);
  }

 private:
  void run_collective(const Step& step) {
    std::vector<double> results = apply_collective(step, array(step.operands[0]), operand(step, 1, 0));
    if (step.scope == Scope::element) array(step.result) = std::move(results);
    else number(step.result) = results[0];
  }

  const std::vector<double>& table(const Step& step, std::size_t which) const {
    return arrays_[static_cast<std::size_t>(step.operands[which])];
  }

  double operand(const Step& step, std::size_t which, std::size_t i) const {
    if (which >= step.operands.size()) return 0;
    const auto reg = static_cast<std::size_t>(step.operands[which]);
    return arrays_[reg].empty() ? numbers_[reg] : arrays_[reg][i];
  }

  double one(const Step& step, std::size_t i, std::vector<std::uint64_t>* codes, std::size_t where) const {
    if (step.op == Op::nearest_entry) return nearest_entry(step, operand(step, 0, i), table(step, 1));
    if (step.op == Op::entry) return table(step, 0)[static_cast<std::size_t>(operand(step, 1, i))];
    if (step.op != Op::cast) return apply(step, operand(step, 0, i), operand(step, 1, i), operand(step, 2, i), operand(step, 3, i));
    const CastResult result = cast(kF64, std::bit_cast<std::uint64_t>(operand(step, 0, i)), step.target, step.policy);
    if (result.refusal != Refusal::none) {
      const auto [why, mend] = refusal_text(result.refusal);
      throw InputError("recipe step '" + step.text + "'", std::string(why), "keep such values out of the tensor");
    }
    if (codes != nullptr) (*codes)[where] = result.code;
    return decode(step.target, result.code);
  }

  std::vector<double> numbers_;
  std::vector<std::vector<double>> arrays_;
};

struct Extremes {
  double amax, low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  bool nan = false;
  void add(double value) {
    nan = nan || std::isnan(value);
    amax = std::fmax(amax, std::fabs(value));
    if (value < low) low = value;  // the first of two zeros stays
    if (value > high) high = value;
  }
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The values of the inputs of one kind, for place `i` of it (element inputs are filled by place_inputs).
void set_inputs(const QuantRecipe& recipe, const Inputs& inputs, PerInput per, std::int64_t i, Registers& registers) {
  for (const Input& input : recipe.inputs) {
    if (per == PerInput::tensor && input.per == PerInput::table) registers.array(input.reg) = inputs.at(input.name);
    if (input.per != per) continue;
    const auto given = inputs.find(input.name);
    if (given == inputs.end()) registers.number(input.reg) = literal_value(input.default_literal);
    else registers.number(input.reg) = given->second.size() == 1 ? given->second[0] : given->second[static_cast<std::size_t>(i)];
  }
}

/// Inputs per column or element, for the elements of a block.
void place_inputs(const QuantRecipe& recipe, const Inputs& inputs, const Blocks& blocks, const Blocks::Range& range,
                  Registers& registers) {
  for (const Input& input : recipe.inputs) {
    if (input.per != PerInput::column && input.per != PerInput::element) continue;
    const auto given = inputs.find(input.name);
    const bool one = given == inputs.end() || given->second.size() == 1;
    const double single = given == inputs.end() ? literal_value(input.default_literal) : given->second[0];
    std::vector<double>& array = registers.array(input.reg);
    array.clear();
    for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
      for (std::int64_t column = range.column; column < range.column + range.columns; ++column) {
        const std::int64_t place = input.per == PerInput::column ? column : row * blocks.columns + column;
        array.push_back(one ? single : given->second[static_cast<std::size_t>(place)]);
      }
    }
  }
}

void set_extremes(const QuantRecipe& recipe, const Extremes& e, int amax, int low, int high, Registers& registers) {
  const bool poisoned = e.nan && recipe.amax_propagates_nan;
  registers.set(amax, poisoned ? kNan : e.amax);
  registers.set(low, poisoned ? kNan : e.low);
  registers.set(high, poisoned ? kNan : e.high);
}

/// The elements of a block in row-major order.
std::vector<double> elements_of(const std::vector<double>& tensor, std::int64_t columns, const Blocks::Range& range) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(range.rows * range.columns));
  for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
    const auto begin = tensor.begin() + row * columns + range.column;
    values.insert(values.end(), begin, begin + range.columns);
  }
  return values;
}

/// Puts the elements of a block back in their places.
template <class Number>
void place(const std::vector<Number>& values, std::int64_t columns, const Blocks::Range& range, std::vector<Number>& tensor) {
  for (std::int64_t row = 0; row < range.rows; ++row) {
    const auto from = values.begin() + row * range.columns;
    std::copy(from, from + range.columns, tensor.begin() + (range.row + row) * columns + range.column);
  }
}

/// Every x: the tensor's own elements, or what the recipe's transform makes of them.
std::vector<double> elements_x(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs, const Blocks& blocks,
                               Registers& registers) {
  std::vector<double> all(tensor.values.begin(), tensor.values.end());
  if (recipe.transform_reg < 0) return all;
  for (const Step& step : recipe.transform_steps) {
    if (step.scope == Scope::tensor) registers.run(step, 0, nullptr);
  }
  for (std::int64_t i = 0; i < blocks.count(); ++i) {
    const Blocks::Range range = blocks[i];
    registers.array(recipe.given) = elements_of(all, tensor.columns, range);
    place_inputs(recipe, inputs, blocks, range, registers);
    const std::size_t count = registers.array(recipe.given).size();
    for (const Step& step : recipe.transform_steps) {
      if (step.scope != Scope::tensor) registers.run(step, count, nullptr);
    }
    place(registers.array(recipe.transform_reg), tensor.columns, range, all);
  }
  return all;
}

}  // namespace

std::vector<double> transformed(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs) {
  Registers registers(recipe.registers);
  const Blocks blocks = blocks_of(recipe, tensor.rows, tensor.columns);
  check_inputs(recipe, blocks, inputs);
  check_block_sizes(recipe, blocks, recipe.transform_steps);
  set_inputs(recipe, inputs, PerInput::tensor, 0, registers);
  return elements_x(recipe, tensor, inputs, blocks, registers);
}

Quantized quantize(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs) {
  Registers registers(recipe.registers);
  Quantized out;
  out.blocks = blocks_of(recipe, tensor.rows, tensor.columns);
  check_inputs(recipe, out.blocks, inputs);
  check_block_sizes(recipe, out.blocks, recipe.transform_steps);
  check_block_sizes(recipe, out.blocks, recipe.steps);
  set_inputs(recipe, inputs, PerInput::tensor, 0, registers);
  out.codes.resize(tensor.values.size());
  const double first = literal_value(recipe.amax_start);
  const std::vector<double> all = elements_x(recipe, tensor, inputs, out.blocks, registers);

  std::vector<std::uint64_t> one(1);
  std::vector<std::uint64_t> block_codes, scratch;
  if (recipe.A >= 0 || recipe.LO >= 0 || recipe.HI >= 0) {
    Extremes e{.amax = first};
    for (const double value : all) e.add(value);
    set_extremes(recipe, e, recipe.A, recipe.LO, recipe.HI, registers);
    if (const auto amax = given_value(inputs, kTensorAmax)) registers.set(recipe.A, *amax);
    if (recipe.A >= 0) out.tensor_amax = registers.number(recipe.A);
  }
  for (const Step& step : recipe.steps) {
    if (step.scope != Scope::tensor) continue;
    registers.run(step, 0, &one);
    if (step.result != recipe.tensor_scale.reg) continue;
    if (const auto scale = given_value(inputs, kTensorScale)) {
      one[0] = cast(kF64, std::bit_cast<std::uint64_t>(*scale), recipe.tensor_scale.format, recipe.tensor_scale.policy).code;
      registers.set(step.result, decode(recipe.tensor_scale.format, one[0]));
    }
    out.tensor_scale = one[0];
  }

  for (std::int64_t i = 0; i < out.blocks.count(); ++i) {
    const Blocks::Range range = out.blocks[i];
    const std::vector<double> values = elements_of(all, tensor.columns, range);
    Extremes e{.amax = first};
    for (const double value : values) e.add(value);
    set_extremes(recipe, e, recipe.a, recipe.lo, recipe.hi, registers);
    set_inputs(recipe, inputs, PerInput::block, i, registers);
    place_inputs(recipe, inputs, out.blocks, range, registers);
    if (recipe.x >= 0) registers.array(recipe.x) = values;
    block_codes.assign(values.size(), 0);
    scratch.assign(values.size(), 0);
    for (const Step& step : recipe.steps) {  // in order: block steps may come from elements (sum, largest)
      if (step.scope == Scope::tensor) continue;
      registers.run(step, values.size(), step.scope == Scope::block ? &one : step.result == recipe.code.reg ? &block_codes : &scratch);
      if (step.result == recipe.scale.reg) out.scales.push_back(one[0]);
      if (step.result == recipe.zero.reg) out.zeros.push_back(one[0]);
    }
    place(block_codes, tensor.columns, range, out.codes);
    for (std::size_t n = 0; recipe.keep_reg >= 0 && n < values.size(); ++n) {
      if (registers.array(recipe.keep_reg)[n] == 0) continue;
      const auto width = static_cast<std::size_t>(range.columns);
      const std::int64_t index = (range.row + static_cast<std::int64_t>(n / width)) * tensor.columns + range.column +
                                 static_cast<std::int64_t>(n % width);
      out.kept.push_back({index, tensor.values[static_cast<std::size_t>(index)]});
    }
  }
  return out;
}

std::vector<double> dequantize(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs) {
  Registers registers(recipe.registers);
  check_inputs(recipe, quantized.blocks, inputs);
  check_block_sizes(recipe, quantized.blocks, recipe.value_steps);
  set_inputs(recipe, inputs, PerInput::tensor, 0, registers);
  if (quantized.tensor_scale) registers.set(recipe.tensor_scale.reg, decode(recipe.tensor_scale.format, *quantized.tensor_scale));
  registers.set(recipe.A, tensor_amax_of(recipe, quantized, inputs).value_or(0));
  for (const Step& step : recipe.value_steps) {
    if (step.scope == Scope::tensor) registers.run(step, 0, nullptr);
  }
  std::vector<double> out(quantized.codes.size());
  std::vector<double> values;
  for (std::int64_t i = 0; i < quantized.blocks.count(); ++i) {
    const Blocks::Range range = quantized.blocks[i];
    values.clear();
    for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
      for (std::int64_t column = range.column; column < range.column + range.columns; ++column) {
        values.push_back(decode(recipe.code.format, quantized.codes[static_cast<std::size_t>(row * quantized.blocks.columns + column)]));
      }
    }
    if (recipe.scale.reg >= 0) registers.set(recipe.scale.reg, decode(recipe.scale.format, quantized.scales[static_cast<std::size_t>(i)]));
    if (recipe.zero.reg >= 0) registers.set(recipe.zero.reg, decode(recipe.zero.format, quantized.zeros[static_cast<std::size_t>(i)]));
    set_inputs(recipe, inputs, PerInput::block, i, registers);
    place_inputs(recipe, inputs, quantized.blocks, range, registers);
    registers.array(recipe.v) = values;
    for (const Step& step : recipe.value_steps) {
      if (step.scope != Scope::tensor) registers.run(step, values.size(), nullptr);
    }
    const bool element = !registers.array(recipe.value_reg).empty();
    std::size_t next = 0;
    for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
      for (std::int64_t column = range.column; column < range.column + range.columns; ++column, ++next) {
        const double value = element ? registers.array(recipe.value_reg)[next] : registers.number(recipe.value_reg);
        // Processors differ in the sign of a NaN that they make.
        out[static_cast<std::size_t>(row * quantized.blocks.columns + column)] = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
      }
    }
  }
  for (const Kept& kept : quantized.kept) out[static_cast<std::size_t>(kept.index)] = kept.value;
  return out;
}

}  // namespace halfulp::recipes
