// Prints recipes; see step_text.hpp.
#include "halfulp/recipes/step_text.hpp"

#include <array>
#include <cstdio>

#include "halfulp/names.hpp"
#include "halfulp/recipes/operations.hpp"

namespace halfulp::recipes {
namespace {

struct OpText {
  Op op;
  std::string_view name;  ///< infix when it is one of + - * /
  bool rounds;
};
constexpr auto kOps = std::to_array<OpText>({
    {Op::add, "+", true},           {Op::subtract, "-", true},      {Op::multiply, "*", true},
    {Op::divide, "/", true},        {Op::negate, "negate", false},  {Op::absolute, "abs", false},
    {Op::minimum, "min", false},    {Op::maximum, "max", false},    {Op::fma, "fma", true},
    {Op::log2, "log2", true},       {Op::exp2, "exp2", true},       {Op::reciprocal_approx, "rcp_approx", true},
    {Op::ceiling, "ceil", false},   {Op::floor, "floor", false},    {Op::truncate, "trunc", false},
    {Op::round_even, "rne", false}, {Op::round_away, "rha", false}, {Op::pow2_floor, "pow2_floor", false},
    {Op::pow2_ceil, "pow2_ceil", true}, {Op::bits_add, "bits_add", false}, {Op::select_zero, "if_zero", false},
    {Op::select_finite, "if_finite", false}, {Op::select_nan, "if_nan", false}, {Op::select_less, "if_less", false},
    {Op::sum, "sum", true},         {Op::largest, "largest", false}, {Op::hadamard, "hadamard", true},
    {Op::flip_signs, "flip_signs", false}, {Op::tree_sum, "tree_sum", true},
    {Op::copy_sign, "copysign", false},
    {Op::square_root, "sqrt", true}, {Op::count, "count", false},   {Op::peak, "peak", false},
    {Op::lowest, "lowest", false},  {Op::highest, "highest", false}, {Op::median, "median", false},
    {Op::quantile, "quantile", true}, {Op::nearest_entry, "nearest", true}, {Op::entry, "entry", false},
});

std::string_view precision_name(Precision precision) {
  constexpr std::string_view names[] = {"f16", "bf16", "f32", "f64"};
  return names[static_cast<std::size_t>(precision)];
}

/// What a register is called: a variable, a literal, or %N.
std::string register_name(const QuantRecipe& recipe, int reg) {
  const std::pair<int, std::string_view> given[] = {{recipe.x, "x"}, {recipe.a, "a"}, {recipe.lo, "lo"}, {recipe.hi, "hi"},
                                                   {recipe.given, "x"},
                                                   {recipe.A, "A"}, {recipe.LO, "LO"}, {recipe.HI, "HI"}, {recipe.v, "v"}};
  for (const auto& [known, name] : given) {
    if (known == reg) return std::string(name);
  }
  for (const Input& input : recipe.inputs) {
    if (input.reg == reg) return input.name;
  }
  for (const auto* steps : {&recipe.transform_steps, &recipe.steps, &recipe.value_steps}) {
    for (const Step& step : *steps) {
      if (step.result != reg) continue;
      if (step.op == Op::constant) return step.literal;
      if (!step.name.empty()) return step.name;
    }
  }
  return "%" + std::to_string(reg);
}

std::string cast_text(const Step& step) {
  std::string text = std::string(halfulp::name_of(step.policy.rounding)) + ", " + std::string(halfulp::name_of(step.policy.overflow));
  if (step.policy.nan_none != NanNone::error) text += ", " + std::string(halfulp::name_of(step.policy.nan_none));
  return text;
}

/// Hex-float constants among a step's operands in decimal: `, 0x1.a36e2ep-14 ≈ 0.0001`.
std::string decimals_text(const QuantRecipe& recipe, const Step& step) {
  std::string text;
  for (const int reg : step.operands) {
    const std::string name = register_name(recipe, reg);
    if (!name.starts_with("0x") && !name.starts_with("-0x")) continue;
    char decimal[40];
    std::snprintf(decimal, sizeof decimal, "%.6g", literal_value(name));
    text += "   " + name + " ≈ " + decimal;
  }
  return text;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string steps_text(const QuantRecipe& recipe, const std::vector<Step>& steps, int& number) {
  std::string text;
  for (const Step& step : steps) {
    if (step.op == Op::constant) continue;
    const StepText s = step_text(recipe, step);
    text += padded("  " + std::to_string(++number), 5) + padded(s.per, 8) + " " + padded(s.result + " = " + s.operation, 46) + " " +
            s.precision + (s.precision.empty() || s.rounding.empty() ? "" : ", ") + s.rounding +
            (s.exact ? "" : ", any result within one ulp is admissible") + decimals_text(recipe, step) + "\n";
  }
  return text;
}

}  // namespace

StepText step_text(const QuantRecipe& recipe, const Step& step) {
  StepText text;
  constexpr std::string_view scopes[] = {"tensor", "block", "element"};
  text.per = scopes[static_cast<std::size_t>(step.scope)];
  text.result = step.result == recipe.code.reg ? "code" : step.name.empty() ? "%" + std::to_string(step.result) : step.name;
  std::vector<std::string> operands;
  for (const int reg : step.operands) operands.push_back(register_name(recipe, reg));
  text.exact = step.op != Op::reciprocal_approx && step.op != Op::log2 && step.op != Op::exp2;
  if (step.op == Op::constant || step.op == Op::copy) {
    text.operation = step.op == Op::constant ? step.literal : operands[0];
    return text;
  }
  if (step.op == Op::cast) {
    text.operation = step.target_name + "(" + operands[0] + ")";
    text.rounding = cast_text(step);
    return text;
  }
  for (const OpText& op : kOps) {
    if (op.op != step.op) continue;
    if (op.name.size() == 1) {
      text.operation = operands[0] + " " + std::string(op.name) + " " + operands[1];
    } else {
      text.operation = std::string(op.name) + "(";
      for (std::size_t i = 0; i < operands.size(); ++i) text.operation += (i ? ", " : "") + operands[i];
      text.operation += (step.op == Op::bits_add || step.op == Op::flip_signs ? ", " + step.literal : "") + ")";
    }
    if (op.rounds) {
      text.precision = precision_name(step.precision);
      text.rounding = "ties_to_even";
    }
  }
  return text;
}

std::string name_of(PerInput per) {
  constexpr std::string_view names[] = {"tensor", "block", "column", "element", "table"};
  return std::string(names[static_cast<std::size_t>(per)]);
}

std::string granularity_text(const QuantRecipe& recipe) {
  switch (recipe.granularity) {
    case Granularity::tensor: return "tensor";
    case Granularity::row: return "row";
    case Granularity::column: return "column";
    case Granularity::group: return std::to_string(recipe.columns) + " of k";
    case Granularity::tile: break;
  }
  return std::to_string(recipe.rows) + " x " + std::to_string(recipe.columns);
}

std::string recipe_text(const NamedRecipe& entry, const QuantRecipe& recipe) {
  std::string text = std::string(entry.name) + " (" + std::string(entry.mark) + ")\n";
  if (!entry.note.empty()) text += "  " + std::string(entry.note) + "\n";
  text += "  one scale per " + granularity_text(recipe) + "; amax " + (recipe.amax_propagates_nan ? "propagates" : "drops") +
          " NaN and starts at " + recipe.amax_start + "\n";
  for (const Input& input : recipe.inputs) {
    text += "  input " + input.name + " per " + name_of(input.per) +
            (input.default_literal.empty() ? ", required" : ", default " + input.default_literal) + "\n";
  }
  int number = 0;
  if (recipe.transform_reg >= 0) {
    text += "transform\n" + steps_text(recipe, recipe.transform_steps, number) + "  x, a, A and what follows are those of " +
            register_name(recipe, recipe.transform_reg) + "\n";
  }
  text += "quantize\n" + steps_text(recipe, recipe.steps, number);
  text += "dequantize\n" + steps_text(recipe, recipe.value_steps, number);
  for (const std::string& fact : recipe.facts) text += "fact: " + fact + "\n";
  text += recipe.exact_steps() ? "every step has one right answer\n" : "steps marked above have several admissible results\n";
  return text;
}

}  // namespace halfulp::recipes
