// Text to steps: statements by line, expressions by recursive descent, one step per operation.
#include "halfulp/recipes/parse.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/names.hpp"

namespace halfulp::recipes {
namespace {

struct Function {
  std::string_view name;
  Op op;
  int operands;
};
constexpr auto kFunctions = std::to_array<Function>({
    {"min", Op::minimum, 2},           {"max", Op::maximum, 2},        {"fma", Op::fma, 3},
    {"abs", Op::absolute, 1},          {"rcp_approx", Op::reciprocal_approx, 1}, {"copysign", Op::copy_sign, 2},
    {"log2", Op::log2, 1},             {"exp2", Op::exp2, 1},          {"ceil", Op::ceiling, 1},
    {"floor", Op::floor, 1},           {"trunc", Op::truncate, 1},     {"rne", Op::round_even, 1},
    {"rha", Op::round_away, 1},        {"pow2_floor", Op::pow2_floor, 1}, {"pow2_ceil", Op::pow2_ceil, 1},
    {"if_zero", Op::select_zero, 3},   {"if_finite", Op::select_finite, 3},
    {"if_nan", Op::select_nan, 3},     {"if_less", Op::select_less, 4},
    {"sqrt", Op::square_root, 1},      {"count", Op::count, 1},        {"peak", Op::peak, 1},
    {"lowest", Op::lowest, 1},         {"highest", Op::highest, 1},    {"median", Op::median, 1},
    {"quantile", Op::quantile, 2},     {"nearest", Op::nearest_entry, 2}, {"entry", Op::entry, 2},
    {"sum", Op::sum, 1},               {"largest", Op::largest, 1},    {"hadamard", Op::hadamard, 1},
});

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

class Parser {
 public:
  Parser(const std::string& name, std::string_view text) : source_(text) { recipe_.name = name; }

