// Expressions of recipes by recursive descent: one step per operation.
#include "halfulp/recipes/parse_steps.hpp"

#include <array>
#include <cctype>

namespace halfulp::recipes {
namespace {

struct Function {
  std::string_view name;
  Op op;
  int operands;
};
constexpr auto kFunctions = std::to_array<Function>({
    {"min", Op::minimum, 2},
    {"max", Op::maximum, 2},
    {"fma", Op::fma, 3},
    {"abs", Op::absolute, 1},
    {"rcp_approx", Op::reciprocal_approx, 1},
    {"copysign", Op::copy_sign, 2},
    {"log2", Op::log2, 1},
    {"exp2", Op::exp2, 1},
    {"ceil", Op::ceiling, 1},
    {"floor", Op::floor, 1},
    {"trunc", Op::truncate, 1},
    {"rne", Op::round_even, 1},
    {"rha", Op::round_away, 1},
    {"pow2_floor", Op::pow2_floor, 1},
    {"pow2_ceil", Op::pow2_ceil, 1},
    {"if_zero", Op::select_zero, 3},
    {"if_finite", Op::select_finite, 3},
    {"if_nan", Op::select_nan, 3},
    {"if_less", Op::select_less, 4},
    {"sqrt", Op::square_root, 1},
    {"count", Op::count, 1},
    {"peak", Op::peak, 1},
    {"lowest", Op::lowest, 1},
    {"highest", Op::highest, 1},
    {"median", Op::median, 1},
    {"quantile", Op::quantile, 2},
    {"nearest", Op::nearest_entry, 2},
    {"entry", Op::entry, 2},
    {"sum", Op::sum, 1},
    {"tree_sum", Op::tree_sum, 1},
    {"largest", Op::largest, 1},
    {"hadamard", Op::hadamard, 1},
});

class Expression {
 public:
  Expression(StepBuilder& builder, std::string_view text) : builder_(builder), in_(text) {}

  int parse() {
    const int reg = sum();
    skip();
    if (!in_.empty()) builder_.fail("unexpected '" + std::string(in_) + "'");
    return reg;
  }

 private:
  void skip() { in_ = trimmed(in_); }
  bool take(char c) {
    skip();
    if (in_.empty() || in_.front() != c) return false;
    in_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) builder_.fail(std::string("expected '") + c + "' before '" + std::string(in_) + "'");
  }

  int sum() {
    int left = product();
    for (;;) {
      if (take('+'))
        left = builder_.emit(Op::add, {left, product()});
      else if (take('-'))
        left = builder_.emit(Op::subtract, {left, product()});
      else
        return left;
    }
  }

  int product() {
    int left = primary();
    for (;;) {
      if (take('*'))
        left = builder_.emit(Op::multiply, {left, primary()});
      else if (take('/'))
        left = builder_.emit(Op::divide, {left, primary()});
      else
        return left;
    }
  }

  int primary() {
    if (take('-')) {
      skip();
      if (!in_.empty() && (std::isdigit(static_cast<unsigned char>(in_.front()))))
        return builder_.emit_literal("-" + number());
      return builder_.emit(Op::negate, {primary()});
    }
    if (take('(')) {
      const int reg = sum();
      expect(')');
      return reg;
    }
    skip();
    if (in_.empty()) builder_.fail("an expression ends too early");
    if (std::isdigit(static_cast<unsigned char>(in_.front()))) return builder_.emit_literal(number());
    const std::string name = identifier();
    if (name.empty()) builder_.fail("unexpected '" + std::string(in_) + "'");
    if (take('(')) return call(name);
    return builder_.variable(name);
  }

  std::string number() {
    std::size_t n = 0;
    while (n < in_.size() &&
           (std::isalnum(static_cast<unsigned char>(in_[n])) || in_[n] == '.' ||
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

  int call(const std::string& name) {
    if (name == "to") {
      skip();
      const std::string_view target = in_.substr(0, in_.find(' '));
      in_.remove_prefix(target.size());
      Step step;
      builder_.parse_target(target, step);
      step.op = Op::cast;
      step.operands = {sum()};
      step.scope = builder_.scope_of(step.operands[0]);
      expect(')');
      return builder_.emit(step);
    }
    if (name == "clamp" || name == "clamp_nan") {
      const int y = sum();
      expect(',');
      const int m = sum();
      expect(')');
      const int clamped =
          builder_.emit(Op::maximum, {builder_.emit(Op::minimum, {y, m}), builder_.emit(Op::negate, {m})});
      return name == "clamp" ? clamped : builder_.emit(Op::select_nan, {y, y, clamped});
    }
    if (name == "bits_add" || name == "flip_signs") {
      const int y = sum();
      expect(',');
      skip();
      const std::string amount = number();
      expect(')');
      const int reg = builder_.emit(name == "bits_add" ? Op::bits_add : Op::flip_signs, {y});
      builder_.current().back().literal = amount;
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
      return builder_.emit(function.op, operands);
    }
    builder_.fail("unknown function " + name);
  }

  StepBuilder& builder_;
  std::string_view in_;
};

}  // namespace

int StepBuilder::expression(std::string_view source) {
  return Expression(*this, source).parse();
}

}  // namespace halfulp::recipes
