// The cast by distance, rule by rule. Sections as in nearest.hpp. Twin: formats/halfulp/round.hpp and
// cast.hpp.
#include "halfulp/oracle/nearest.hpp"

#include <stdexcept>

#include "halfulp/oracle/grid.hpp"

namespace halfulp::oracle {

namespace {

/// 2^n * nu with nu = (x - low) / (high - low), the discarded fraction of the gap.
Exact scaled_fraction(const Neighbours& n, const Exact& x, int bits) {
  return ((x - n.low) / (n.high - n.low)).times_pow2(bits);
}

Exact nearest_integer_ties_to_even(const Exact& x) {
  const Exact low = x.floor();
  const Exact twice_rest = (x - low).times_pow2(1);
  const bool up = twice_rest > Exact(1) || (twice_rest == Exact(1) && !low.times_pow2(-1).is_integer());
  return up ? low + Exact(1) : low;
}

/// P3109 variants A, B and C: whether `x`, strictly between its neighbours, goes away from zero.
bool stochastic_away(const Neighbours& n, const Exact& x, const CastPolicy& policy,
                     std::uint64_t random_word) {
  const int bits = policy.sr_bits;
  const auto r = static_cast<std::int64_t>(random_word & ((std::uint64_t{1} << bits) - 1));
  switch (policy.sr_variant) {
    case Stochastic::A: return scaled_fraction(n, x, bits).floor() + Exact(r) >= Exact::pow2(bits);
    case Stochastic::B:
      return scaled_fraction(n, x, bits + 1).floor() + Exact(2 * r + 1) >= Exact::pow2(bits + 1);
    case Stochastic::C:
      return nearest_integer_ties_to_even(scaled_fraction(n, x, bits)) + Exact(r) >= Exact::pow2(bits);
  }
  throw std::invalid_argument("halfulp::oracle: unknown stochastic variant");
}

class Caster {
 public:
  Caster(const FormatSpec& to, const CastPolicy& policy, std::uint64_t random_word)
      : to_(to), policy_(policy), random_word_(random_word), grid_(grid_of(to)), limits_(grid_.limits()) {}

  CastResult operator()(Value x) const {
    if (x.cls == ValueClass::nan) return source_nan(x);
    if (x.cls == ValueClass::infinity && policy_.inf_record == InfRecord::unrecorded) {
      return refuse(Refusal::infinity_unrecorded);
    }
    std::uint8_t flags = 0;
    if (x.subnormal && (policy_.flush == Flush::in || policy_.flush == Flush::both)) {
      x = zero_value(x.negative);
      flags = kInexact | kUnderflow;
    }
    if (x.negative && x.cls != ValueClass::zero && !to_.is_signed) {
      switch (policy_.negative) {
        case Negative::error: return refuse(Refusal::negative);
        case Negative::abs: x.negative = false; break;
        case Negative::zero: x = zero_value(false); break;
        case Negative::nan:
          return limits_.nans.empty() ? nan_where_none(true) : CastResult{nan_code(true, 0)};
      }
    }
    if (x.cls == ValueClass::infinity) return infinity(x.negative);
    if (x.cls == ValueClass::zero) return zero(x.negative, flags);
    return finite(x);
  }

 private:
  static CastResult refuse(Refusal why) { return {.refusal = why}; }

  // ---- codes ----

  std::uint64_t largest_code(bool negative) const {
    return negative && limits_.lowest ? limits_.lowest->code : limits_.largest.code;
  }
  std::uint64_t zero_code(bool negative) const {
    return negative && limits_.minus_zero ? *limits_.minus_zero : *limits_.zero;
  }

  /// Requires a format with NaN. Only IEEE-like formats have several of one sign (IEEE 754-2019 6.2.1: the
  /// top bit of the trailing significand marks a quiet NaN).
  std::uint64_t nan_code(bool negative, std::uint64_t payload) const {
    if (to_.non_finite != NonFinite::ieee)
      return (negative ? limits_.nans.back() : limits_.nans.front()).first;
    const std::uint64_t fraction_end = std::uint64_t{1} << to_.fraction_bits;
    const std::uint64_t quiet = fraction_end / 2;
    std::uint64_t fraction = quiet;
    if (policy_.nan_code == NanCode::ones) fraction = fraction_end - 1;
    if (policy_.nan_code == NanCode::payload) fraction |= payload >> (64 - to_.fraction_bits);
    const std::uint64_t infinity = negative && to_.is_signed ? *limits_.minus_infinity : *limits_.infinity;
    return infinity | fraction << to_.storage_shift;
  }