  QuantRecipe parse() {
    while (!source_.empty()) {
      std::string_view line = source_.substr(0, source_.find('\n'));
      source_.remove_prefix(std::min(source_.size(), line.size() + 1));
      ++line_number_;
      line = trimmed(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      recipe_.text += std::string(line) + "\n";
      statement(line);
    }
    if (recipe_.code.reg < 0) fail("no `code` statement");
    if (recipe_.value_reg < 0) fail("no `value` statement");
    for (Input& input : recipe_.inputs) {
      if (input.per == PerInput::table) input.entries = std::int64_t{1} << recipe_.code.format.width;
    }
    return std::move(recipe_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw InputError("recipe " + recipe_.name + ", line " + std::to_string(line_number_), why,
                     "see reference/halfulp/recipes/parse.hpp for the text form");
  }

  std::vector<Step>& current() { return in_transform_ ? recipe_.transform_steps : in_value_ ? recipe_.value_steps : recipe_.steps; }

  static std::string_view trimmed(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
    return s;
  }

  static std::string_view take_word(std::string_view& rest) {
    rest = trimmed(rest);
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest = trimmed(rest.substr(word.size()));
    return word;
  }

  int take_int(std::string_view& rest) const {
    const std::string_view word = take_word(rest);
    int value = 0;
    for (const char c : word) {
      if (c < '0' || c > '9' || value > 1 << 20) fail("not a count: " + std::string(word));
      value = value * 10 + (c - '0');
    }
    if (value == 0) fail("a count must be positive");
    return value;
  }

  Precision precision_named(std::string_view word) const {
    constexpr std::pair<std::string_view, Precision> names[] = {
        {"f16", Precision::f16}, {"bf16", Precision::bf16}, {"f32", Precision::f32}, {"f64", Precision::f64}};
    for (const auto& [name, precision] : names) {
      if (name == word) return precision;
    }
    fail("unknown precision " + std::string(word));
  }

  void statement(std::string_view line) {
    text_ = line;
    precision_ = recipe_.precision;
    if (const auto at = line.rfind('@'); at != std::string_view::npos) {
      precision_ = precision_named(trimmed(line.substr(at + 1)));
      line = trimmed(line.substr(0, at));
    }
    std::string_view rest = line;
    const std::string_view word = take_word(rest);
    if (word == "granularity") return granularity(rest);
    if (word == "precision") {
      recipe_.precision = precision_named(rest);
    } else if (word == "fact") {
      recipe_.facts.emplace_back(rest);
    } else if (word == "amax") {
      const std::string_view nan = take_word(rest);
      if (nan != "drop" && nan != "propagate") fail("amax takes drop or propagate");
      recipe_.amax_propagates_nan = nan == "propagate";
      if (!rest.empty()) recipe_.amax_start = rest;
    } else if (word == "element") {
      while (!rest.empty()) {
        recipe_.elements.emplace_back(take_word(rest));
        if (!find_format(recipe_.elements.back())) fail("unknown format " + recipe_.elements.back());
      }
      element_ = recipe_.elements.at(0);
    } else if (word == "keep") {
      recipe_.keep_reg = whole_expression(rest);
      if (scope_of_[recipe_.keep_reg] != Scope::element) fail("keep takes elements");
    } else if (word == "input") {
      input(rest);
    } else if (word == "transform") {
      transform(rest);
    } else if (word == "tensor_scale") {
      store(rest, recipe_.tensor_scale, "T", Scope::tensor);
    } else if (word == "scale") {
      store(rest, recipe_.scale, "S", Scope::block);
    } else if (word == "zero") {
      store(rest, recipe_.zero, "Z", Scope::block);
    } else if (word == "code") {
      store(rest, recipe_.code, "", Scope::element);
    } else if (word == "value") {
      in_value_ = true;
      recipe_.v = recipe_.registers++;
      define("v", recipe_.v, Scope::element);
      recipe_.value_reg = whole_expression(rest);
    } else if (take_word(rest) == "=") {
      const int reg = whole_expression(rest);
      define(std::string(word), reg, scope_of_[reg]);
      auto& steps = current();
      if (!steps.empty() && steps.back().result == reg) steps.back().name = word;
    } else {
      fail("not a statement");
    }
  }

  void input(std::string_view rest) {
    Input input;
    input.name = take_word(rest);
    Scope scope = Scope::tensor;
    if (rest == "table") {
      input.per = PerInput::table;
      rest = {};
    }
    if (rest.substr(0, 4) == "per ") {
      take_word(rest);
      const std::string_view per = take_word(rest);
      if (per == "block") input.per = PerInput::block;
      else if (per == "column") input.per = PerInput::column;
      else if (per == "element") input.per = PerInput::element;
      else fail("an input is per block, column or element");
      scope = per == "block" ? Scope::block : Scope::element;
    }
    if (!rest.empty()) {
      if (take_word(rest) != "=" || rest.empty()) fail("expected = and a default");
      input.default_literal = rest;
    }
    input.reg = recipe_.registers++;
    define(input.name, input.reg, scope);
    recipe_.inputs.push_back(input);
  }

  /// From here on x, and the extremes made from it, are those of the result.
  void transform(std::string_view rest) {
    if (recipe_.registers != static_cast<int>(recipe_.inputs.size())) fail("a transform stands before all steps");
    in_transform_ = true;
    recipe_.transform_reg = whole_expression(rest);
    in_transform_ = false;
    if (scope_of_[recipe_.transform_reg] != Scope::element) fail("a transform makes elements");
    recipe_.given = std::exchange(recipe_.x, -1);
    variables_.erase("x");
  }

  void granularity(std::string_view rest) {
    const std::string_view word = take_word(rest);
    if (word == "tensor") recipe_.granularity = Granularity::tensor;
    else if (word == "row") recipe_.granularity = Granularity::row;
    else if (word == "column") recipe_.granularity = Granularity::column;
    else if (word == "group") { recipe_.granularity = Granularity::group; recipe_.rows = 1; recipe_.columns = take_int(rest); }
    else if (word == "tile") {
      recipe_.granularity = Granularity::tile;
      recipe_.rows = take_int(rest);
      recipe_.columns = take_int(rest);
    } else {
      fail("unknown granularity " + std::string(word));
    }
  }

  void define(const std::string& name, int reg, Scope scope) {
    variables_[name] = reg;
    scope_of_[reg] = scope;
  }

  /// `FORMAT[:words] EXPR`: rounds, keeps the code, and defines `name` as the value of the code.
  void store(std::string_view rest, Stored& stored, const std::string& name, Scope scope) {
    if (stored.reg >= 0) fail("stored twice");
    Step step;
    parse_target(take_word(rest), step);
    stored.format_name = step.target_name;
    stored.format = step.target;
    stored.policy = step.policy;
    const int operand = whole_expression(rest);
    step.op = Op::cast;
    step.operands = {operand};
    step.scope = std::max(scope, scope_of_[operand]);
    if (step.scope != scope) fail("the stored value varies more often than it is stored");
    step.name = name;
    stored.reg = emit(step);
    if (!name.empty()) define(name, stored.reg, scope);
  }

  void parse_target(std::string_view word, Step& step) const {
    std::string_view name = word.substr(0, word.find(':'));
    const std::size_t written = name.size();
    if (name == "element") name = element_;
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
      if (const auto r = value_named<Rounding>(option)) step.policy.rounding = *r;
      else if (const auto o = value_named<Overflow>(option)) step.policy.overflow = *o;
      else if (const auto s = value_named<NanSign>(option)) step.policy.nan_sign = *s;
      else if (option == "nan_code=ones") step.policy.nan_code = NanCode::ones;
      else if (option == "zero=min") step.policy.zero = ZeroInto::min;
      else if (option == "negative=abs") step.policy.negative = Negative::abs;
      else if (option == "negative=zero") step.policy.negative = Negative::zero;
      else if (const auto n = value_named<NanNone>(option)) step.policy.nan_none = *n;
      else fail("unknown word " + std::string(option));
    }
  }

  int emit(Step step) {
    step.text = text_;
    step.result = recipe_.registers++;
    scope_of_[step.result] = step.scope;
    current().push_back(step);
    return step.result;
  }

  int emit(Op op, std::vector<int> operands) {
    Step step;
    step.op = op;
    step.precision = precision_;
    for (const int operand : operands) step.scope = std::max(step.scope, scope_of_[operand]);
    step.operands = std::move(operands);
    if (is_collective(op) && scope_of_[step.operands[0]] != Scope::element) fail("sums, maxima, … take elements");
    if (is_collective(op) && op != Op::hadamard && op != Op::flip_signs) step.scope = Scope::block;
    if (op == Op::nearest_entry || op == Op::entry) {
      const int table = step.operands[op == Op::entry ? 0 : 1];
      const auto is_table = [&](const Input& input) { return input.reg == table && input.per == PerInput::table; };
      if (std::none_of(recipe_.inputs.begin(), recipe_.inputs.end(), is_table)) fail("nearest and entry take an input table");
    }
    return emit(step);
  }

  int emit_literal(std::string_view literal) {
    Step step;
    step.op = Op::constant;
    step.precision = precision_;
    step.literal = literal;
    return emit(step);
  }

  // ---- expressions ----

  int whole_expression(std::string_view text) {
    in_ = text;
    const int reg = sum();
    skip();
    if (!in_.empty()) fail("unexpected '" + std::string(in_) + "'");
    return reg;
  }

  void skip() { in_ = trimmed(in_); }
  bool take(char c) {
    skip();
    if (in_.empty() || in_.front() != c) return false;
    in_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "' before '" + std::string(in_) + "'");
  }

