// Steps, their registers and scopes, variables, and the formats of casts.
#include "halfulp/recipes/parse_steps.hpp"

#include <algorithm>
#include <array>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/names.hpp"

namespace halfulp::recipes {
namespace {

struct Given {
  std::string_view name;
  int QuantRecipe::*reg;
  Scope scope;
};
constexpr auto kGiven = std::to_array<Given>({{"x", &QuantRecipe::x, Scope::element},
                                              {"a", &QuantRecipe::a, Scope::block},
                                              {"lo", &QuantRecipe::lo, Scope::block},
                                              {"hi", &QuantRecipe::hi, Scope::block},
                                              {"A", &QuantRecipe::A, Scope::tensor},
                                              {"LO", &QuantRecipe::LO, Scope::tensor},
                                              {"HI", &QuantRecipe::HI, Scope::tensor}});

}  // namespace

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

void StepBuilder::fail(const std::string& why) const {
  throw InputError("recipe " + recipe.name + ", line " + std::to_string(line_number), why,
                   "see reference/halfulp/recipes/parse.hpp for the text form");
}

void StepBuilder::define(const std::string& name, int reg, Scope scope) {
  variables_[name] = reg;
  scopes_[reg] = scope;
}

int StepBuilder::variable(const std::string& name) {
  if (name == "inf") return emit_literal("inf");
  if (name == "levels") {
    const auto format = find_format(element);
    if (!format || format->spec.encoding != Encoding::twos_complement)
      fail("levels needs an integer element");
    return emit_literal(std::to_string(format->spec.largest_magnitude() >> format->spec.fraction_bits));
  }
  if (const auto known = variables_.find(name); known != variables_.end()) return known->second;
  for (const Given& given : kGiven) {
    if (given.name != name) continue;
    recipe.*given.reg = recipe.registers++;
    define(name, recipe.*given.reg, given.scope);
    return recipe.*given.reg;
  }
  fail("unknown variable " + name);
}

void StepBuilder::parse_target(std::string_view word, Step& step) const {
  std::string_view name = word.substr(0, word.find(':'));
  const std::size_t written = name.size();
  if (name == "element") name = element;
  const auto format = find_format(name);
  if (!format) fail("unknown format " + std::string(name));
  step.target_name = name;
  step.target = format->spec;
  const bool wide = format->spec.encoding == Encoding::floating && format->spec.width > 8;
  if (wide) step.policy.overflow = Overflow::overflow;
  std::string_view words = word.size() > written ? word.substr(written + 1) : std::string_view{};
  while (!words.empty()) {
    const std::string_view option = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), option.size() + 1));
    if (const auto r = value_named<Rounding>(option))
      step.policy.rounding = *r;
    else if (const auto o = value_named<Overflow>(option))
      step.policy.overflow = *o;
    else if (const auto s = value_named<NanSign>(option))
      step.policy.nan_sign = *s;
    else if (option == "nan_code=ones")
      step.policy.nan_code = NanCode::ones;
    else if (option == "zero=min")
      step.policy.zero = ZeroInto::min;
    else if (option == "negative=abs")
      step.policy.negative = Negative::abs;
    else if (option == "negative=zero")
      step.policy.negative = Negative::zero;
    else if (const auto n = value_named<NanNone>(option))
      step.policy.nan_none = *n;
    else
      fail("unknown word " + std::string(option));
  }
}

int StepBuilder::emit(Step step) {
  step.text = text;
  step.result = recipe.registers++;
  scopes_[step.result] = step.scope;
  current().push_back(step);
  return step.result;
}

int StepBuilder::emit(Op op, std::vector<int> operands) {
  Step step;
  step.op = op;
  step.precision = precision;
  for (const int operand : operands) step.scope = std::max(step.scope, scope_of(operand));
  step.operands = std::move(operands);
  if (is_collective(op) && scope_of(step.operands[0]) != Scope::element)
    fail("sums, maxima, … take elements");
  if (is_collective(op) && op != Op::hadamard && op != Op::flip_signs) step.scope = Scope::block;
  if (op == Op::nearest_entry || op == Op::entry) {
    const int table = step.operands[op == Op::entry ? 0 : 1];
    const auto is_table = [&](const Input& input) {
      return input.reg == table && input.per == PerInput::table;
    };
    if (std::none_of(recipe.inputs.begin(), recipe.inputs.end(), is_table))
      fail("nearest and entry take an input table");
  }
  return emit(step);
}

int StepBuilder::emit_literal(std::string_view literal) {
  Step step;
  step.op = Op::constant;
  step.precision = precision;
  step.literal = literal;
  return emit(step);
}

}  // namespace halfulp::recipes
