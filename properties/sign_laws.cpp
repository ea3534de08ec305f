// Sign symmetry: roundings that do not look at the sign commute with negation, the directed ones change
// places.
#include <gtest/gtest.h>

#include "law.hpp"

namespace halfulp::laws {
namespace {

/// Formats whose negative side mirrors the positive one.
bool is_symmetric(const FormatSpec& spec) {
  if (!spec.is_signed || spec.encoding == Encoding::codebook) return false;
  return spec.encoding != Encoding::twos_complement || spec.range == IntegerRange::restricted;
}

Rounding mirrored(Rounding rounding) {
  switch (rounding) {
    case Rounding::toward_positive: return Rounding::toward_negative;
    case Rounding::toward_negative: return Rounding::toward_positive;
    default: return rounding;
  }
}

TEST(SignSymmetry, NegatingTheSourceNegatesTheResultAndMirrorsDirectedRoundings) {
  for_all({.target = is_symmetric}, [](const CastCase& c) {
    const CastResult plus = result_of(c);
    CastPolicy policy = c.policy;
    policy.rounding = mirrored(policy.rounding);
    const std::uint64_t opposite = c.word ^ (c.from.spec.sign_mask() << c.from.spec.storage_shift);
    const CastResult minus = cast(c.from.spec, opposite, c.to.spec, policy, c.random);
    const oracle::Value a = target_value(c, plus);
    const oracle::Value b = target_value(c, minus);
    require(plus.flags == minus.flags, "the flags do not depend on the sign:", {plus.flags, minus.flags});
    require(a.cls == b.cls && a.magnitude == b.magnitude,
            "the magnitude does not depend on the sign:", {plus.code, minus.code});
    const FormatSpec& to = c.to.spec;
    const bool one_code = to.zeros == Zeros::plus_only &&
                          (a.cls == oracle::ValueClass::zero || a.cls == oracle::ValueClass::nan);
    if (one_code) {
      require(plus.code == minus.code,
              "zero and NaN without a sign have one code:", {plus.code, minus.code});
    } else {
      require(a.negative != b.negative,
              "the sign of the result follows the source:", {plus.code, minus.code});
      require(a.negative == source_value(c).negative,
              "the sign of the result is that of the source:", {plus.code});
    }
  });
}

TEST(SignSymmetry, AnUnsignedTargetTakesTheMagnitudeUnderAbs) {
  for_all({.target = [](const FormatSpec& spec) { return !spec.is_signed; }}, [](const CastCase& c) {
    if (source_value(c).cls == oracle::ValueClass::nan) skip();
    const std::uint64_t magnitude = c.word & ~(c.from.spec.sign_mask() << c.from.spec.storage_shift);
    const CastResult plus = cast(c.from.spec, magnitude, c.to.spec, c.policy, c.random);
    require(result_of(c) == plus,
            "abs makes the sign of the source irrelevant:", {result_of(c).code, plus.code});
  });
}

}  // namespace
}  // namespace halfulp::laws
