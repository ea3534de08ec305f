// The cast: any unpacked value to a code of any format under a CastPolicy. Twin: reference/halfulp/oracle/nearest.hpp.
//
// 1. Specials and refusals by the policy. 2. locate(): the neighbour nearer to zero on the target's grid, continued past
// the largest finite, and the position in the gap. 3. rounds_away() (round.hpp). 4. Overflow on the rounded value.
// 5. Encoding. IEEE 754-2019 4.3, 7.4, 7.5; OCP OFP8 v1.0 (conversions); IEEE P3109 projection.
#pragma once

#include <cstdint>

#include "halfulp/policy.hpp"
#include "halfulp/round.hpp"
#include "halfulp/spec.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp {
namespace detail {

/// Grid position of a positive magnitude: index of the neighbour nearer to zero, and where in the gap above it.
/// The index is the target's magnitude code (floating, twos_complement) or the code's rank by |value| (tables).
template <class Word>
struct Position {
  std::uint64_t index = 0;
  GapFraction<Word> gap;
  bool below_smallest = false;  ///< formats without zero: under the smallest number
};

/// Splits significand * 2^exponent at the bit of weight 2^unit: whole units, and the fraction of one unit.
/// The caller guarantees that the whole part fits 64 bits.
template <class Word>
HALFULP_HD HALFULP_INLINE constexpr std::uint64_t split_at(Word significand, std::int32_t exponent, bool sticky,
                                                           std::int32_t unit, GapFraction<Word>& gap) {
  constexpr int kBits = GapFraction<Word>::kBits;
  const std::int32_t shift = unit - exponent;
  gap.sticky = sticky;
  if (shift <= 0) return static_cast<std::uint64_t>(significand << -shift);
  if (shift < kBits) {
    gap.fraction = static_cast<Word>(significand << (kBits - shift));
    return static_cast<std::uint64_t>(significand >> shift);
  }
  const std::int32_t excess = shift - kBits;
  if (excess < kBits) {
    gap.fraction = static_cast<Word>(significand >> excess);
    gap.sticky = sticky || static_cast<Word>(gap.fraction << excess) != significand;
  } else {
    gap.sticky = true;
  }
  return 0;
}

template <class Word>
HALFULP_HD HALFULP_INLINE constexpr Position<Word> locate_floating(const BasicUnpacked<Word>& x, const FormatSpec& to) {
  // Two binades past the top behave like all others beyond: overflow. Clamping keeps the index in 64 bits.
  const std::int32_t top = to.min_exponent() + (std::int32_t{1} << to.exponent_bits) + 1;
  std::int32_t exponent = x.exponent;
  std::int32_t binade = exponent + bit_width(x.significand) - 1;
  if (binade > top) {
    exponent -= binade - top;
    binade = top;
  }
  const std::int32_t lowest = to.min_exponent();
  const std::int32_t effective = binade > lowest ? binade : lowest;
  Position<Word> p;
  const std::uint64_t q = split_at(x.significand, exponent, x.sticky, effective - to.fraction_bits, p.gap);
  p.index = (static_cast<std::uint64_t>(effective - lowest) << to.fraction_bits) + q;
  if (to.subnormals == Subnormals::absent) {  // field 0 is an ordinary binade: no zero at index 0
    p.below_smallest = binade < lowest;
    p.index -= p.below_smallest ? p.index : std::uint64_t{1} << to.fraction_bits;
  }
  return p;
}

template <class Word>
HALFULP_HD constexpr Position<Word> locate_integer(const BasicUnpacked<Word>& x, const FormatSpec& to) {
  Position<Word> p;
  constexpr int kHuge = 62;  // far above every integer format; the fraction below the unit still tells exact from tie
  const bool huge = x.exponent + bit_width(x.significand) + to.fraction_bits > kHuge;
  if (!huge || x.exponent < -to.fraction_bits) {
    p.index = split_at(x.significand, x.exponent, x.sticky, -to.fraction_bits, p.gap);
  }
  if (huge) p.index = std::uint64_t{1} << kHuge;
  return p;
}

/// One end of a gap between table values.
struct TableEnd {
  std::int64_t units = 0;
  std::uint64_t code = 0;
  bool beyond = false;  ///< past the largest number
};

template <class Word>
struct TablePosition {
  TableEnd near, far;
  GapFraction<Word> gap;
};

/// Neighbours of x in a table, by scanning it; the position in the gap by division, 64 bits at a time.
template <class Word>
HALFULP_HD constexpr TablePosition<Word> locate_in_table(const BasicUnpacked<Word>& x, const FormatSpec& to) {
  constexpr int kMaxWhole = 40;  // every table value is below 2^40 units
  std::int32_t exponent = x.exponent + table_places(to);
  const std::int32_t excess = exponent + bit_width(x.significand) - kMaxWhole;
  if (excess > 0) exponent -= excess;
  GapFraction<Word> part;
  const auto whole = static_cast<std::int64_t>(split_at(x.significand, exponent, x.sticky, 0, part));

  // Mirror the table for negative x, so that "near" is always the greatest value <= |x|.
  TablePosition<Word> p;
  p.near.units = INT64_MIN;
  p.far.units = INT64_MAX;
  for (unsigned code = 0; code < (1u << to.width); ++code) {
    if (!table_has(to, code)) continue;
    const std::int64_t units = x.negative ? -table_units(to, code) : table_units(to, code);
    if (units <= whole && units > p.near.units) p.near = {units, code, false};
    if (units > whole && units < p.far.units) p.far = {units, code, false};
  }
  if (p.far.units == INT64_MAX) {
    const bool continued = to.encoding == Encoding::hifloat8;  // 2^15 is followed by 1.5 * 2^15; a codebook just ends
    p.far = {continued ? p.near.units + p.near.units / 2 : p.near.units, p.near.code, true};
    if (whole >= p.far.units) {
      p.near.beyond = whole > p.near.units || !part.zero();
      p.gap.sticky = p.near.beyond;  // a codebook: not exact, and no tie either
      const std::int32_t binade = x.exponent + bit_width(x.significand) - 1;
      if (continued) split_at(x.significand, x.exponent, x.sticky, binade - 1, p.gap);  // two numbers per binade
      return p;
    }
  }
  const auto gap = static_cast<std::uint64_t>(p.far.units - p.near.units);
  std::uint64_t remainder = static_cast<std::uint64_t>(whole - p.near.units);  // below the gap, so below 2^41
  for (int chunk = GapFraction<Word>::kBits - 64; chunk >= 0; chunk -= 64) {
    const uint128 dividend = (static_cast<uint128>(remainder) << 64) | static_cast<std::uint64_t>(part.fraction >> chunk);
    p.gap.fraction |= static_cast<Word>(static_cast<std::uint64_t>(dividend / gap)) << chunk;
    remainder = static_cast<std::uint64_t>(dividend % gap);
  }
  p.gap.sticky = remainder != 0 || part.sticky;
  return p;
}

/// Rounding that never leaves the largest finite when it meets an overflow.
HALFULP_HD constexpr bool rounds_inward(Rounding rounding, bool negative) {
  return rounding == Rounding::toward_zero || rounding == Rounding::to_odd ||
         (rounding == Rounding::toward_positive && negative) || (rounding == Rounding::toward_negative && !negative);
}

HALFULP_HD constexpr std::uint64_t with_sign(const FormatSpec& to, std::uint64_t magnitude, bool negative) {
  if (to.encoding == Encoding::twos_complement) {
    return (negative ? std::uint64_t{0} - magnitude : magnitude) & low_mask(to.width);
  }
  const bool keep = negative && (magnitude != 0 || to.zeros == Zeros::plus_and_minus);
  return (magnitude | (keep ? to.sign_mask() : 0)) << to.storage_shift;
}

/// Code of the largest finite number of a sign.
HALFULP_HD constexpr std::uint64_t largest_code(const FormatSpec& to, bool negative) {
  if (to.encoding == Encoding::codebook) return negative ? 0 : low_mask(to.width);
  return with_sign(to, to.largest_magnitude(negative), negative);
}

/// Code of zero; 0 where the format has none. Tables: the code whose value is zero.
HALFULP_HD constexpr std::uint64_t zero_code(const FormatSpec& to, bool negative) {
  if (to.encoding != Encoding::codebook) return with_sign(to, 0, negative);
  unsigned code = 0;
  while (table_units(to, code) != 0) ++code;
  return code;
}

/// Code of the NaN that `policy` asks for. Requires to.has_nan().
HALFULP_HD constexpr std::uint64_t nan_code(const FormatSpec& to, bool negative, std::uint64_t payload,
                                            const CastPolicy& policy) {
  switch (to.non_finite) {
    case NonFinite::ieee: {
      const std::uint64_t quiet = std::uint64_t{1} << (to.fraction_bits - 1);
      std::uint64_t fraction = quiet;
      if (policy.nan_code == NanCode::ones) fraction = low_mask(to.fraction_bits);
      if (policy.nan_code == NanCode::payload) fraction |= payload >> (64 - to.fraction_bits);
      return with_sign(to, to.infinity_magnitude() | fraction, negative);
    }
    case NonFinite::nan_all_ones: return with_sign(to, to.magnitude_mask(), negative && to.is_signed);
    default: break;
  }
  return to.is_signed ? to.sign_mask() : to.magnitude_mask();
}

HALFULP_HD constexpr CastResult refuse(Refusal why) { return {.refusal = why}; }

HALFULP_HD constexpr CastResult cast_nan(bool negative, std::uint64_t payload, const FormatSpec& to,
                                         const CastPolicy& policy) {
  if (to.has_nan()) {
    if (policy.nan_sign == NanSign::unrecorded) return refuse(Refusal::nan_unrecorded);
    const bool sign = negative && to.is_signed && policy.nan_sign == NanSign::keep_sign;
    if (to.non_finite == NonFinite::nan_minus_zero && policy.fnuz_nan == FnuzNan::signed_max) {
      return {.code = largest_code(to, sign), .flags = kInexact};
    }
    return {.code = nan_code(to, sign, payload, policy)};
  }
  const bool sign = negative && to.is_signed;
  switch (policy.nan_none) {
    case NanNone::error: break;
    case NanNone::nan_to_max: return {.code = largest_code(to, false), .flags = kInexact};
    case NanNone::nan_to_signed_max: return {.code = largest_code(to, sign), .flags = kInexact};
    case NanNone::nan_to_zero: return {.code = zero_code(to, false), .flags = kInexact};
    case NanNone::nan_to_signed_zero: return {.code = zero_code(to, sign), .flags = kInexact};
    case NanNone::nan_to_negative_zero_flip: return {.code = zero_code(to, !negative && to.is_signed), .flags = kInexact};
  }
  return refuse(Refusal::nan);
}

/// Inf, or NaN where the format has no Inf. Requires one of them.
HALFULP_HD constexpr std::uint64_t infinity_or_nan(const FormatSpec& to, bool negative, const CastPolicy& policy) {
  if (to.has_infinity()) return with_sign(to, to.infinity_magnitude(), negative);
  return nan_code(to, negative, 0, policy);
}

HALFULP_HD constexpr CastResult cast_infinity(bool negative, const FormatSpec& to, const CastPolicy& policy) {
  if (!to.has_infinity() && !to.has_nan()) {
    switch (policy.inf_none) {
      case InfNone::max: return {.code = largest_code(to, negative), .flags = kInexact};
      case InfNone::zero: return {.code = zero_code(to, negative), .flags = kInexact};
      case InfNone::error: return refuse(Refusal::infinity);
    }
  }
  const bool to_largest = policy.overflow == Overflow::saturate || (policy.overflow == Overflow::saturate_keep_inf &&
                                                                    to.non_finite == NonFinite::p3109_finite);
  if (to_largest) return {.code = largest_code(to, negative), .flags = kInexact};
  CastResult r{.code = infinity_or_nan(to, negative, policy)};
  if (!to.has_infinity()) r.flags = kInexact;
  return r;
}

HALFULP_HD constexpr CastResult cast_zero(bool negative, const FormatSpec& to, const CastPolicy& policy) {
  if (to.zeros != Zeros::absent) return {.code = zero_code(to, negative)};
  switch (policy.zero) {
    case ZeroInto::error: break;
    case ZeroInto::min: return {.code = 0, .flags = kInexact};
    case ZeroInto::nan: return {.code = nan_code(to, false, 0, policy), .flags = kInexact};
  }
  return refuse(Refusal::zero);
}

/// Result of a finite value whose rounded magnitude is too large.
HALFULP_HD constexpr std::uint64_t overflowed(const FormatSpec& to, bool negative, const CastPolicy& policy) {
  const bool clamped = policy.overflow != Overflow::overflow || (!to.has_infinity() && !to.has_nan()) ||
                       (policy.directed_overflow == DirectedOverflow::clamp && rounds_inward(policy.rounding, negative));
  return clamped ? largest_code(to, negative) : infinity_or_nan(to, negative, policy);
}

/// Overflow is judged on the source value: any value above the largest finite overflows.
HALFULP_HD constexpr bool judged_early(const CastPolicy& policy) {
  return policy.overflow_test == OverflowTest::before_rounding && policy.overflow == Overflow::overflow;
}

HALFULP_HD constexpr bool is_nearest(Rounding rounding) {
  return rounding == Rounding::ties_to_even || rounding == Rounding::ties_to_away;
}

HALFULP_HD constexpr bool flushes(Flush flush, Flush way) { return flush == way || flush == Flush::both; }

template <class Word>
HALFULP_HD constexpr CastResult cast_into_table(const BasicUnpacked<Word>& x, const FormatSpec& to,
                                                const CastPolicy& policy, std::uint64_t random) {
  const TablePosition<Word> p = locate_in_table(x, to);
  const bool exact = p.gap.zero();
  const bool away = rounds_away(p.gap, x.negative, (p.near.code & 1) != 0, policy, random);
  const TableEnd& chosen = away ? p.far : p.near;
  const bool tie = p.gap.half() && is_nearest(policy.rounding);
  CastResult r;
  r.flags = static_cast<std::uint8_t>((exact ? 0 : kInexact) | (tie ? kTie : 0));
  if (chosen.beyond || (judged_early(policy) && p.far.beyond && !exact)) {
    r.flags |= kInexact | kOverflow;
    r.code = overflowed(to, x.negative, policy);
  } else {
    r.code = chosen.code;
    bool subnormal = table_is_subnormal(to, static_cast<unsigned>(chosen.code));
    if (subnormal && flushes(policy.flush, Flush::out)) {
      r.code = zero_code(to, x.negative);
      r.flags |= kInexact | kUnderflow;
      subnormal = false;
    }
    if (subnormal) r.flags |= kSubnormal;
    if (!exact && (subnormal || chosen.units == 0)) r.flags |= kUnderflow;
  }
  return r;
}

template <class Word>
HALFULP_HD HALFULP_INLINE constexpr CastResult cast_finite(const BasicUnpacked<Word>& x, const FormatSpec& to,
                                                           const CastPolicy& policy, std::uint64_t random) {
  if (to.encoding == Encoding::codebook || to.encoding == Encoding::hifloat8) {
    return cast_into_table(x, to, policy, random);
  }
  const bool floating = to.encoding == Encoding::floating;
  const Position<Word> p = floating ? locate_floating(x, to) : locate_integer(x, to);
  const bool on_grid = p.gap.zero() && !p.below_smallest;
  bool away = !p.below_smallest && rounds_away(p.gap, x.negative, (p.index & 1) != 0, policy, random);
  if (to.zeros == Zeros::absent && p.index == 0) {
    if (policy.low_binade == LowBinade::upward && !p.below_smallest) away = !on_grid;
    if (policy.low_binade == LowBinade::never_min) away = true;
  }
  std::uint64_t index = p.index + (away ? 1 : 0);

  const bool tie = p.gap.half() && !p.below_smallest && is_nearest(policy.rounding);
  const std::uint64_t largest = to.largest_magnitude(x.negative);
  const bool too_large = index > largest;
  const bool early = judged_early(policy) && p.index == largest && !on_grid;
  int flags = (on_grid && !away ? 0 : kInexact) | (tie ? kTie : 0);
  if (too_large || early) {
    flags |= kInexact | kOverflow;
    return {.code = overflowed(to, x.negative, policy), .flags = static_cast<std::uint8_t>(flags)};
  }
  const bool gradual = floating && to.subnormals == Subnormals::gradual;
  bool subnormal = gradual && index != 0 && (index >> to.fraction_bits) == 0;
  if (subnormal && flushes(policy.flush, Flush::out)) {
    index = 0;
    subnormal = false;
    flags |= kInexact;
  }
  if (subnormal) flags |= kSubnormal;
  if ((flags & kInexact) && (subnormal || (index == 0 && to.zeros != Zeros::absent))) flags |= kUnderflow;
  return {.code = with_sign(to, index, x.negative), .flags = static_cast<std::uint8_t>(flags)};
}

}  // namespace detail

