// Builds the card of one finding with exact numbers.
#include "halfulp/vectors/card.hpp"

#include <algorithm>
#include <cstdio>

#include "halfulp/explain/rule.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::vectors {
namespace {

using oracle::Exact;
using oracle::Value;

constexpr int kLineHalf = 30;  ///< columns from a neighbour to the midpoint
constexpr std::size_t kLongestNumber =
    48;  ///< longer decimals and fractions are left out: the hex-float has all

/// Sign, exponent and fraction bits with bars between them.
std::string fields(const FormatSpec& format, std::uint64_t word) {
  const std::uint64_t code = word >> format.storage_shift;
  std::string text;
  for (int bit = format.width - 1; bit >= 0; --bit) {
    text += ((code >> bit) & 1) ? '1' : '0';
    const bool after_sign = format.is_signed && bit == format.width - 1;
    const bool after_exponent = format.encoding == Encoding::floating && bit == format.fraction_bits;
    if (bit > 0 && (after_sign || after_exponent)) text += '|';
  }
  if (format.width < 64 && code >> format.width != 0) text += "  and bits above the code";
  return text;
}

/// Carets under the bits in which two codes differ.
std::string difference_marks(const std::string& a, const std::string& b) {
  std::string marks;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) marks += a[i] == b[i] ? ' ' : '^';
  marks.erase(marks.find_last_not_of(' ') + 1);
  return marks;
}

std::string number_text(const Value& value) {
  if (!value.is_finite()) return oracle::to_string(value);
  const Exact x = value.number();
  std::string text = oracle::to_hex_string(value);
  const std::string decimal = oracle::to_string(value);
  if (decimal.size() <= kLongestNumber) text += " = " + decimal;
  const std::string fraction = oracle::to_fraction_string(x);
  if (!x.is_integer() && fraction.size() <= kLongestNumber) text += " = " + fraction;
  return text;
}

/// The value of a code; a code with bits outside the format has none.
std::string value_text(const FormatSpec& format, std::uint64_t word) {
  if (!oracle::is_code(format, word)) return "not a code";
  return oracle::to_string(oracle::value_of(format, word));
}

/// What x is to the target: the value after the intermediate format, if there is one.
Value rounded_source(const CastPlan& plan, std::uint64_t word) {
  const Value x = oracle::value_of(*plan.from, word);
  if (!plan.via) return x;
  return oracle::rounded(x, *plan.via, {.overflow = Overflow::overflow, .nan_code = NanCode::payload});
}

/// Column of a position between the neighbours; one beside a mark unless x is exactly there.
int column(const Exact& position) {
  const Exact scaled = position * Exact(2 * kLineHalf);
  const auto whole = static_cast<int>(scaled.floor().to_int64().value_or(0));
  const bool on_mark = whole == 0 || whole == kLineHalf;
  return on_mark && scaled != Exact(whole) ? whole + 1 : whole;
}

std::string signed_number(const Exact& magnitude, bool negative) {
  const std::string text = oracle::to_decimal_string(magnitude);
  const std::string shown = text.size() <= kLongestNumber ? text : oracle::to_hex_float(magnitude);
  return (negative && !magnitude.is_zero() ? "-" : "") + shown;
}

/// `3/8 ulp` below or above x.
std::string distance(const Exact& code_value, const Exact& x, const Exact& gap) {
  const Exact ulps = (code_value - x) / gap;
  const std::string size = oracle::to_fraction_string(ulps.abs());
  if (ulps.is_zero()) return "0 ulp from x";
  return (size.size() <= kLongestNumber
              ? size
              : "about " +
                    oracle::to_decimal_string(
                        Exact::scaled((ulps.abs() * Exact(1 << 20)).floor().to_int64().value_or(0), -20))
                        .substr(0, 12)) +
         (ulps.sign() > 0 ? " ulp above x" : " ulp below x");
}

