// Explains one cast; see value.hpp.
#include "halfulp/explain/value.hpp"

#include <algorithm>

#include "halfulp/explain/code_text.hpp"
#include "halfulp/explain/rule.hpp"
#include "halfulp/names.hpp"
#include "halfulp/oracle/limits.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::explain {
namespace {

using oracle::Exact;
using oracle::Value;
using oracle::ValueClass;

struct Cast {
  const Format& to;
  const CastPolicy& policy;
  std::uint64_t random;
  CastResult operator()(const Exact& x) const { return oracle::nearest(oracle::value_from(x), to.spec, policy, random); }
};

std::string number_text(const Exact& x) {
  const Shown s = shown(x);
  return s.decimal.substr(0, 3) == "≈" && !s.fraction.empty() ? s.fraction : s.decimal;
}

/// Distance from the grid number `v` to the next one, upward (`side` +1) or downward (-1) on the real line. The grid goes
/// on past the largest finite; empty where it ends (a codebook, or below the smallest number of a format without zero).
std::optional<Exact> gap_beside(const Exact& v, int side, const Format& to) {
  Value at = oracle::value_from(v);
  if (v.is_zero()) at.negative = side < 0;
  if (v.is_zero() || v.sign() == side) {
    const oracle::Neighbours n = oracle::neighbours(at, to.spec);
    return n.beyond_grid ? std::nullopt : std::optional<Exact>(n.high - n.low);
  }
  at.magnitude = v.abs() * (Exact(1) - Exact::pow2(-80));  // a little nearer to zero: its lower neighbour is the answer
  const oracle::Neighbours n = oracle::neighbours(at, to.spec);
  return n.below_grid ? std::nullopt : std::optional<Exact>(v.abs() - n.low);
}

/// The end of the interval of `code`'s value `v`, upward (`side` +1) or downward (-1), and whether it belongs to it.
std::pair<std::string, bool> interval_end(const Exact& v, int side, std::uint64_t code, const Cast& cast) {
  const auto same = [&](const Exact& x) {
    const CastResult r = cast(x);
    return r.refusal == Refusal::none && r.code == code;
  };
  const std::string infinite = side > 0 ? "inf" : "-inf";
  const Exact far = Exact(side) * Exact::pow2(33000);
  if (same(far)) return {infinite, false};
  if (side < 0 && v.is_zero() && !cast.to.spec.is_signed) return {"0", true};
  const std::optional<Exact> gap = gap_beside(v, side, cast.to);
  if (!gap) return cast.to.spec.zeros == Zeros::absent ? std::pair{std::string("0"), false} : std::pair{number_text(v), true};
  const Exact& step = *gap;
  const Exact quarter = step * Exact::pow2(-2);
  const Exact s(side);
  if (!same(v + s * quarter)) return {number_text(v), true};
  const Exact middle = v + s * step * Exact::pow2(-1);
  if (!same(v + s * quarter * Exact(3))) return {number_text(middle), same(middle)};
  return {number_text(v + s * step), same(v + s * step)};
}

/// A value as the tables show it: `-0`, `inf` and `nan` as such.
std::string value_text(const Value& v) { return v.cls == ValueClass::finite ? shown(v.number()).decimal : oracle::to_string(v); }

std::string policy_text(const CastPolicy& policy) {
  std::string text = std::string(name_of(policy.rounding)) + ", " + std::string(name_of(policy.overflow));
  if (policy.rounding == Rounding::stochastic) {
    text += ", variant " + std::string(name_of(policy.sr_variant)) + " with " + std::to_string(policy.sr_bits) + " bits";
  }
  return text;
}

std::vector<Alternative> alternatives_of(const Value& x, const Format& to, CastPolicy policy) {
  std::vector<Alternative> all;
  for (const auto& rounding : kNames<Rounding>) {
    if (rounding.value == Rounding::stochastic) continue;
    const bool defined = rounding.value == Rounding::ties_to_away || rounding.value == Rounding::toward_zero;
    if (to.spec.encoding == Encoding::hifloat8 && !defined) continue;
    for (const auto& overflow : kNames<Overflow>) {
      policy.rounding = rounding.value;
      policy.overflow = overflow.value;
      const CastResult r = oracle::nearest(x, to.spec, policy);
      Alternative a{std::string(rounding.name), std::string(overflow.name), "refused", ""};
      if (r.refusal == Refusal::none) {
        a.code = code_text(to.spec, r.code);
        a.value = value_text(oracle::value_of(to.spec, r.code));
      }
      all.push_back(a);
    }
  }
  return all;
}

std::vector<Reading> siblings_of(const Format& to, std::uint64_t code) {
  std::vector<Reading> readings;
  for (const Format& format : kFormats) {
    const bool same_container = format.spec.width + format.spec.storage_shift == to.spec.width + to.spec.storage_shift;
    if (format.name == to.name || !same_container || !oracle::is_code(format.spec, code)) continue;
    readings.push_back({std::string(format.name), value_text(oracle::value_of(format.spec, code))});
  }
  return readings;
}

void place_between_neighbours(ValueExplanation& e, const Value& x, const Format& to) {
  const oracle::Neighbours n = oracle::neighbours(x, to.spec);
  if (n.beyond_grid || n.below_grid) return;
  const Exact gap = n.high - n.low;
  const Exact sign(x.negative ? -1 : 1);
  const Exact position = (x.magnitude - n.low) / gap;
  const auto side = [&](const Exact& magnitude, bool fits, std::uint64_t code, const Exact& distance) {
    return Neighbour{fits ? code_text(to.spec, code) : "", shown(sign * magnitude), oracle::to_fraction_string(distance)};
  };
  e.near = side(n.low, n.low_fits, n.low_code, position);
  e.far = side(n.high, n.high_fits, n.high_code, Exact(1) - position);
  if (e.near->distance.size() > 40) e.near->distance = shown(position).decimal;
  if (e.far->distance.size() > 40) e.far->distance = shown(Exact(1) - position).decimal;
  e.gap = number_text(gap);
  e.line_position = static_cast<int>((position * Exact(40)).floor().to_int64().value_or(0));
}

}  // namespace