  int sum() {
    int left = product();
    for (;;) {
      if (take('+')) left = emit(Op::add, {left, product()});
      else if (take('-')) left = emit(Op::subtract, {left, product()});
      else return left;
    }
  }

  int product() {
    int left = primary();
    for (;;) {
      if (take('*')) left = emit(Op::multiply, {left, primary()});
      else if (take('/')) left = emit(Op::divide, {left, primary()});
      else return left;
    }
  }

  int primary() {
    if (take('-')) {
      skip();
      if (!in_.empty() && (std::isdigit(static_cast<unsigned char>(in_.front())))) return emit_literal("-" + number());
      return emit(Op::negate, {primary()});
    }
    if (take('(')) {
      const int reg = sum();
      expect(')');
      return reg;
    }
    skip();
    if (in_.empty()) fail("an expression ends too early");
    if (std::isdigit(static_cast<unsigned char>(in_.front()))) return emit_literal(number());
    const std::string name = identifier();
    if (name.empty()) fail("unexpected '" + std::string(in_) + "'");
    if (take('(')) return call(name);
    return variable(name);
  }

  std::string number() {
    std::size_t n = 0;
    while (n < in_.size() && (std::isalnum(static_cast<unsigned char>(in_[n])) || in_[n] == '.' ||
                              ((in_[n] == '-' || in_[n] == '+') && n > 0 && (in_[n - 1] == 'p' || in_[n - 1] == 'e')))) {
      ++n;
    }
    const std::string text(in_.substr(0, n));
    in_.remove_prefix(n);
    return text;
  }

