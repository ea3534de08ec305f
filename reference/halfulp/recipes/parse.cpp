// Recipes from text, statement by statement; expressions are in parse_expression.cpp.
#include "halfulp/recipes/parse.hpp"

#include <algorithm>
#include <utility>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/parse_steps.hpp"

namespace halfulp::recipes {
namespace {

class Parser : private StepBuilder {
 public:
  Parser(const std::string& name, std::string_view source) : StepBuilder(name), source_(source) {}

  QuantRecipe parse() {
    while (!source_.empty()) {
      std::string_view line = source_.substr(0, source_.find('\n'));
      source_.remove_prefix(std::min(source_.size(), line.size() + 1));
      ++line_number;
      line = trimmed(line.substr(0, line.find('#')));
      if (line.empty()) continue;
      recipe.text += std::string(line) + "\n";
      statement(line);
    }
    if (recipe.code.reg < 0) fail("no `code` statement");
    if (recipe.value_reg < 0) fail("no `value` statement");
    for (Input& input : recipe.inputs) {
      if (input.per == PerInput::table) input.entries = std::int64_t{1} << recipe.code.format.width;
    }
    return std::move(recipe);
  }

 private:
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
    constexpr std::pair<std::string_view, Precision> names[] = {{"f16", Precision::f16},
                                                                {"bf16", Precision::bf16},
                                                                {"f32", Precision::f32},
                                                                {"f64", Precision::f64}};
    for (const auto& [name, value] : names) {
      if (name == word) return value;
    }
    fail("unknown precision " + std::string(word));
  }

  void statement(std::string_view line) {
    text = line;
    precision = recipe.precision;
    if (const auto at = line.rfind('@'); at != std::string_view::npos) {
      precision = precision_named(trimmed(line.substr(at + 1)));
      line = trimmed(line.substr(0, at));
    }
    std::string_view rest = line;
    const std::string_view word = take_word(rest);
    if (word == "granularity") return granularity(rest);
    if (word == "precision") {
      recipe.precision = precision_named(rest);
    } else if (word == "fact") {
      recipe.facts.emplace_back(rest);
    } else if (word == "amax") {
      const std::string_view nan = take_word(rest);
      if (nan != "drop" && nan != "propagate") fail("amax takes drop or propagate");
      recipe.amax_propagates_nan = nan == "propagate";
      if (!rest.empty()) recipe.amax_start = rest;
    } else if (word == "element") {
      while (!rest.empty()) {
        recipe.elements.emplace_back(take_word(rest));
        if (!find_format(recipe.elements.back())) fail("unknown format " + recipe.elements.back());
      }
      element = recipe.elements.at(0);
    } else if (word == "keep") {
      recipe.keep_reg = expression(rest);
      if (scope_of(recipe.keep_reg) != Scope::element) fail("keep takes elements");
    } else if (word == "input") {
      input(rest);
    } else if (word == "transform") {
      transform(rest);
    } else if (word == "tensor_scale") {
      store(rest, recipe.tensor_scale, "T", Scope::tensor);
    } else if (word == "scale") {
      store(rest, recipe.scale, "S", Scope::block);
    } else if (word == "zero") {
      store(rest, recipe.zero, "Z", Scope::block);
    } else if (word == "code") {
      store(rest, recipe.code, "", Scope::element);
    } else if (word == "value") {
      in_value = true;
      recipe.v = recipe.registers++;
      define("v", recipe.v, Scope::element);
      recipe.value_reg = expression(rest);
    } else if (take_word(rest) == "=") {
      const int reg = expression(rest);
      define(std::string(word), reg, scope_of(reg));
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
      if (per == "block")
        input.per = PerInput::block;
      else if (per == "column")
        input.per = PerInput::column;
      else if (per == "element")
        input.per = PerInput::element;
      else
        fail("an input is per block, column or element");
      scope = per == "block" ? Scope::block : Scope::element;
    }
    if (!rest.empty()) {
      if (take_word(rest) != "=" || rest.empty()) fail("expected = and a default");
      input.default_literal = rest;
    }
    input.reg = recipe.registers++;
    define(input.name, input.reg, scope);
    recipe.inputs.push_back(input);
  }

  /// From here on x, and the extremes made from it, are those of the result.
  void transform(std::string_view rest) {
    if (recipe.registers != static_cast<int>(recipe.inputs.size()))
      fail("a transform stands before all steps");
    in_transform = true;
    recipe.transform_reg = expression(rest);
    in_transform = false;
    if (scope_of(recipe.transform_reg) != Scope::element) fail("a transform makes elements");
    recipe.given = std::exchange(recipe.x, -1);
    forget("x");
  }

  void granularity(std::string_view rest) {
    const std::string_view word = take_word(rest);
    if (word == "tensor")
      recipe.granularity = Granularity::tensor;
    else if (word == "row")
      recipe.granularity = Granularity::row;
    else if (word == "column")
      recipe.granularity = Granularity::column;
    else if (word == "group") {
      recipe.granularity = Granularity::group;
      recipe.rows = 1;
      recipe.columns = take_int(rest);
    } else if (word == "tile") {
      recipe.granularity = Granularity::tile;
      recipe.rows = take_int(rest);
      recipe.columns = take_int(rest);
    } else {
      fail("unknown granularity " + std::string(word));
    }
  }

  /// `FORMAT[:words] EXPR`: rounds, keeps the code, and defines `name` as the value of the code.
  void store(std::string_view rest, Stored& stored, const std::string& name, Scope scope) {
    if (stored.reg >= 0) fail("stored twice");
    Step step;
    parse_target(take_word(rest), step);
    stored.format_name = step.target_name;
    stored.format = step.target;
    stored.policy = step.policy;
    const int operand = expression(rest);
    step.op = Op::cast;
    step.operands = {operand};
    step.scope = std::max(scope, scope_of(operand));
    if (step.scope != scope) fail("the stored value varies more often than it is stored");
    step.name = name;
    stored.reg = emit(step);
    if (!name.empty()) define(name, stored.reg, scope);
  }

  std::string_view source_;
};

}  // namespace

QuantRecipe parse_recipe(const std::string& name, std::string_view text) {
  return Parser(name, text).parse();
}

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
    if (each == element)
      known = true;
    else
      others += " " + each;
    i = stop + 1;
  }
  if (!known)
    throw InputError("element '" + std::string(element.substr(0, 40)) + "'",
                     "not one of this recipe's elements", "`halfulp recipes NAME` lists them");
  return result.replace(at, end - at, std::string(word) + std::string(element) + others);
}

bool QuantRecipe::exact_steps() const {
  const auto approximate = [](const Step& s) {
    return s.op == Op::reciprocal_approx || s.op == Op::log2 || s.op == Op::exp2;
  };
  return std::none_of(steps.begin(), steps.end(), approximate) &&
         std::none_of(value_steps.begin(), value_steps.end(), approximate);
}

}  // namespace halfulp::recipes
