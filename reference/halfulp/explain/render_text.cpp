// The text form of an explanation, for a terminal.
#include <algorithm>

#include "halfulp/explain/render.hpp"

namespace halfulp::explain {
namespace {

constexpr const char* kFieldColors[] = {"\033[31m", "\033[32m", "\033[34m"};  // sign, exponent, fraction

std::string paint(const std::string& text, std::size_t field, bool color) {
  return color ? kFieldColors[std::min<std::size_t>(field, 2)] + text + "\033[0m" : text;
}

std::string row(const std::string& label, const std::string& text) {
  return text.empty() ? "" : "  " + label + std::string(label.size() < 16 ? 16 - label.size() : 1, ' ') + text + "\n";
}

/// Columns a UTF-8 text takes, for the characters used here.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string forms(const Shown& s) {
  std::string text = s.decimal;
  if (!s.fraction.empty() && s.fraction != s.decimal) text += (text.empty() ? "" : " = ") + s.fraction;
  if (!s.hex_float.empty() && s.hex_float.size() <= 40) text += (text.empty() ? "" : " = ") + s.hex_float;
  return text;
}

/// What stands between a formula and a value: `=`, or nothing before `≈`.
std::string join(const Shown& s) { return s.decimal.substr(0, 3) == "≈" ? " " : " = "; }

std::string code_line(const ValueExplanation& e, bool color) {
  std::string bits;
  std::string legend;
  for (std::size_t i = 0; i < e.fields.size(); ++i) {
    bits += (i ? "|" : "") + paint(e.fields[i].bits, i, color);
    legend += (i ? "   " : "") + paint(e.fields[i].name, i, color) + " " + e.fields[i].meaning;
  }
  return row("code", e.code + "  " + bits) + row("", legend);
}

std::string number_line(const ValueExplanation& e) {
  if (!e.near || !e.far || e.line_position < 0) return {};
  constexpr int kWidth = 40;
  const auto end = [](const Neighbour& n) { return (n.code.empty() ? "too large" : n.code) + join(n.value) + n.value.decimal; };
  const std::string left = end(*e.near);
  std::string line = left + " |" + std::string(kWidth / 2, '-') + "+" + std::string(kWidth / 2, '-') + "| " + end(*e.far);
  std::string mark = std::string(16 + 2 + columns(left) + 2 + static_cast<std::size_t>(e.line_position), ' ') + "^ x, " +
                     e.near->distance + " of the gap " + e.gap + "\n";
  return row("neighbours", line) + mark;
}

std::string alternatives(const ValueExplanation& e) {
  std::string text = "\n  every rounding and overflow rule\n";
  for (std::size_t i = 0; i < e.alternatives.size(); i += 3) {
    const auto& a = e.alternatives;
    const auto cell = [](const Alternative& x) { return x.value.empty() ? x.code : x.code + " (" + x.value + ")"; };
    const bool all_equal = a[i].code == a[i + 1].code && a[i].code == a[i + 2].code;
    std::string line = cell(a[i]);
    if (!all_equal) {
      line = "";
      for (std::size_t j = i; j < i + 3; ++j) line += (j > i ? "   " : "") + a[j].overflow + " " + cell(a[j]);
    }
    text += row(a[i].rounding, line);
  }
  return text;
}

}  // namespace

std::string to_text(const ValueExplanation& e, bool color) {
  std::string text = e.input + " as " + e.format + " (" + e.standard + "), " + e.policy + "\n\n";
  if (e.unscaled) text += row("value", forms(*e.unscaled));
  if (e.scale) text += row("scale", forms(*e.scale));
  text += row(e.scale ? "x = value/scale" : "x", forms(e.x) + (e.source == "exact" ? "" : "  (" + e.source + ")"));
  if (!e.code.empty()) {
    text += code_line(e, color);
    text += row("value of code", (e.formula.empty() || e.formula == e.value.decimal ? "" : e.formula + join(e.value)) + forms(e.value));
    text += row("class", e.value_class);
    if (e.rescaled) text += row("times scale", forms(*e.rescaled));
  }
  text += row("error", e.error.empty() ? "" : e.error + (e.relative_error.empty() ? "" : "  (" + e.relative_error + " %)"));
  text += number_line(e);
  if (e.interval) {
    text += row("same code for", std::string(e.interval->low_closed ? "[" : "(") + e.interval->low + ", " + e.interval->high +
                                     (e.interval->high_closed ? "]" : ")"));
  }
  text += row("flags", e.flags);
  text += row("rule", e.rule);
  text += alternatives(e);
  if (!e.siblings.empty()) {
    text += "\n  the code " + e.code + " in other formats of its width\n";
    for (const Reading& reading : e.siblings) text += row(reading.format, reading.value);
  }
  return text;
}

}  // namespace halfulp::explain