  // ---- what is not a number ----

  CastResult source_nan(const Value& x) const {
    if (limits_.nans.empty()) return nan_where_none(x.negative);
    if (policy_.nan_sign == NanSign::unrecorded) return refuse(Refusal::nan_unrecorded);
    const bool negative = x.negative && policy_.nan_sign == NanSign::keep_sign;
    if (to_.non_finite == NonFinite::nan_minus_zero && policy_.fnuz_nan == FnuzNan::signed_max) {
      return {.code = largest_code(negative), .flags = kInexact};
    }
    return {.code = nan_code(negative, x.payload)};
  }

  CastResult nan_where_none(bool negative) const {
    switch (policy_.nan_none) {
      case NanNone::error: return refuse(Refusal::nan);
      case NanNone::nan_to_max: return {.code = largest_code(false), .flags = kInexact};
      case NanNone::nan_to_signed_max: return {.code = largest_code(negative), .flags = kInexact};
      case NanNone::nan_to_zero: return {.code = zero_code(false), .flags = kInexact};
      case NanNone::nan_to_signed_zero: return {.code = zero_code(negative), .flags = kInexact};
      case NanNone::nan_to_negative_zero_flip: return {.code = zero_code(!negative), .flags = kInexact};
    }
    throw std::invalid_argument("halfulp::oracle: unknown NaN rule");
  }

  CastResult infinity(bool negative) const {
    if (to_.non_finite == NonFinite::none) {
      switch (policy_.inf_none) {
        case InfNone::max: return {.code = largest_code(negative), .flags = kInexact};
        case InfNone::zero: return {.code = zero_code(negative), .flags = kInexact};
        case InfNone::error: return refuse(Refusal::infinity);
      }
    }
    const bool to_largest =
        policy_.overflow == Overflow::saturate ||
        (policy_.overflow == Overflow::saturate_keep_inf && to_.non_finite == NonFinite::p3109_finite);
    if (to_largest) return {.code = largest_code(negative), .flags = kInexact};
    if (limits_.infinity) return {.code = negative ? *limits_.minus_infinity : *limits_.infinity};
    return {.code = nan_code(negative, 0), .flags = kInexact};
  }

  CastResult zero(bool negative, std::uint8_t flags) const {
    if (limits_.zero) return {.code = zero_code(negative), .flags = flags};
    flags |= kInexact;
    switch (policy_.zero) {
      case ZeroInto::error: return refuse(Refusal::zero);
      case ZeroInto::min: return {.code = limits_.smallest_positive.code, .flags = flags};
      case ZeroInto::nan: return {.code = nan_code(negative, 0), .flags = flags};
    }
    throw std::invalid_argument("halfulp::oracle: unknown zero rule");
  }

  // ---- numbers ----

  /// A finite result that ends inside the binade below it in magnitude: rounded toward zero, or to_odd by
  /// convention.
  bool rounds_inward(bool negative) const {
    switch (policy_.rounding) {
      case Rounding::toward_zero:
      case Rounding::to_odd: return true;
      case Rounding::toward_positive: return negative;
      case Rounding::toward_negative: return !negative;
      default: return false;
    }
  }

  /// Whether a magnitude strictly between its neighbours goes to the higher one.
  bool goes_away(const Neighbours& n, const Value& x) const {
    const auto distances = x.magnitude - n.low <=> n.high - x.magnitude;
    switch (policy_.rounding) {
      case Rounding::ties_to_even: return distances > 0 || (distances == 0 && !n.low_is_even);
      case Rounding::ties_to_away: return distances >= 0;
      case Rounding::toward_zero: return false;
      case Rounding::toward_positive: return !x.negative;
      case Rounding::toward_negative: return x.negative;
      case Rounding::to_odd: return n.low_is_even;
      case Rounding::stochastic: return stochastic_away(n, x.magnitude, policy_, random_word_);
      case Rounding::unrecorded: break;
    }
    throw std::invalid_argument("halfulp::oracle: the rounding is not named");
  }