/// Lower neighbour, midpoint and upper neighbour of |x|, with x, got and expected on the line.
void add_number_line(const CastPlan& plan, const Finding& finding, const Value& x,
                     std::vector<CardLine>& lines) {
  const oracle::Neighbours n = oracle::neighbours(x, plan.to);
  if (n.below_grid || n.beyond_grid) return;
  const Exact gap = n.high - n.low;
  const Exact position = (x.magnitude - n.low) / gap;
  std::string line(2 * kLineHalf + 1, '-');
  line.front() = line.back() = '|';
  line[kLineHalf] = '+';
  line[static_cast<std::size_t>(column(position))] = 'x';
  lines.push_back({"number line", line});
  std::string marks(line.size(), ' ');
  const auto mark = [&](std::uint64_t code, const char* text) {
    const std::string word = text;
    if (n.low_fits && code == n.low_code)
      marks.replace(0, word.size(), word);
    else if (n.high_fits && code == n.high_code)
      marks.replace(marks.size() - word.size(), word.size(), word);
  };
  mark(finding.want, "expected");
  mark(finding.got, "got");
  marks.erase(marks.find_last_not_of(' ') + 1);
  if (!marks.empty()) lines.push_back({"", marks});
  const auto code = [&](bool fits, std::uint64_t word) {
    return fits ? word_text(plan.to, word) : std::string("past the largest");
  };
  const Exact middle = (n.low + n.high) / Exact(2);
  lines.push_back({"lower", code(n.low_fits, n.low_code) + "  " + signed_number(n.low, x.negative)});
  lines.push_back(
      {"midpoint", signed_number(middle, x.negative) + (x.magnitude == middle ? "  x is the tie" : "")});
  lines.push_back({"upper", code(n.high_fits, n.high_code) + "  " + signed_number(n.high, x.negative)});
  for (const auto& [label, word] :
       {std::pair("got is", finding.got), std::pair("expected is", finding.want)}) {
    if (!oracle::is_code(plan.to, word)) continue;
    const Value value = oracle::value_of(plan.to, word);
    if (value.is_finite()) lines.push_back({label, distance(value.number(), x.number(), gap)});
  }
}

}  // namespace

std::string word_text(const FormatSpec& format, std::uint64_t word) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", (format.storage_bits() + 3) / 4,
                static_cast<unsigned long long>(word));
  return text;
}

std::string reproduce_command(const CastPlan& plan, std::uint64_t word) {
  std::string command = "halfulp cast --from " + plan.from_name + " --to " + plan.to_name;
  if (!plan.dialect.empty()) command += " --dialect " + plan.dialect;
  for (const auto& [key, value] : plan.options) command += " --" + key + " " + value;
  return command + " --values --flags " + word_text(*plan.from, word);
}

std::vector<CardLine> card(const CastPlan& plan, const Finding& finding) {
  std::vector<CardLine> lines;
  const Value source = oracle::value_of(*plan.from, finding.word);
  lines.push_back({"input", word_text(*plan.from, finding.word) + " (" + plan.from_name + ")  " +
                                fields(*plan.from, finding.word)});
  lines.push_back({"", number_text(source)});
  const Value x = rounded_source(plan, finding.word);
  if (plan.via) lines.push_back({"through", plan.via_name + "  " + number_text(x)});

  const std::string got = fields(plan.to, finding.got);
  const std::string want = fields(plan.to, finding.want);
  lines.push_back(
      {"got", word_text(plan.to, finding.got) + "  " + got + "  " + value_text(plan.to, finding.got)});
  lines.push_back({"expected", word_text(plan.to, finding.want) + "  " + want + "  " +
                                   value_text(plan.to, finding.want)});
  const std::string indent(word_text(plan.to, finding.want).size() + 2, ' ');
  lines.push_back({"differs in", indent + difference_marks(got, want)});
  if (x.cls == oracle::ValueClass::finite) add_number_line(plan, finding, x, lines);

  const CastResult result = oracle::nearest(x, plan.to, plan.policy, plan.random_word(0));
  lines.push_back({"rule", explain::rule_text(x, require_format(plan.to_name), plan.policy, result)});
  lines.push_back({"reproduce", reproduce_command(plan, finding.word)});
  return lines;
}

}  // namespace halfulp::vectors
