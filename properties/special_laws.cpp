// NaN, Inf, zero and refusals: what is not a number to round becomes what the policy names, and nothing is
// guessed.
#include <gtest/gtest.h>

#include "halfulp/oracle/limits.hpp"
#include "law.hpp"

namespace halfulp::laws {
namespace {

using oracle::ValueClass;

Space specials(Policies policies) {
  return {.sources = Sources::any, .policies = policies, .focus = Focus::specials};
}

/// What the policy refuses, in the words of the vocabulary.
Refusal expected_refusal(const CastCase& c) {
  const FormatSpec& to = c.to.spec;
  oracle::Value x = source_value(c);
  const bool flush = c.policy.flush == Flush::in || c.policy.flush == Flush::both;
  if (x.subnormal && flush) x = oracle::zero_value(x.negative);
  bool is_nan = x.cls == ValueClass::nan;
  if (x.negative && !to.is_signed && !is_nan && x.cls != ValueClass::zero) {
    if (c.policy.negative == Negative::error) return Refusal::negative;
    is_nan = c.policy.negative == Negative::nan;
    if (c.policy.negative == Negative::zero) x = oracle::zero_value(false);
  }
  if (is_nan) return !to.has_nan() && c.policy.nan_none == NanNone::error ? Refusal::nan : Refusal::none;
  if (x.cls == ValueClass::infinity) {
    return to.non_finite == NonFinite::none && c.policy.inf_none == InfNone::error ? Refusal::infinity
                                                                                   : Refusal::none;
  }
  const bool no_zero = x.cls == ValueClass::zero && to.zeros == Zeros::absent;
  return no_zero && c.policy.zero == ZeroInto::error ? Refusal::zero : Refusal::none;
}

TEST(Specials, ACastIsRefusedExactlyWhereThePolicyNamesNoAnswer) {
  Space space = specials(Policies::any);
  const auto law = [](const CastCase& c) {
    const CastResult r = result_of(c);
    require(r.refusal == expected_refusal(c), "the refusal:", {static_cast<std::uint64_t>(r.refusal)});
    if (r.refusal != Refusal::none)
      require(r.code == 0 && r.flags == 0, "a refusal is no answer:", {r.code, r.flags});
  };
  for_all(space, law);
  space.focus = Focus::subnormals;  // flushed to a zero that the target may not have
  space.target = [](const FormatSpec& to) { return !to.is_signed; };
  for_all(space, law);
}

TEST(Specials, WhatALibraryIsNotKnownToDoIsRefused) {
  for_all(specials(Policies::any), [](const CastCase& c) {
    const auto with = [&c](auto change) {
      CastPolicy policy = c.policy;
      change(policy);
      return cast(c.from.spec, c.word, c.to.spec, policy, c.random);
    };
    const CastResult known = result_of(c);
    const ValueClass cls = source_value(c).cls;
    const CastResult rounding = with([](CastPolicy& p) { p.rounding = Rounding::unrecorded; });
    require(rounding.refusal == Refusal::rounding_unrecorded, "a rounding must be named");
    const CastResult nan = with([](CastPolicy& p) { p.nan_sign = NanSign::unrecorded; });
    if (cls == ValueClass::nan && c.to.spec.has_nan()) {
      require(nan.refusal == Refusal::nan_unrecorded, "an unknown NaN is refused:", {nan.code});
    } else if (cls == ValueClass::nan || c.policy.negative != Negative::nan) {
      require(nan == known, "an unknown NaN concerns NaNs only:", {nan.code});
    }
    const CastResult infinity = with([](CastPolicy& p) { p.inf_record = InfRecord::unrecorded; });
    if (cls != ValueClass::infinity) {
      require(infinity == known, "an unknown Inf concerns Inf only:", {infinity.code});
    } else if (c.to.spec.is_signed) {
      require(infinity.refusal == Refusal::infinity_unrecorded,
              "an unknown Inf is refused:", {infinity.code});
    }
  });
}

TEST(Specials, NanStaysNanWithTheSignAndPayloadThatThePolicyNames) {
  for_all(specials(Policies::any), [](const CastCase& c) {
    const oracle::Value x = source_value(c);
    const FormatSpec& to = c.to.spec;
    if (x.cls != ValueClass::nan || !to.has_nan()) skip();
    if (to.non_finite == NonFinite::nan_minus_zero && c.policy.fnuz_nan == FnuzNan::signed_max) skip();
    const CastResult r = result_of(c);
    const oracle::Value value = target_value(c, r);
    require(value.cls == ValueClass::nan && r.flags == 0, "NaN stays NaN:", {r.code, r.flags});
    const bool signs = to.is_signed && to.zeros == Zeros::plus_and_minus;
    const bool negative = signs && x.negative && c.policy.nan_sign == NanSign::keep_sign;
    require((value.negative && signs) == negative, "the sign of the NaN:", {r.code});
    if (to.non_finite != NonFinite::ieee) return;
    const std::uint64_t quiet = std::uint64_t{1} << 63;
    std::uint64_t payload = quiet;
    if (c.policy.nan_code == NanCode::ones) payload = ~std::uint64_t{0} << (64 - to.fraction_bits);
    if (c.policy.nan_code == NanCode::payload)
      payload |= x.payload & ~std::uint64_t{0} << (64 - to.fraction_bits);
    require(value.payload == payload, "the payload of the NaN:", {r.code, value.payload, payload});
  });
}

TEST(Specials, NanBecomesTheNumberThatThePolicyNamesWhereTheFormatHasNone) {
  Space space = specials(Policies::total);
  space.sources = Sources::wide;
  space.target = [](const FormatSpec& to) {
    return !to.has_nan() || to.non_finite == NonFinite::nan_minus_zero;
  };
  for_all(space, [](const CastCase& c) {
    const oracle::Value x = source_value(c);
    const bool fnuz =
        c.to.spec.non_finite == NonFinite::nan_minus_zero && c.policy.fnuz_nan == FnuzNan::signed_max;
    if (x.cls != ValueClass::nan || (c.to.spec.has_nan() && !fnuz)) skip();
    const CastResult r = result_of(c);
    const oracle::Limits& ends = oracle::limits_of(c.to.spec);
    // nan_sign speaks of NaNs; nan_none names what happens to the sign itself.
    const bool negative =
        x.negative && c.to.spec.is_signed && (!fnuz || c.policy.nan_sign == NanSign::keep_sign);
    const std::uint64_t signed_max = negative ? ends.lowest->code : ends.largest.code;
    const auto zero = [&ends](bool minus) {
      return minus && ends.minus_zero ? *ends.minus_zero : *ends.zero;
    };
    std::uint64_t expected = signed_max;
    switch (fnuz ? NanNone::nan_to_signed_max : c.policy.nan_none) {
      case NanNone::nan_to_max: expected = ends.largest.code; break;
      case NanNone::nan_to_zero: expected = zero(false); break;
      case NanNone::nan_to_signed_zero: expected = zero(negative); break;
      case NanNone::nan_to_negative_zero_flip: expected = zero(!negative); break;
      case NanNone::nan_to_signed_max:
      case NanNone::error: break;
    }
    require(r.code == expected && r.flags == kInexact, "the number for NaN:", {r.code, expected, r.flags});
  });
}

TEST(Specials, InfBecomesWhatTheOverflowRuleNames) {
  Space space = specials(Policies::total);
  space.sources = Sources::wide;
  for_all(space, [](CastCase c) {
    oracle::Value x = source_value(c);
    const FormatSpec& to = c.to.spec;
    if (x.cls != ValueClass::infinity) skip();
    c.policy.negative = Negative::abs;
    x.negative = x.negative && to.is_signed;
    const CastResult r = result_of(c);
    const oracle::Value value = target_value(c, r);
    const oracle::Limits& ends = oracle::limits_of(to);
    const std::uint64_t end = x.negative ? ends.lowest->code : ends.largest.code;
    const bool finite_p3109 = to.non_finite == NonFinite::p3109_finite;
    if (!to.has_nan() && c.policy.inf_none == InfNone::zero) {
      require(value.cls == ValueClass::zero, "Inf becomes zero by name:", {r.code});
    } else if (!to.has_nan() || c.policy.overflow == Overflow::saturate ||
               (c.policy.overflow == Overflow::saturate_keep_inf && finite_p3109)) {
      require(r.code == end && r.flags == kInexact,
              "Inf becomes the largest of its sign:", {r.code, r.flags});
    } else if (to.has_infinity()) {
      require(value.cls == ValueClass::infinity && value.negative == x.negative && r.flags == 0,
              "Inf stays:", {r.code, r.flags});
    } else {
      require(value.cls == ValueClass::nan && r.flags == kInexact,
              "Inf becomes NaN where there is no Inf:", {r.code, r.flags});
      require(to.zeros != Zeros::plus_and_minus || value.negative == x.negative,
              "with its sign:", {r.code});
    }
  });
}

TEST(Specials, ANegativeIntoAnUnsignedFormatFollowsTheNamedRule) {
  Space space = specials(Policies::total);
  space.target = [](const FormatSpec& to) { return !to.is_signed; };
  space.focus = Focus::everywhere;
  for_all(space, [](CastCase c) {
    const oracle::Value x = source_value(c);
    if (!x.negative || x.cls == ValueClass::nan || x.cls == ValueClass::zero) skip();
    c.policy.flush = Flush::none;
    const Unpacked zero;
    const Unpacked nan = {.number_class = NumberClass::nan};
    Unpacked magnitude = unpack(c.from.spec, c.word);
    magnitude.negative = false;
    const auto under = [&c](Negative rule) {
      c.policy.negative = rule;
      return result_of(c);
    };
    require(under(Negative::error).refusal == Refusal::negative, "no rule, no answer");
    require(under(Negative::zero) == cast(zero, c.to.spec, c.policy, c.random), "zero: as +0",
            {under(Negative::zero).code});
    require(under(Negative::nan) == cast(nan, c.to.spec, c.policy, c.random), "nan: as a NaN",
            {under(Negative::nan).code});
    require(under(Negative::abs) == cast(magnitude, c.to.spec, c.policy, c.random), "abs: as its magnitude",
            {under(Negative::abs).code});
  });
}

TEST(Specials, ZeroKeepsItsSignWhereTheFormatHasBothZeros) {
  for_all(specials(Policies::total), [](const CastCase& c) {
    const oracle::Value x = source_value(c);
    if (x.cls != ValueClass::zero) skip();
    const CastResult r = result_of(c);
    const oracle::Value value = target_value(c, r);
    if (c.to.spec.zeros == Zeros::absent) {
      const bool to_nan = c.policy.zero == ZeroInto::nan;
      require((value.cls == ValueClass::nan) == to_nan && r.flags == kInexact,
              "zero where there is none:", {r.code, r.flags});
      require(to_nan || r.code == oracle::limits_of(c.to.spec).smallest_positive.code,
              "the smallest number:", {r.code});
      return;
    }
    const bool negative = x.negative && c.to.spec.zeros == Zeros::plus_and_minus;
    require(value.cls == ValueClass::zero && value.negative == negative && r.flags == 0,
            "zero stays zero:", {r.code, r.flags});
  });
}

TEST(Specials, RulesForOneFamilyOfFormatsMatterInNoOther) {
  for_all({.sources = Sources::any, .policies = Policies::total, .focus = Focus::bottoms}, [](CastCase c) {
    const CastResult ruled = result_of(c);
    if (c.to.spec.zeros != Zeros::absent) c.policy.low_binade = LowBinade::by_rounding;
    if (c.to.spec.non_finite != NonFinite::nan_minus_zero) c.policy.fnuz_nan = FnuzNan::nan;
    if (c.to.spec.has_nan()) c.policy.nan_none = NanNone::error;
    if (c.to.spec.has_nan()) c.policy.inf_none = InfNone::error;
    if (c.to.spec.is_signed) c.policy.negative = Negative::error;
    if (c.to.spec.zeros != Zeros::absent) c.policy.zero = ZeroInto::error;
    require(result_of(c) == ruled,
            "a rule for other formats changed the result:", {ruled.code, result_of(c).code});
  });
}

TEST(Specials, TheLowestE8m0BinadeFollowsTheNamedRule) {
  const auto is_e8m0_like = [](const FormatSpec& to) {
    return to.zeros == Zeros::absent && to.fraction_bits == 0;
  };
  for_all({.target = is_e8m0_like, .focus = Focus::bottoms}, [](CastCase c) {
    const oracle::Value x = source_value(c);
    if (x.cls != ValueClass::finite) skip();
    const oracle::Exact smallest = oracle::limits_of(c.to.spec).smallest_positive.value;
    const bool at = x.magnitude == smallest;
    const bool inside = x.magnitude > smallest && x.magnitude < smallest.times_pow2(1);
    const CastResult rounded = result_of(c);
    c.policy.low_binade = LowBinade::upward;
    const CastResult upward = result_of(c);
    c.policy.low_binade = LowBinade::never_min;
    const CastResult never = result_of(c);
    require(upward.code == (inside ? 1 : rounded.code), "upward: the open binade goes up:", {upward.code});
    require(never.code == (rounded.code == 0 ? 1
                           : inside || at    ? 1
                                             : rounded.code),
            "never_min: 00 is not used:", {never.code});
    require(((never.flags & kInexact) != 0) == (at || (rounded.flags & kInexact) != 0),
            "never_min moves 2^-127:", {never.flags});
  });
}

}  // namespace
}  // namespace halfulp::laws