/// Casts an unpacked value. `random` is the value's word of random bits (stochastic rounding only).
/// Returns the target's container word and flags, or a refusal where the policy names no answer.
template <class Word>
HALFULP_HD HALFULP_INLINE constexpr CastResult cast(BasicUnpacked<Word> x, const FormatSpec& to, const CastPolicy& policy,
                                                    std::uint64_t random = 0) {
  if (policy.rounding == Rounding::unrecorded) return detail::refuse(Refusal::rounding_unrecorded);
  if (x.number_class == NumberClass::nan) return detail::cast_nan(x.negative, x.payload, to, policy);
  if (x.number_class == NumberClass::infinity && policy.inf_record == InfRecord::unrecorded) {
    return detail::refuse(Refusal::infinity_unrecorded);
  }
  std::uint8_t flushed = 0;
  if (x.number_class == NumberClass::subnormal && detail::flushes(policy.flush, Flush::in)) {
    x.number_class = NumberClass::zero;
    flushed = kInexact | kUnderflow;
  }
  if (!to.is_signed && x.negative) {
    if (x.number_class != NumberClass::zero) {
      switch (policy.negative) {
        case Negative::error: return detail::refuse(Refusal::negative);
        case Negative::nan:
          if (to.has_nan()) return {.code = detail::nan_code(to, false, 0, policy)};
          return detail::cast_nan(false, 0, to, policy);
        case Negative::zero: x.number_class = NumberClass::zero; break;
        case Negative::abs: break;
      }
    }
    x.negative = false;
  }
  if (x.number_class == NumberClass::infinity) return detail::cast_infinity(x.negative, to, policy);
  if (x.number_class == NumberClass::zero) {
    CastResult r = detail::cast_zero(x.negative, to, policy);
    if (r.refusal == Refusal::none) r.flags |= flushed;
    return r;
  }
  return detail::cast_finite(x, to, policy, random);
}

/// Casts a container word of `from`.
HALFULP_HD HALFULP_INLINE constexpr CastResult cast(const FormatSpec& from, std::uint64_t word, const FormatSpec& to,
                                                    const CastPolicy& policy, std::uint64_t random = 0) {
  return cast(unpack(from, word), to, policy, random);
}

/// The same with everything known at compile time, for users' kernels: `cast<kF32, kE4m3, kPolicy>(bits)`.
template <FormatSpec From, FormatSpec To, CastPolicy Policy = CastPolicy{}>
HALFULP_HD HALFULP_INLINE constexpr CastResult cast(std::uint64_t word, std::uint64_t random = 0) {
  constexpr FormatSpec from = From, to = To;
  constexpr CastPolicy policy = Policy;
  return cast(unpack(from, word), to, policy, random);
}

}  // namespace halfulp
