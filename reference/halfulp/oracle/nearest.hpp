// nearest: the cast, by distance on exact rationals. IEEE 754-2019 4.3 (roundings), 7.4 and 7.5 (overflow,
// underflow), the saturation modes of OCP OFP8 v1.0 and IEEE P3109; CastPolicy names the choice wherever
// these leave one open.
//
// Decides: the code, the flags and the refusals of every cast.
// Twin: formats/halfulp/round.hpp and cast.hpp.
#pragma once

#include <cstdint>

#include "halfulp/oracle/value.hpp"
#include "halfulp/policy.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::oracle {

/// Rounds `x` to the format `to`. The low `policy.sr_bits` bits of `random_word` are the random number of a
/// stochastic rounding. Throws std::invalid_argument when the rounding is `unrecorded` or sr_bits is
/// outside 1..32.
///
/// Where the policy leaves something to say:
/// - Only a number rounds; `policy.flush` looks at a subnormal source first, then `policy.negative` at its
/// sign.
/// - Neighbours are taken from the grid continued past the largest finite with an unbounded exponent; a
/// codebook ends.
/// - E8M0 gives its smallest number for every positive value below it.
/// - to_odd beyond the largest finite counts as rounded inward.
/// - inexact and underflow are judged on the value that is handed to the rounding; a flushed value is
/// inexact.
CastResult nearest(const Value& x, const FormatSpec& to, const CastPolicy& policy,
                   std::uint64_t random_word = 0);

/// nearest(value_of(from, code), ...).
CastResult cast(const FormatSpec& from, std::uint64_t code, const FormatSpec& to, const CastPolicy& policy,
                std::uint64_t random_word = 0);

/// Rounds to `to` and reads the result back; throws std::domain_error when the cast is refused.
Value rounded(const Value& x, const FormatSpec& to, const CastPolicy& policy = {},
              std::uint64_t random_word = 0);

/// The two numbers of the (continued) grid around |x|, and where x stands between them. For explanations.
struct Neighbours {
  Exact low = {};           ///< <= |x|
  Exact high = {};          ///< > |x|
  bool low_is_even = true;  ///< the code of `low` is even, or would be
  bool low_fits = true;     ///< `low` is not above the largest finite
  bool high_fits = true;    ///< the same for `high`
  bool below_grid =
      false;  ///< |x| is below the smallest number of a format without zero: `low` is meaningless
  bool beyond_grid = false;     ///< |x| is beyond the end of a codebook: `high` is meaningless
  std::uint64_t low_code = 0;   ///< meaningful when low_fits
  std::uint64_t high_code = 0;  ///< meaningful when high_fits
};

/// Neighbours of a finite value. `x.negative` chooses the side in formats whose sides differ.
Neighbours neighbours(const Value& x, const FormatSpec& to);

}  // namespace halfulp::oracle
