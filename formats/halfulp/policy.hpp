// CastPolicy: everything a cast decides besides the two formats. One enumerator per word of the vocabulary.
//
// The defaults are those of docs/guide.md: ties_to_even, saturate, NaN sign kept, and a refusal wherever no answer
// is common. `unrecorded` marks what is not known of a library: a dialect that has it refuses such an input.
#pragma once

#include <cstdint>

#include "halfulp/config.hpp"

namespace halfulp {

/// IEEE 754-2019 4.3 and P3109 rounding directions. "Even" means the even code.
enum class Rounding : std::uint8_t {
  ties_to_even,
  ties_to_away,
  toward_zero,
  toward_positive,
  toward_negative,
  to_odd,
  stochastic,
  unrecorded,  ///< a dialect whose caller must name the rounding
};

/// What a finite value becomes whose rounded magnitude exceeds the largest finite, and what Inf becomes.
enum class Overflow : std::uint8_t {
  saturate,           ///< both give the largest finite (OCP SAT, P3109 SatFinite)
  saturate_keep_inf,  ///< finite gives the largest finite; Inf stays Inf, or NaN where there is none (P3109 SatPropagate)
  overflow,           ///< both give Inf, or NaN where there is none (OCP OVF, P3109 OvfInf)
};

/// Whether overflow is judged on the rounded value (IEEE 754-2019 7.4) or on the source value (a library fault).
enum class OverflowTest : std::uint8_t { after_rounding, before_rounding };

/// Finite overflow under `overflow`, rounded inward: the largest finite (IEEE 754-2019 7.4), or Inf/NaN all the same.
enum class DirectedOverflow : std::uint8_t { clamp, literal };

/// What happens to the sign of a source NaN that stays a NaN. A NaN made by overflow always keeps the sign.
enum class NanSign : std::uint8_t { keep_sign, positive, unrecorded };

/// Which NaN, where the target has several.
enum class NanCode : std::uint8_t {
  any,      ///< produce `quiet`; a judge accepts every NaN of the target
  quiet,    ///< quiet bit set, payload 0 (E5M2 7E)
  ones,     ///< every trailing significand bit set (E5M2 7F)
  payload,  ///< the top payload bits of the source, quiet bit set
};

/// NaN into a format that has none.
enum class NanNone : std::uint8_t {
  error,
  nan_to_max,
  nan_to_signed_max,
  nan_to_zero,
  nan_to_signed_zero,
  nan_to_negative_zero_flip,  ///< zero of the opposite sign
};

/// Inf into a format that has neither Inf nor NaN.
enum class InfNone : std::uint8_t { max, zero, error };

/// A negative number (not -0) into an unsigned format.
enum class Negative : std::uint8_t { error, abs, zero, nan };

/// Zero into a format that has none (E8M0): the smallest number, or NaN.
enum class ZeroInto : std::uint8_t { error, min, nan };

/// Subnormal numbers replaced by a zero of their sign, on the way in or out.
enum class Flush : std::uint8_t { none, in, out, both };

/// Stochastic rounding variants of P3109, after P3109 working drafts and gfloat 0.5.
enum class Stochastic : std::uint8_t { A, B, C };

/// Where libraries depart from their own E8M0 rounding in the lowest binade.
enum class LowBinade : std::uint8_t {
  by_rounding,
  upward,     ///< every value strictly between 2^-127 and 2^-126 gives 2^-126
  never_min,  ///< no positive value gives 2^-127: it and everything below gives 2^-126
};

/// NaN into an FNUZ format: its NaN, or the largest finite of the NaN's sign (a library fault).
enum class FnuzNan : std::uint8_t { nan, signed_max };

/// Inf: as `overflow` says, or not known for this library.
enum class InfRecord : std::uint8_t { by_overflow, unrecorded };

struct CastPolicy {
  Rounding rounding = Rounding::ties_to_even;
  Overflow overflow = Overflow::saturate;
  OverflowTest overflow_test = OverflowTest::after_rounding;
  DirectedOverflow directed_overflow = DirectedOverflow::clamp;
  NanSign nan_sign = NanSign::keep_sign;
  NanCode nan_code = NanCode::any;
  NanNone nan_none = NanNone::error;
  InfNone inf_none = InfNone::max;
  InfRecord inf_record = InfRecord::by_overflow;
  Negative negative = Negative::error;
  ZeroInto zero = ZeroInto::error;
  Flush flush = Flush::none;
  FnuzNan fnuz_nan = FnuzNan::nan;
  LowBinade low_binade = LowBinade::by_rounding;
  Stochastic sr_variant = Stochastic::A;
  int sr_bits = 0;  ///< random bits per value under Rounding::stochastic, 1..32

  friend constexpr bool operator==(const CastPolicy&, const CastPolicy&) = default;
};

/// Why a cast has no answer under its policy.
enum class Refusal : std::uint8_t {
  none,
  nan,                 ///< NaN into a format without NaN and no NaN rule named
  infinity,            ///< Inf into a format without Inf or NaN under inf_none = error
  negative,            ///< negative into an unsigned format and no rule named
  zero,                ///< zero into a format without zero and no rule named
  nan_unrecorded,      ///< the dialect's answer for NaN is not known
  infinity_unrecorded, ///< the dialect's answer for Inf is not known
  rounding_unrecorded  ///< the dialect leaves the rounding to its caller
};

/// Flags of one cast, in the order in which they are printed.
enum Flag : std::uint8_t {
  kInexact = 1,    ///< the result differs from the source value
  kOverflow = 2,   ///< finite source, rounded magnitude above the largest finite
  kUnderflow = 4,  ///< result subnormal or zero, and inexact
  kTie = 8,        ///< source exactly half way between neighbours (nearest roundings only)
  kSubnormal = 16  ///< result is subnormal
};

struct CastResult {
  std::uint64_t code = 0;  ///< container word of the target format; 0 when refused
  std::uint8_t flags = 0;
  Refusal refusal = Refusal::none;

  friend constexpr bool operator==(const CastResult&, const CastResult&) = default;
};

}  // namespace halfulp
