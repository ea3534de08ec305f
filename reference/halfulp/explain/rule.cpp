// The sentences behind rule_text(), in the order in which a cast decides.
#include "halfulp/explain/rule.hpp"

#include "halfulp/explain/code_text.hpp"
#include "halfulp/names.hpp"
#include "halfulp/oracle/limits.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::explain {
namespace {

using oracle::Value;
using oracle::ValueClass;

std::string word(std::string_view text) { return std::string(text); }

std::string nan_rule(const Format& to, const CastPolicy& policy) {
  if (to.spec.non_finite == NonFinite::none) {
    return word(to.name) + " has no NaN: " + (policy.nan_none == NanNone::error ? "no rule is named, so the value is refused"
                                                                                : "the rule is " + word(name_of(policy.nan_none)));
  }
  return "a NaN stays a NaN; its sign rule is " + word(name_of(policy.nan_sign)) + " (IEEE 754-2019 6.2)";
}

std::string overflow_rule(const Format& to, const CastPolicy& policy, const CastResult& result) {
  const std::string largest = shown(oracle::limits_of(to.spec).largest.value).decimal;
  const Value value = oracle::value_of(to.spec, result.code);
  const std::string got = value.cls == ValueClass::nan        ? "NaN, as the format has no Inf"
                          : value.cls == ValueClass::infinity ? "Inf"
                                                              : "the largest finite";
  const std::string judged = policy.overflow_test == OverflowTest::before_rounding && policy.overflow == Overflow::overflow
                                 ? "the magnitude is judged before rounding and exceeds "
                                 : "the rounded magnitude exceeds the largest finite, ";
  return judged + largest + ": " + word(name_of(policy.overflow)) + " gives " + got +
         " (IEEE 754-2019 7.4; OCP OFP8 v1.0, conversion)";
}

std::string rounding_rule(const Format& to, const CastPolicy& policy, const CastResult& result, std::uint64_t random_word) {
  const bool even = policy.rounding == Rounding::ties_to_even;
  const std::string code = code_text(to.spec, result.code);
  if (result.flags & kTie) {
    return "x is exactly half way between its neighbours: " + word(name_of(policy.rounding)) + " takes " +
           (even ? "the even code, " : "the neighbour away from zero, ") + code + " (IEEE 754-2019 4.3.1)";
  }
  switch (policy.rounding) {
    case Rounding::ties_to_even:
    case Rounding::ties_to_away: return "x is nearer to " + code + " than to the other neighbour (IEEE 754-2019 4.3.1)";
    case Rounding::toward_zero:
    case Rounding::toward_positive:
    case Rounding::toward_negative:
      return word(name_of(policy.rounding)) + " takes the neighbour in that direction, " + code + " (IEEE 754-2019 4.3.2)";
    case Rounding::to_odd: return "x is between two numbers: to_odd takes the odd code, " + code + " (IEEE P3109)";
    case Rounding::stochastic:
      return "stochastic rounding with r = " + std::to_string(random_word) + " of " + std::to_string(policy.sr_bits) +
             " random bits takes " + code + " (IEEE P3109, variant " + word(name_of(policy.sr_variant)) + ")";
    case Rounding::unrecorded: break;
  }
  return {};
}

}  // namespace

std::string rule_text(const Value& x, const Format& to, const CastPolicy& policy, const CastResult& result,
                      std::uint64_t random_word) {
  if (result.refusal == Refusal::nan || x.cls == ValueClass::nan) return nan_rule(to, policy);
  if (result.refusal == Refusal::negative) return word(to.name) + " has no sign and no rule for negatives is named: refused";
  if (result.refusal == Refusal::zero) return word(to.name) + " has no zero and no rule for it is named: refused";
  if (result.refusal != Refusal::none) return "no answer is recorded for this input: refused";
  if (!to.spec.is_signed && x.negative && x.cls != ValueClass::zero && policy.negative != Negative::abs) {
    return word(to.name) + " has no sign: negatives follow the rule " + word(name_of(policy.negative));
  }
  if (x.cls == ValueClass::infinity) {
    return "Inf follows the overflow rule " + word(name_of(policy.overflow)) + " (OCP OFP8 v1.0, conversion; IEEE P3109 saturation modes)";
  }
  if (x.cls == ValueClass::zero) {
    return to.spec.zeros == Zeros::absent ? word(to.name) + " has no zero: the rule is " + word(name_of(policy.zero))
                                          : "zero is a number of the format";
  }
  if (to.spec.zeros == Zeros::absent && policy.low_binade != LowBinade::by_rounding) {
    CastPolicy plain = policy;
    plain.low_binade = LowBinade::by_rounding;
    if (oracle::nearest(x, to.spec, plain, random_word).code != result.code) {
      return "in the lowest binade this policy departs from its rounding: " + word(name_of(policy.low_binade)) + " gives " +
             code_text(to.spec, result.code);
    }
  }
  if (result.flags & kOverflow) return overflow_rule(to, policy, result);
  const std::string subject = !to.spec.is_signed && x.negative ? "|x|" : "x";
  if (!(result.flags & kInexact)) return subject + " is a number of " + word(to.name) + ": nothing is rounded";
  const Value value = oracle::value_of(to.spec, result.code);
  if (to.spec.zeros == Zeros::absent && x.magnitude < oracle::limits_of(to.spec).smallest_positive.value) {
    return "x is below the smallest number, and " + word(to.name) + " has no zero: the smallest number";
  }
  if (value.cls == ValueClass::zero && (policy.flush == Flush::out || policy.flush == Flush::both) &&
      x.magnitude * oracle::Exact(2) > oracle::limits_of(to.spec).smallest_positive.value) {
    return "the result is subnormal and flush is " + word(name_of(policy.flush)) + ": zero";
  }
  return rounding_rule(to, policy, result, random_word);
}

}  // namespace halfulp::explain
