// Builds departures from the text of recipes; see recipe_departures.hpp.
#include "halfulp/vectors/blocks/recipe_departures.hpp"

#include <algorithm>
#include <cctype>

#include "halfulp/vectors/blocks/recipe_edits.hpp"

namespace halfulp::vectors {
namespace {

using recipes::QuantRecipe;

constexpr Rounding kRoundings[] = {Rounding::ties_to_even,    Rounding::ties_to_away,    Rounding::toward_zero, Rounding::toward_positive,
                                   Rounding::toward_negative, Rounding::to_odd};
constexpr Overflow kOverflows[] = {Overflow::saturate, Overflow::saturate_keep_inf, Overflow::overflow};
constexpr NanNone kNanNones[] = {NanNone::nan_to_max, NanNone::nan_to_signed_max, NanNone::nan_to_zero, NanNone::nan_to_signed_zero};

/// The place behind the bracket that closes the one at `open`; npos when none does.
std::size_t behind_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// The operand that begins at `at`: a word, a call or a bracket.
std::string_view operand_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == '.' ||
                               (end > at && (text[end] == '-' || text[end] == '+') && text[end - 1] == 'p')))
    ++end;
  if (end < text.size() && text[end] == '(') end = behind_bracket(text, end);
  return end == std::string_view::npos ? std::string_view{} : text.substr(at, end - at);
}

class Departures {
 public:
  explicit Departures(const RecipePlan& plan) : plan_(plan), own_(plan.recipe) {}

  std::vector<Departure> all() {
    if (plan_.task == Task::dequantize) {
      back();
      return std::move(list_);
    }
    code_policies();
    scale_policies();
    maxima();
    precisions();
    divisions();
    calls();
    products();
    scale_rules();
    if (plan_.task == Task::fake_quantize) back();
    return std::move(list_);
  }

 private:
  void add(std::string label, std::optional<QuantRecipe> recipe) {
    if (recipe) list_.push_back({std::move(label), std::move(*recipe)});
  }
  void edit(std::string label, std::string_view from, std::string_view to) {
    if (own_.text.find(from) != std::string::npos && from != to) add(std::move(label), with_text(own_, from, to));
  }

  template <class Change>
  void policy(std::string label, recipes::Stored QuantRecipe::* stored, Change change) {
    QuantRecipe changed = with_policy(own_, stored, change);
    if ((changed.*stored).policy == (own_.*stored).policy) return;
    add(std::move(label), std::move(changed));
  }

  void code_policies() {
    for (const Rounding rounding : kRoundings) {
      for (const Overflow overflow : kOverflows) {
        const CastPolicy& own = own_.code.policy;
        std::string label = "codes";
        if (rounding != own.rounding) label += " rounding=" + std::string(name_of(rounding));
        if (overflow != own.overflow) label += " overflow=" + std::string(name_of(overflow));
        policy(label, &QuantRecipe::code, [&](CastPolicy& p) { p.rounding = rounding, p.overflow = overflow; });
        if (rounding != own.rounding && overflow != own.overflow) list_.back().fields = 2;
      }
    }
    policy("codes overflow-test=before", &QuantRecipe::code, [](CastPolicy& p) { p.overflow_test = OverflowTest::before_rounding; });
    policy("codes flush=out", &QuantRecipe::code, [](CastPolicy& p) { p.flush = Flush::out; });
    for (const NanNone rule : kNanNones) {
      if (own_.code.format.has_nan()) break;
      policy("codes nan=" + std::string(name_of(rule)), &QuantRecipe::code, [&](CastPolicy& p) { p.nan_none = rule; });
    }
  }

  void scale_policies() {
    if (own_.scale.reg < 0 || own_.scale.format.width > 8) return;
    for (const Rounding rounding : kRoundings)
      policy("scale rounding=" + std::string(name_of(rounding)), &QuantRecipe::scale, [&](CastPolicy& p) { p.rounding = rounding; });
    for (const Overflow overflow : kOverflows)
      policy("scale overflow=" + std::string(name_of(overflow)), &QuantRecipe::scale, [&](CastPolicy& p) { p.overflow = overflow; });
  }