ValueExplanation explain_value(const std::string& input, const std::string& source, const Value& original,
                               const std::optional<Exact>& scale, const Format& to, const CastPolicy& policy,
                               std::uint64_t random_word) {
  Value x = original;
  ValueExplanation e;
  e.input = input;
  e.source = source;
  e.format = to.name;
  e.standard = to.standard;
  e.policy = policy_text(policy);
  if (scale && x.cls == ValueClass::finite) {
    const bool was_subnormal = x.subnormal;
    e.unscaled = shown(x.number());
    x = oracle::value_from(x.number() / *scale);
    x.subnormal = was_subnormal;
  }
  if (scale) e.scale = shown(*scale);
  const bool finite = x.cls == ValueClass::finite;
  e.x_class = x.cls == ValueClass::zero ? "zero" : finite ? "number" : x.cls == ValueClass::nan ? "NaN" : "infinity";
  if (x.is_finite()) e.x = shown(x.number());
  if (x.cls == ValueClass::zero && x.negative) e.x = {"-0", "-0", "-0x0p+0"};
  if (!x.is_finite()) e.x.decimal = oracle::to_string(x);

  const CastResult result = oracle::nearest(x, to.spec, policy, random_word);
  const bool rounds = finite && (to.spec.is_signed || !x.negative || policy.negative == Negative::abs);
  Value rounded_from = x;
  if (!to.spec.is_signed) rounded_from.negative = false;
  if (rounds) place_between_neighbours(e, rounded_from, to);
  e.rule = rule_text(x, to, policy, result, random_word);
  for (const auto& flag : kNames<Flag>) {
    if (result.flags & flag.value) e.flags += (e.flags.empty() ? "" : ",") + std::string(flag.name);
  }
  if (e.flags.empty()) e.flags = "-";
  e.alternatives = alternatives_of(x, to, policy);
  e.refusal = result.refusal;
  if (result.refusal != Refusal::none) return e;

  e.code = code_text(to.spec, result.code);
  e.value_class = class_of(to.spec, result.code);
  e.fields = fields_of(to.spec, result.code);
  e.formula = formula_of(to.spec, result.code);
  e.siblings = siblings_of(to, result.code);
  const Value value = oracle::value_of(to.spec, result.code);
  if (!value.is_finite()) {
    e.value.decimal = oracle::to_string(value);
    return e;
  }
  e.value = value.cls == ValueClass::zero && value.negative ? Shown{"-0", "-0", "-0x0p+0"} : shown(value.number());
  if (scale) e.rescaled = shown(value.number() * *scale);
  if (x.is_finite() && value.number() != x.number()) {
    const Exact error = value.number() - x.number();
    e.error = number_text(error);
    if (finite) e.relative_error = shown(error / x.magnitude * Exact(100)).decimal;
  }
  const bool flushed = (policy.flush == Flush::out || policy.flush == Flush::both) && value.cls == ValueClass::zero;
  if (rounds && !flushed && policy.rounding != Rounding::stochastic) {
    const Cast cast{to, policy, random_word};
    const auto [low, low_closed] = interval_end(value.number(), -1, result.code, cast);
    const auto [high, high_closed] = interval_end(value.number(), +1, result.code, cast);
    if (to.spec.is_signed || !x.negative) e.interval = Interval{low, high, low_closed, high_closed};
  }
  return e;
}

}  // namespace halfulp::explain
