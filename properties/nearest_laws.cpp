// Nearest: no number of the format is closer than the result, and ties go where the mode says. IEEE
// 754-2019 4.3.1.
#include <gtest/gtest.h>

#include "law.hpp"

namespace halfulp::laws {
namespace {

using oracle::Exact;

struct Rounded {
  Exact magnitude;            ///< of the source
  oracle::Neighbours around;  ///< on the grid continued past the largest finite
  CastResult result;
  Exact got;  ///< magnitude of the result; meaningless after an overflow
  bool overflowed() const { return (result.flags & kOverflow) != 0; }
};

Rounded rounded(const CastCase& c) {
  oracle::Value x = source_value(c);
  if (x.cls != oracle::ValueClass::finite) skip();
  x.negative = x.negative && c.to.spec.is_signed;
  const CastResult result = result_of(c);
  return {x.magnitude, oracle::neighbours(x, c.to.spec), result, target_value(c, result).magnitude};
}

void check_nearest(const CastCase& c) {
  const Rounded r = rounded(c);
  if (r.around.below_grid) {
    require(r.got == r.around.high,
            "below the smallest number of a format without zero, that number is nearest:", {r.result.code});
    return;
  }
  const Exact to_low = r.magnitude - r.around.low;
  if (to_low.is_zero()) {
    require(r.got == r.magnitude || !r.around.low_fits,
            "a number of the format is nearest to itself:", {r.result.code});
    return;
  }
  if (r.around.beyond_grid) {
    require(r.overflowed() && r.got == r.around.low,
            "a codebook ends with its last number:", {r.result.code});
    return;
  }
  const Exact to_high = r.around.high - r.magnitude;
  if (r.overflowed()) {
    const bool high_chosen = to_high <= to_low && !r.around.high_fits;
    require(high_chosen || !r.around.low_fits, "only a number too large overflows:", {r.result.code});
    return;
  }
  const Exact distance = (r.magnitude - r.got).abs();
  require(distance <= to_low && distance <= to_high,
          "no neighbour is closer than the result:", {r.result.code});
}

TEST(Nearest, NoNumberOfTheFormatIsCloserThanTheResult) {
  for_all({.sources = Sources::any, .roundings = kNearestRoundings}, check_nearest);
}

TEST(Nearest, NoNumberOfATableIsCloserThanTheResult) {
  const auto is_table = [](const FormatSpec& to) {
    return to.encoding == Encoding::codebook || to.encoding == Encoding::hifloat8;
  };
  for_all({.target = is_table, .focus = Focus::tops, .roundings = kNearestRoundings}, check_nearest);
}

void check_tie(const CastCase& c, bool to_even) {
  const Rounded r = rounded(c);
  if (r.around.below_grid || r.around.beyond_grid) skip();
  if (r.magnitude - r.around.low != r.around.high - r.magnitude) skip();
  require((r.result.flags & kTie) != 0, "a tie is flagged:", {r.result.code});
  if (r.overflowed()) {
    const bool up = !to_even || !r.around.low_is_even;
    require((up && !r.around.high_fits) || !r.around.low_fits,
            "only a tie that goes up overflows:", {r.result.code});
  } else if (to_even) {
    require((r.result.code >> c.to.spec.storage_shift & 1) == 0,
            "a tie goes to the even code:", {r.result.code});
  } else {
    require(r.got == r.around.high, "a tie goes away from zero:", {r.result.code});
  }
}

TEST(Nearest, TiesToEvenGivesTheEvenCode) {
  for_all({.roundings = {Rounding::ties_to_even}}, [](const CastCase& c) { check_tie(c, true); });
}

TEST(Nearest, TiesToAwayGivesTheGreaterMagnitude) {
  for_all({.roundings = {Rounding::ties_to_away}}, [](const CastCase& c) { check_tie(c, false); });
}

TEST(Nearest, TheTwoNearestModesDifferOnTiesAlone) {
  for_all({.sources = Sources::any, .roundings = {Rounding::ties_to_even}}, [](const CastCase& c) {
    CastPolicy away = c.policy;
    away.rounding = Rounding::ties_to_away;
    const CastResult even = result_of(c);
    const CastResult other = cast(c.from.spec, c.word, c.to.spec, away, c.random);
    require(even == other || (even.flags & other.flags & kTie) != 0,
            "the modes differ on a tie alone:", {even.code, other.code});
  });
}

}  // namespace
}  // namespace halfulp::laws