  void maxima() {
    QuantRecipe toggled = own_;
    toggled.amax_propagates_nan = !own_.amax_propagates_nan;
    add(toggled.amax_propagates_nan ? "amax propagates NaN" : "amax drops NaN", toggled);
    add("largest number instead of amax", with_variable(own_, "a", "max(hi, 0)"));
    add("amax through bf16", with_variable(own_, "a", "to(bf16 a)"));
    add("amax through f16", with_variable(own_, "a", "to(f16 a)"));
  }

  void precisions() {
    for (const std::string format : {"bf16", "f16"}) {
      add("elements through " + format + " first", with_variable(own_, "x", "to(" + format + " x)"));
      add("scaled elements through " + format, with_expression(own_, "code", "to(" + format + " " + expression_of(own_, "code") + ")"));
    }
  }

  /// Quotients as products with a rounded reciprocal, and back.
  void divisions() {
    for (std::size_t at = own_.text.find(" / "); at != std::string::npos; at = own_.text.find(" / ", at + 3)) {
      const std::string divisor(operand_at(own_.text, at + 3));
      const std::size_t line = own_.text.rfind('\n', at) == std::string::npos ? 0 : own_.text.rfind('\n', at) + 1;
      const std::string before = own_.text.substr(line, at - line);
      if (divisor.empty() || before.starts_with("value") || before.starts_with("fact") || before.ends_with("1")) continue;
      const std::string tail = " / " + divisor;
      edit("* (1 / " + divisor + ") instead of / " + divisor, before + tail, before + " * (1 / " + divisor + ")");
    }
    for (std::size_t at = own_.text.find(" * (1 / "); at != std::string::npos; at = own_.text.find(" * (1 / ", at + 3)) {
      const std::string divisor(operand_at(own_.text, at + 8));
      edit("/ " + divisor + " instead of * (1 / " + divisor + ")", " * (1 / " + divisor + ")", " / " + divisor);
    }
    if (own_.text.find("r = 1 / S") != std::string::npos) edit("/ S instead of * (1 / S)", "x * r", "x / S");
    for (const char* n : {"127", "448"}) edit("1 / S instead of " + std::string(n) + " / a", std::string(n) + " / a", "1 / S");
  }

  /// Calls replaced by others of the same arguments.
  void calls() {
    const std::pair<const char*, const char*> pairs[] = {{"clamp(", "clamp_nan("}, {"clamp_nan(", "clamp("}, {"if_zero(S, 0,", "if_zero(a, 0,"},
                                                         {"if_zero(a, 0,", "if_zero(S, 0,"}, {"rha(", "rne("}, {"trunc(", "rne("}};
    for (const auto& [from, to] : pairs) edit(std::string(to) + "…) instead of " + from + "…)", from, to);
    for (std::size_t at = own_.text.find("pow2_"); at != std::string::npos; at = own_.text.find("pow2_", at + 5)) {
      const std::string call(operand_at(own_.text, at));
      const std::size_t bracket = call.find('(');
      if (bracket == std::string::npos) continue;
      const std::string inner = call.substr(bracket), name = call.substr(0, bracket);
      const bool up = name == "pow2_ceil";
      edit(std::string("exp2(") + (up ? "ceil" : "floor") + "(log2)) in binary32", call, std::string("exp2(") + (up ? "ceil" : "floor") + "(log2" + inner + "))");
      edit("exact powers of two rounded up", call, "(pow2_floor" + inner + " * 2)");
      edit("the power of two above", call, "pow2_ceil" + inner);
      edit("the power of two below", call, "pow2_floor" + inner);
    }
    for (std::size_t at = own_.text.find("max("); at != std::string::npos; at = own_.text.find("max(", at + 4)) {
      const std::string call(operand_at(own_.text, at));
      const std::size_t comma = call.rfind(", ");
      if (comma == std::string::npos || std::isdigit(static_cast<unsigned char>(call[comma + 2])) == 0) continue;
      edit("no floor " + call.substr(comma + 2, call.size() - comma - 3), call, "(" + call.substr(4, comma - 4) + ")");
    }
    const std::string code = expression_of(own_, "code");
    if (code.ends_with(" + Z")) add("zero point added after rounding", with_expression(own_, "code", "rne(" + code.substr(0, code.size() - 4) + ") + Z"));
  }

