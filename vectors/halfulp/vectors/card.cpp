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

constexpr int kLineHalf = 30;               ///< columns from a neighbour to the midpoint
constexpr std::size_t kLongestNumber = 25;  ///< longer decimals and fractions give way to the hex-float

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
  return text;
}

/// Carets under the bits in which two codes differ, and what is wrong around the code.
std::string difference_marks(const FormatSpec& format, std::uint64_t got, std::uint64_t want) {
  const std::string a = fields(format, got);
  const std::string b = fields(format, want);
  std::string marks;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) marks += a[i] == b[i] ? ' ' : '^';
  marks.erase(marks.find_last_not_of(' ') + 1);
  const std::uint64_t difference = got ^ want;
  const auto note = [&](bool applies, const char* text) {
    if (applies) marks += (marks.empty() ? "" : "  ") + std::string(text);
  };
  const int used = format.storage_shift + format.width;
  note(used < 64 && difference >> used != 0, "bits above the code are set");
  note((difference & low_mask(format.storage_shift)) != 0, "bits below the code are set");
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

/// A value in decimal, or as a hex-float where the decimal is long.
std::string short_text(const Value& value) {
  const std::string decimal = oracle::to_string(value);
  return decimal.empty() || decimal.size() > kLongestNumber ? oracle::to_hex_string(value) : decimal;
}

/// The value of a code; a code with bits outside the format has none.
std::string value_text(const FormatSpec& format, std::uint64_t word) {
  if (!oracle::is_code(format, word)) return "not a code";
  return short_text(oracle::value_of(format, word));
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
  if (magnitude.is_zero()) return short_text(oracle::zero_value(negative));
  return short_text({.cls = oracle::ValueClass::finite, .negative = negative, .magnitude = magnitude});
}

/// `3/8 ulp` below or above x.
std::string distance(const Exact& code_value, const Exact& x, const Exact& gap) {
  const Exact ulps = (code_value - x) / gap;
  if (ulps.is_zero()) return "0 ulp from x";
  return ulp_text(ulps.abs()) + (ulps.sign() > 0 ? " ulp above x" : " ulp below x");
}

/// Lower neighbour, midpoint and upper neighbour of x, with x, got and expected on the line. Left is
/// lower: for negative x the neighbour of smaller magnitude stands right.
void add_number_line(const CastPlan& plan, const Finding& finding, const Value& x,
                     std::vector<CardLine>& lines) {
  const bool negative = x.negative && plan.to.is_signed;
  if (x.negative != negative && plan.policy.negative != Negative::abs) return;
  const oracle::Neighbours n = oracle::neighbours(x, plan.to);
  if (n.below_grid || n.beyond_grid) return;
  const Exact gap = n.high - n.low;
  struct End {
    bool fits;
    std::uint64_t code;
    Exact magnitude;
  };
  End lower{n.low_fits, n.low_code, n.low};
  End upper{n.high_fits, n.high_code, n.high};
  Exact position = (x.magnitude - n.low) / gap;
  if (negative) {
    std::swap(lower, upper);
    position = Exact(1) - position;
  }
  std::string line(2 * kLineHalf + 1, '-');
  line.front() = line.back() = '|';
  line[kLineHalf] = '+';
  line[static_cast<std::size_t>(column(position))] = 'x';
  lines.push_back({x.negative == negative ? "number line" : "line of |x|", line});
  std::string marks(line.size(), ' ');
  const auto mark = [&](std::uint64_t code, const std::string& word) {
    if (lower.fits && code == lower.code)
      marks.replace(0, word.size(), word);
    else if (upper.fits && code == upper.code)
      marks.replace(marks.size() - word.size(), word.size(), word);
  };
  mark(finding.want, "expected");
  mark(finding.got, "got");
  marks.erase(marks.find_last_not_of(' ') + 1);
  if (!marks.empty()) lines.push_back({"", marks});
  const auto end_text = [&](const End& end) {
    if (!end.fits) return "past the largest  " + signed_number(end.magnitude, negative);
    return word_text(plan.to, end.code) + "  " + value_text(plan.to, end.code);
  };
  const Exact middle = (n.low + n.high) / Exact(2);
  lines.push_back({"lower", end_text(lower)});
  lines.push_back(
      {"midpoint", signed_number(middle, negative) + (x.magnitude == middle ? "  x is the tie" : "")});
  lines.push_back({"upper", end_text(upper)});
  for (const auto& [label, word] :
       {std::pair("got is", finding.got), std::pair("expected is", finding.want)}) {
    if (!oracle::is_code(plan.to, word)) continue;
    const Value value = oracle::value_of(plan.to, word);
    if (value.is_finite())
      lines.push_back({label, distance(value.number(), negative ? x.number() : x.magnitude, gap)});
  }
}

}  // namespace

std::string ulp_text(const Exact& ulps) {
  const std::string fraction = oracle::to_fraction_string(ulps);
  if (fraction.size() <= kLongestNumber) return fraction;
  // A power of two beside a multiple of 1/2 is exact in words.
  const Exact half = (ulps * Exact(2) + Exact::ratio(1, 2)).floor() / Exact(2);
  const Exact beside = ulps - half;
  const bool near_zero = half.is_zero();
  if (beside.is_power_of_two()) {
    const std::string power = "2^" + std::to_string(beside.floor_log2());
    if (near_zero) return power;
    const std::string middle = oracle::to_fraction_string(half);
    if (middle.size() <= kLongestNumber) return middle + (beside.sign() < 0 ? " - " : " + ") + power;
  }
  constexpr std::int64_t kTenDigits = 10'000'000'000;
  const auto scaled = (ulps * Exact(kTenDigits) + Exact::ratio(1, 2)).floor().to_int64();
  if (!scaled) return "more than 2^" + std::to_string(ulps.floor_log2());
  const Exact rounded = Exact::ratio(*scaled, kTenDigits);
  if (rounded != half) return "≈ " + oracle::to_decimal_string(rounded);
  if (near_zero) return "less than 2^" + std::to_string(ulps.floor_log2() + 1);
  return (ulps < half ? "just under " : "just over ") + oracle::to_fraction_string(half);
}

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
  lines.push_back({"differs in", indent + difference_marks(plan.to, finding.got, finding.want)});
  if (x.cls == oracle::ValueClass::finite) add_number_line(plan, finding, x, lines);

  const CastResult result = oracle::nearest(x, plan.to, plan.policy, plan.random_word(0));
  lines.push_back({"rule", explain::rule_text(x, require_format(plan.to_name), plan.policy, result)});
  lines.push_back({"reproduce", reproduce_command(plan, finding.word)});
  return lines;
}

}  // namespace halfulp::vectors
