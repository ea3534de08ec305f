// Idempotence: a number of the target is a fixed point of the cast, from whatever wider format it comes.
#include <gtest/gtest.h>

#include "law.hpp"

namespace halfulp::laws {
namespace {

TEST(Idempotence, CastingTwiceIsCastingOnceUnderEveryPolicy) {
  for_all({.sources = Sources::any, .policies = Policies::total}, [](const CastCase& c) {
    CastPolicy policy = c.policy;
    if (policy.flush == Flush::in || policy.fnuz_nan == FnuzNan::signed_max)
      skip();  // both treat sources unlike results
    const CastResult once = result_of(c);
    if (once.code == 0 && policy.low_binade == LowBinade::never_min)
      skip();  // the zero rule gives what no rounding does
    const CastResult twice = cast(c.to.spec, once.code, c.to.spec, policy, ~c.random);
    require(twice.refusal == Refusal::none, "a result is a legal source");
    const bool signed_nan =
        policy.nan_sign == NanSign::positive && target_value(c, once).cls == oracle::ValueClass::nan;
    if (signed_nan) skip();  // a NaN made by overflow keeps its sign, as a source it loses it
    require(twice.code == once.code, "casting twice is casting once:", {once.code, twice.code});
  });
}

TEST(Idempotence, ACastThatChangesNothingIsUndoneByTheCastBack) {
  for_all({.sources = Sources::any}, [](const CastCase& c) {
    const CastResult there = result_of(c);
    if ((there.flags & kInexact) != 0 || source_value(c).cls == oracle::ValueClass::nan) skip();
    if (c.from.spec.range == IntegerRange::restricted && c.word == c.from.spec.sign_mask()) skip();
    const oracle::Value source = source_value(c);
    if (source.negative && !c.to.spec.is_signed) skip();
    CastPolicy back_policy = c.policy;
    if (source.cls == oracle::ValueClass::infinity) back_policy.overflow = Overflow::overflow;
    const CastResult back = cast(c.to.spec, there.code, c.from.spec, back_policy, ~c.random);
    const bool lost_sign = source.cls == oracle::ValueClass::zero && c.to.spec.zeros == Zeros::plus_only;
    if (lost_sign) skip();
    require(back.code == c.word, "the cast back gives the source:", {there.code, back.code});
  });
}

TEST(Idempotence, BitsOutsideTheFormatDoNotMatter) {
  for_all({.sources = Sources::any, .policies = Policies::any}, [](const CastCase& c) {
    const FormatSpec& from = c.from.spec;
    const std::uint64_t junk = ~(low_mask(from.width) << from.storage_shift) & c.random;
    const CastResult clean = result_of(c);
    const CastResult noisy = cast(from, c.word | junk, c.to.spec, c.policy, c.random);
    require(clean == noisy, "bits outside the format are ignored:", {clean.code, noisy.code});
  });
}

}  // namespace
}  // namespace halfulp::laws