  std::string identifier() {
    std::size_t n = 0;
    while (n < in_.size() && (std::isalnum(static_cast<unsigned char>(in_[n])) || in_[n] == '_')) ++n;
    const std::string text(in_.substr(0, n));
    in_.remove_prefix(n);
    return text;
  }

  int variable(const std::string& name) {
    if (name == "inf") return emit_literal("inf");
    if (name == "levels") {
      const auto format = find_format(element_);
      if (!format || format->spec.encoding != Encoding::twos_complement) fail("levels needs an integer element");
      return emit_literal(std::to_string(format->spec.largest_magnitude() >> format->spec.fraction_bits));
    }
    if (const auto known = variables_.find(name); known != variables_.end()) return known->second;
    for (const Given& given : kGiven) {
      if (given.name != name) continue;
      recipe_.*given.reg = recipe_.registers++;
      define(name, recipe_.*given.reg, given.scope);
      return recipe_.*given.reg;
    }
    fail("unknown variable " + name);
  }

  int call(const std::string& name) {
    if (name == "to") {
      skip();
      const std::string_view target = in_.substr(0, in_.find(' '));
      in_.remove_prefix(target.size());
      Step step;
      parse_target(target, step);
      step.op = Op::cast;
      step.operands = {sum()};
      step.scope = scope_of_[step.operands[0]];
      expect(')');
      return emit(step);
    }
    if (name == "clamp" || name == "clamp_nan") {
      const int y = sum();
      expect(',');
      const int m = sum();
      expect(')');
      const int clamped = emit(Op::maximum, {emit(Op::minimum, {y, m}), emit(Op::negate, {m})});
      return name == "clamp" ? clamped : emit(Op::select_nan, {y, y, clamped});
    }
    if (name == "bits_add" || name == "flip_signs") {
      const int y = sum();
      expect(',');
      skip();
      const std::string amount = number();
      expect(')');
      const int reg = emit(name == "bits_add" ? Op::bits_add : Op::flip_signs, {y});
      current().back().literal = amount;
      return reg;
    }
    for (const Function& function : kFunctions) {
      if (function.name != name) continue;
      std::vector<int> operands;
      for (int i = 0; i < function.operands; ++i) {
        if (i > 0) expect(',');
        operands.push_back(sum());
      }
      expect(')');
      return emit(function.op, operands);
    }
    fail("unknown function " + name);
  }

  QuantRecipe recipe_;
  std::string_view source_;
  std::string element_;
  std::string_view in_;
  std::string text_;
  int line_number_ = 0;
  Precision precision_ = Precision::f32;
  bool in_value_ = false, in_transform_ = false;
  std::map<std::string, int> variables_;
  std::map<int, Scope> scope_of_;
};

}  // namespace

QuantRecipe parse_recipe(const std::string& name, std::string_view text) { return Parser(name, text).parse(); }

std::string text_with_element(std::string_view text, std::string_view element) {
  std::string result(text);
  constexpr std::string_view word = "element ";
  std::size_t at = result.find(word);
  while (at != std::string::npos && at != 0 && result[at - 1] != '\n') at = result.find(word, at + 1);
  const std::size_t end = at == std::string::npos ? at : result.find('\n', at);
  std::string others;
  bool known = false;
  for (std::size_t i = at == std::string::npos ? at : at + word.size(); i < end;) {
    const std::size_t stop = std::min(result.find(' ', i), end);
    const std::string each = result.substr(i, stop - i);
    if (each == element) known = true;
    else others += " " + each;
    i = stop + 1;
  }
  if (!known) throw InputError("element '" + std::string(element.substr(0, 40)) + "'", "not one of this recipe's elements",
                               "`halfulp recipes NAME` lists them");
  return result.replace(at, end - at, std::string(word) + std::string(element) + others);
}

bool QuantRecipe::exact_steps() const {
  const auto approximate = [](const Step& s) { return s.op == Op::reciprocal_approx || s.op == Op::log2 || s.op == Op::exp2; };
  return std::none_of(steps.begin(), steps.end(), approximate) && std::none_of(value_steps.begin(), value_steps.end(), approximate);
}

}  // namespace halfulp::recipes
