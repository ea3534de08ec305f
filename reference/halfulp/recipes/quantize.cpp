// Runs recipes; see quantize.hpp.
#include "halfulp/recipes/quantize.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"

namespace halfulp::recipes {
namespace {

constexpr FormatSpec kF64 = spec_of("f64");
constexpr FormatSpec kF16 = spec_of("f16");
constexpr FormatSpec kBf16 = spec_of("bf16");
constexpr CastPolicy kIeee = {.overflow = Overflow::overflow};

double decode(const FormatSpec& format, std::uint64_t code) {
  return std::bit_cast<double>(cast(format, code, kF64, kIeee).code);
}

double rounded(double value, Precision precision) {
  switch (precision) {
    case Precision::f64: return value;
    case Precision::f32: return static_cast<double>(static_cast<float>(value));
    case Precision::f16: return decode(kF16, cast(kF64, std::bit_cast<std::uint64_t>(value), kF16, kIeee).code);
    case Precision::bf16: return decode(kBf16, cast(kF64, std::bit_cast<std::uint64_t>(value), kBf16, kIeee).code);
  }
  return value;
}

double literal_value(const std::string& literal) {
  const Literal parsed = parse_literal(literal);
  if (parsed.error != LiteralError::none) throw InputError("literal " + literal, "not a number", "write a decimal or a hex-float");
  return std::bit_cast<double>(cast(parsed.value, kF64, kIeee).code);
}

double pow2_floor(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  return std::copysign(std::ldexp(1.0, std::ilogb(value)), value);
}

double bits_add(double value, const std::string& amount) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<double>(std::bit_cast<float>(bits + static_cast<std::uint32_t>(literal_value(amount))));
}

/// C's fmin and fmax; of two zeros the minimum is -0 and the maximum +0.
double minimum(double p, double q) {
  if (p == 0 && q == 0) return std::signbit(p) ? p : q;
  return std::fmin(p, q);
}
double maximum(double p, double q) { return -minimum(-p, -q); }

/// One operation on numbers; the result is rounded to the step's precision where the operation rounds.
double apply(const Step& step, double p, double q, double r, double s) {
  switch (step.op) {
    case Op::constant: return rounded(literal_value(step.literal), step.precision);
    case Op::copy: return p;
    case Op::add: return rounded(p + q, step.precision);
    case Op::subtract: return rounded(p - q, step.precision);
    case Op::multiply: return rounded(p * q, step.precision);
    case Op::divide: return rounded(p / q, step.precision);
    case Op::negate: return -p;
    case Op::absolute: return std::fabs(p);
    case Op::minimum: return minimum(p, q);
    case Op::maximum: return maximum(p, q);
    case Op::fma:
      if (step.precision == Precision::f32) {
        return static_cast<double>(std::fma(static_cast<float>(p), static_cast<float>(q), static_cast<float>(r)));
      }
      return rounded(std::fma(p, q, r), step.precision);
    case Op::reciprocal_approx: return rounded(1.0 / p, step.precision);
    case Op::log2: return rounded(std::log2(p), step.precision);
    case Op::exp2: return rounded(std::exp2(p), step.precision);
    case Op::ceiling: return std::ceil(p);
    case Op::floor: return std::floor(p);
    case Op::truncate: return std::trunc(p);
    case Op::round_even: return std::nearbyint(p);
    case Op::round_away: return std::round(p);
    case Op::pow2_floor: return pow2_floor(p);
    case Op::pow2_ceil: return rounded(pow2_floor(p) == p ? p : 2 * pow2_floor(p), step.precision);
    case Op::bits_add: return bits_add(p, step.literal);
    case Op::select_zero: return p == 0 ? q : r;
    case Op::select_finite: return std::isfinite(p) ? q : r;
    case Op::select_nan: return std::isnan(p) ? q : r;
    case Op::select_less: return p < q ? r : s;
    case Op::cast:
    case Op::sum:
    case Op::largest:
    case Op::hadamard: break;
  }
  throw std::logic_error("not an operation on single numbers");
}

/// Walsh-Hadamard transform without the factor 1/sqrt(n): a butterfly is one rounded sum and one rounded difference.
std::vector<double> hadamard(std::vector<double> values, Precision precision) {
  for (std::size_t stride = 1; stride < values.size(); stride *= 2) {
    if (values.size() % (2 * stride) != 0) throw InputError("hadamard", "the length is not a power of two", "pad the tensor");
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((i & stride) != 0) continue;
      const double p = values[i], q = values[i + stride];
      values[i] = rounded(p + q, precision);
      values[i + stride] = rounded(p - q, precision);
    }
  }
  return values;
}

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
    const std::vector<double>& in = array(step.operands[0]);
    if (step.op == Op::hadamard) {
      array(step.result) = hadamard(in, step.precision);
      return;
    }
    double result = 0;
    for (const double value : in) {
      result = step.op == Op::sum ? rounded(result + value, step.precision) : maximum(result, std::fabs(value));
    }
    number(step.result) = result;
  }

  double operand(const Step& step, std::size_t which, std::size_t i) const {
    if (which >= step.operands.size()) return 0;
    const auto reg = static_cast<std::size_t>(step.operands[which]);
    return arrays_[reg].empty() ? numbers_[reg] : arrays_[reg][i];
  }

  double one(const Step& step, std::size_t i, std::vector<std::uint64_t>* codes, std::size_t where) const {
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
    low = std::fmin(low, value);
    high = std::fmax(high, value);
  }
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// The values of the inputs of one kind, for place `i` of it (element inputs are filled by place_inputs).
void set_inputs(const QuantRecipe& recipe, const Inputs& inputs, PerInput per, std::int64_t i, Registers& registers) {
  for (const Input& input : recipe.inputs) {
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

}  // namespace

Quantized quantize(const QuantRecipe& recipe, const TensorView& tensor, const Inputs& inputs) {
  Registers registers(recipe.registers);
  Quantized out;
  out.blocks = blocks_of(recipe, tensor.rows, tensor.columns);
  check_inputs(recipe, out.blocks, inputs);
  set_inputs(recipe, inputs, PerInput::tensor, 0, registers);
  out.codes.resize(tensor.values.size());
  const double first = literal_value(recipe.amax_start);

  std::vector<std::uint64_t> one(1);
  std::vector<std::uint64_t> block_codes, scratch;
  if (recipe.A >= 0 || recipe.LO >= 0 || recipe.HI >= 0) {
    Extremes e{.amax = first};
    for (const double value : tensor.values) e.add(value);
    set_extremes(recipe, e, recipe.A, recipe.LO, recipe.HI, registers);
  }
  for (const Step& step : recipe.steps) {
    if (step.scope != Scope::tensor) continue;
    registers.run(step, 0, &one);
    if (step.result == recipe.tensor_scale.reg) out.tensor_scale = one[0];
  }

  std::vector<double> values;
  for (std::int64_t i = 0; i < out.blocks.count(); ++i) {
    const Blocks::Range range = out.blocks[i];
    values.clear();
    for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
      const auto begin = tensor.values.begin() + row * tensor.columns + range.column;
      values.insert(values.end(), begin, begin + range.columns);
    }
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
    std::size_t next = 0;
    for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
      for (std::int64_t column = range.column; column < range.column + range.columns; ++column) {
        out.codes[static_cast<std::size_t>(row * tensor.columns + column)] = block_codes[next++];
      }
    }
  }
  return out;
}

std::vector<double> dequantize(const QuantRecipe& recipe, const Quantized& quantized, const Inputs& inputs) {
  Registers registers(recipe.registers);
  check_inputs(recipe, quantized.blocks, inputs);
  set_inputs(recipe, inputs, PerInput::tensor, 0, registers);
  if (quantized.tensor_scale) registers.set(recipe.tensor_scale.reg, decode(recipe.tensor_scale.format, *quantized.tensor_scale));
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
        out[static_cast<std::size_t>(row * quantized.blocks.columns + column)] =
            element ? registers.array(recipe.value_reg)[next] : registers.number(recipe.value_reg);
      }
    }
  }
  return out;
}

}  // namespace halfulp::recipes