  /// Products of three in other orders.
  void products() {
    const std::string scale = expression_of(own_, "scale");
    constexpr std::string_view kSixth = "0x1.555556p-3";
    const std::size_t open = scale.find(" * (T * ");
    if (open != std::string::npos) {
      const std::string factor(operand_at(scale, open + 8));
      const std::string whole = "a * (T * " + factor + ")";
      edit("(a * T) * " + factor, whole, "(a * T) * " + factor);
      edit("(a * " + factor + ") * T", whole, "(a * " + factor + ") * T");
      if (factor == kSixth) edit("(a / 6) * T", whole, "(a / 6) * T");
    }
    edit("(a * T) * rcp(6)", "T * (a * rcp_approx(6))", "(a * T) * rcp_approx(6)");
    edit("T * (a / 6)", "T * (a * rcp_approx(6))", "T * (a / 6)");
    edit("a / (6 * T)", "(a / 6) / T", "a / (6 * T)");
    edit("(a / 6) / T", "a / (6 * T)", "(a / 6) / T");
  }

  void scale_rules() {
    const std::string scale = expression_of(own_, "scale");
    if (scale.empty()) return;
    add("scale twice as large", with_expression(own_, "scale", "(" + scale + ") * 2"));
    add("scale half as large", with_expression(own_, "scale", "(" + scale + ") / 2"));
    if (own_.scale.format.width < 32) add("factor from the scale before it is rounded", with_variable(own_, "S", "(" + scale + ")", Statements::behind_scale));
  }

  /// The way back.
  void back() {
    const auto with_back = [&](std::string label, std::string_view variable, std::string_view expression) {
      add(std::move(label), with_variable(own_, variable, expression, Statements::back));
    };
    with_back("scale twice as large on the way back", "S", "(S * 2)");
    with_back("scale half as large on the way back", "S", "(S / 2)");
    with_back("scale 1 / S on the way back", "S", "(1 / S)");
    with_back("smallest scale code reads as 0", "S", "if_less(S, 0x1p-126, 0, S)");
    with_back("NaN code reads as 480", "v", "if_nan(v, copysign(480, v), v)");
    with_back("zero point added", "Z", "(-Z)");
    with_back("zero point left out", "Z", "0");
    with_back("tensor scale in the other direction", "T", "(1 / T)");
    const std::string value = expression_of(own_, "value");
    for (const std::string format : {"f16", "bf16"}) add("values through " + format, with_expression(own_, "value", "to(" + format + " " + value + ")"));
    edit("products through f16 first", "to(bf16 v * S)", "to(bf16 to(f16 v * S))");
    edit("(v * T) * S", "v * (T * S)", "(v * T) * S");
    edit("(v * S) * T", "v * (T * S)", "(v * S) * T");
    edit("(v * S) * T", "v * (S * T)", "(v * S) * T");
    edit("(v * S) / T", "v * (S / T)", "(v * S) / T");
  }

  const RecipePlan& plan_;
  const QuantRecipe& own_;
  std::vector<Departure> list_;
};

}  // namespace

std::vector<Departure> departures_of(const RecipePlan& plan) { return Departures(plan).all(); }

}  // namespace halfulp::vectors
