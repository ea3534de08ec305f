// to_odd makes double rounding innocuous: through an intermediate format with at least two more bits,
// rounded to_odd, every rounding gives what the direct cast gives. Boldo and Melquiond, IEEE Trans.
// Computers 57(4), 2008.
#include <gtest/gtest.h>

#include "law.hpp"

namespace halfulp::laws {
namespace {

/// An IEEE-like format with `extra` more bits of precision than `to` and room at both ends of its
/// exponents.
FormatSpec roomier(const FormatSpec& to, int extra) {
  return signed_float(to.exponent_bits + 2, to.fraction_bits + extra, to.bias + (1 << to.exponent_bits),
                      NonFinite::ieee);
}

bool leaves_room(const FormatSpec& to) {
  return is_floating(to) && to.exponent_bits <= 11 && to.fraction_bits <= 10;
}

CastResult through(const CastCase& c, const FormatSpec& middle, Rounding first) {
  const CastResult there =
      cast(c.from.spec, c.word, middle, {.rounding = first, .overflow = Overflow::saturate_keep_inf});
  return cast(middle, there.code, c.to.spec, c.policy, c.random);
}

TEST(DoubleRounding, IsInnocuousThroughToOddWithTwoOrMoreExtraBits) {
  for_all({.target = leaves_room, .roundings = kDeterministicRoundings}, [](const CastCase& c) {
    if (source_value(c).cls == oracle::ValueClass::nan) skip();
    const FormatSpec middle = roomier(c.to.spec, 2 + static_cast<int>(c.random % 30));
    const CastResult direct = result_of(c);
    const CastResult twice = through(c, middle, Rounding::to_odd);
    require(direct.code == twice.code && (direct.flags & kOverflow) == (twice.flags & kOverflow),
            "to_odd keeps what the second rounding needs:", {direct.code, twice.code});
  });
}

TEST(DoubleRounding, IsInnocuousForStochasticRoundingWhenTheExtraBitsCoverTheRandomOnes) {
  for_all({.target = leaves_room, .roundings = {Rounding::stochastic}}, [](const CastCase& c) {
    if (source_value(c).cls == oracle::ValueClass::nan || c.policy.sr_bits > 32) skip();
    const FormatSpec middle = roomier(c.to.spec, c.policy.sr_bits + 3);
    const CastResult direct = result_of(c);
    const CastResult twice = through(c, middle, Rounding::to_odd);
    require(direct.code == twice.code,
            "to_odd keeps what the random word is compared with:", {direct.code, twice.code});
  });
}

TEST(DoubleRounding, IsInnocuousFromF64ThroughF32ToOddIntoEveryNarrowFloat) {
  const auto narrow = [](const FormatSpec& to) {
    return is_floating(to) && to.width <= 16 && to.exponent_bits <= 7;
  };
  for_all({.target = narrow, .roundings = kDeterministicRoundings}, [](const CastCase& c) {
    if (source_value(c).cls == oracle::ValueClass::nan) skip();
    const FormatSpec f32 = spec_of("f32");
    const CastResult direct = result_of(c);
    const CastResult twice = through(c, f32, Rounding::to_odd);
    require(direct.code == twice.code, "f32 to_odd on the way changes nothing:", {direct.code, twice.code});
  });
}

TEST(DoubleRounding, IsNotInnocuousThroughTiesToEven) {
  const FormatSpec f32 = spec_of("f32");
  const FormatSpec f16 = spec_of("f16");
  const FormatSpec e4m3 = spec_of("e4m3");
  const auto code_through = [&](Rounding first) {
    const CastResult there = cast(f32, 0x3f880001, f16, {.rounding = first});
    return cast(f16, there.code, e4m3, {}).code;
  };
  EXPECT_EQ(cast(f32, 0x3f880001, e4m3, {}).code, 0x39u);
  EXPECT_EQ(code_through(Rounding::ties_to_even), 0x38u);
  EXPECT_EQ(code_through(Rounding::to_odd), 0x39u);
}

}  // namespace
}  // namespace halfulp::laws