  bool is_tie(const Neighbours& n, const Exact& x) const {
    const bool nearest_mode =
        policy_.rounding == Rounding::ties_to_even || policy_.rounding == Rounding::ties_to_away;
    return nearest_mode && x - n.low == n.high - x;
  }

  /// Judged on the rounded magnitude, or on the source under before_rounding (which matters only when not
  /// saturating).
  bool overflows(const Neighbours& n, const Value& x, bool away) const {
    if (away ? !n.high_fits : !n.low_fits) return true;
    const bool before =
        policy_.overflow == Overflow::overflow && policy_.overflow_test == OverflowTest::before_rounding;
    return before && !n.high_fits && n.low != x.magnitude;
  }

  CastResult overflowed(bool negative, bool tie) const {
    CastResult result = {.flags = static_cast<std::uint8_t>(kInexact | kOverflow | (tie ? kTie : 0))};
    const bool clamp = rounds_inward(negative) && policy_.directed_overflow == DirectedOverflow::clamp;
    if (policy_.overflow != Overflow::overflow || clamp || to_.non_finite == NonFinite::none) {
      result.code = largest_code(negative);
    } else if (limits_.infinity) {
      result.code = negative ? *limits_.minus_infinity : *limits_.infinity;
    } else {
      result.code = nan_code(negative, 0);
    }
    return result;
  }

  /// Libraries that leave out the smallest E8M0 number, or the lowest binade above it.
  std::uint64_t in_low_binade(const Exact& x, std::uint64_t code) const {
    if (to_.zeros != Zeros::absent || policy_.low_binade == LowBinade::by_rounding) return code;
    const Exact smallest = grid_.value(false, 0).magnitude;
    const Exact second = grid_.value(false, 1).magnitude;
    const bool moved = x < second && (x > smallest || policy_.low_binade == LowBinade::never_min);
    return moved ? grid_.code(false, 1) : code;
  }

  CastResult finite(const Value& x) const {
    const Neighbours n = neighbours(x, to_);
    if (n.beyond_grid) return overflowed(x.negative, false);
    const bool exact = !n.below_grid && n.low == x.magnitude;
    const bool between = !n.below_grid && !exact;
    const bool away = between ? goes_away(n, x) : n.below_grid;
    const bool tie = between && is_tie(n, x.magnitude);
    if (overflows(n, x, away)) return overflowed(x.negative, tie);

    CastResult result = {.code = in_low_binade(x.magnitude, away ? n.high_code : n.low_code)};
    const Value value = value_of(to_, result.code);
    const bool inexact = value.magnitude != x.magnitude;
    const bool tiny = value.subnormal || value.cls == ValueClass::zero;
    if (tie) result.flags |= kTie;
    if (inexact) result.flags |= kInexact;
    if (inexact && tiny) result.flags |= kUnderflow;
    if (!value.subnormal) return result;
    if (policy_.flush == Flush::out || policy_.flush == Flush::both) {
      result.code = zero_code(x.negative);
      result.flags |= kInexact | kUnderflow;
    } else {
      result.flags |= kSubnormal;
    }
    return result;
  }

  const FormatSpec& to_;
  const CastPolicy& policy_;
  std::uint64_t random_word_;
  const Grid& grid_;
  const Limits& limits_;
};

}  // namespace

CastResult nearest(const Value& x, const FormatSpec& to, const CastPolicy& policy,
                   std::uint64_t random_word) {
  if (policy.rounding == Rounding::unrecorded) {
    throw std::invalid_argument("halfulp::oracle::nearest: the rounding is not named");
  }
  if (policy.rounding == Rounding::stochastic && (policy.sr_bits < 1 || policy.sr_bits > 32)) {
    throw std::invalid_argument("halfulp::oracle::nearest: sr_bits is not in 1..32");
  }
  return Caster(to, policy, random_word)(x);
}

CastResult cast(const FormatSpec& from, std::uint64_t code, const FormatSpec& to, const CastPolicy& policy,
                std::uint64_t random_word) {
  return nearest(value_of(from, code), to, policy, random_word);
}

Value rounded(const Value& x, const FormatSpec& to, const CastPolicy& policy, std::uint64_t random_word) {
  const CastResult result = nearest(x, to, policy, random_word);
  if (result.refusal != Refusal::none)
    throw std::domain_error("halfulp::oracle::rounded: the cast is refused");
  return value_of(to, result.code);
}

}  // namespace halfulp::oracle
