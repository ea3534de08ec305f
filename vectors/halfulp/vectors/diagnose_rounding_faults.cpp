// Wrong ways to round. Each is a few lines over the right cast or over the unpacked value.
#include <algorithm>

#include "halfulp/vectors/diagnose_behaviour.hpp"
#include "halfulp/vectors/fault_predicates.hpp"

namespace halfulp::vectors {
namespace {

bool is_grid(const FormatSpec& format) {
  return is_floating(format) || format.encoding == Encoding::twos_complement;
}

/// The same cast in another direction; a magnitude rounded past the largest finite overflows in every
/// direction.
CastResult toward(Rounding direction, const Unpacked& x, const FormatSpec& to, CastPolicy policy) {
  policy.rounding = direction;
  policy.directed_overflow = DirectedOverflow::literal;
  return cast(x, to, policy);
}

template <Rounding Direction>
CastResult ties(const Unpacked& x, const FormatSpec& to, const CastPolicy& policy) {
  CastPolicy nearest = policy;
  nearest.rounding = Rounding::ties_to_even;
  const CastResult right = cast(x, to, nearest);
  return (right.flags & kTie) ? toward(Direction, x, to, policy) : right;
}

CastResult away_from_zero(const Unpacked& x, const FormatSpec& to, const CastPolicy& policy) {
  const bool down = x.negative && to.is_signed;
  return toward(down ? Rounding::toward_negative : Rounding::toward_positive, x, to, policy);
}

/// Drops what lies below the bit of weight 2^unit.
Unpacked cut_below(Unpacked x, std::int32_t unit) {
  const std::int32_t drop = unit - x.exponent;
  if (drop <= 0) return x;
  x.significand = drop < 64 ? x.significand & ~low_mask(drop) : 0;
  if (x.significand == 0) x.number_class = NumberClass::zero;
  return x;
}

template <int Bits>
CastResult guard_bits(const Unpacked& x, const FormatSpec& to, const CastPolicy& policy) {
  const std::int32_t binade = is_floating(to) ? std::max(binade_of(x), to.min_exponent()) : 0;
  return cast(cut_below(x, binade - to.fraction_bits - Bits), to, policy);
}

template <int Bits>
CastResult significand_cut(const Unpacked& x, const FormatSpec& to, const CastPolicy& policy) {
  return cast(cut_below(x, binade_of(x) - to.fraction_bits - Bits), to, policy);
}

CastResult carry_lost(const Unpacked& x, const FormatSpec& to, const CastPolicy& policy) {
  const CastResult right = cast(x, to, policy);
  const CastResult below = toward(Rounding::toward_zero, x, to, policy);
  if (right.refusal != Refusal::none) return right;
  const int fraction = to.fraction_bits + to.storage_shift;
  if (right.code >> fraction == below.code >> fraction) return right;
  return {.code = below.code & ~low_mask(fraction)};
}

/// Shift counts taken modulo the register's width, as CPUs do, on the way to a subnormal result.
template <int Width>
CastResult shift_modulo(const Unpacked& x, const FormatSpec& to, const CastPolicy& policy) {
  const int shift = to.min_exponent() - to.fraction_bits - x.exponent;
  if (x.number_class != NumberClass::normal || shift < Width) return cast(x, to, policy);
  const int count = shift % Width;
  const std::uint64_t kept = x.significand >> count;
  const std::uint64_t half = std::uint64_t{1} << ((count + Width - 1) % Width);
  const std::uint64_t rest = x.significand & low_mask(count);
  const std::uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
  return {.code = ((rounded & to.magnitude_mask()) | (x.negative ? to.sign_mask() : 0))
                  << to.storage_shift};
}

// clang-format off
constexpr RoundingFault kRoundingFaults[] = {
    {"ties_up", "ties toward +Inf", any_format, ties<Rounding::toward_positive>},
    {"ties_down", "ties toward -Inf", any_format, ties<Rounding::toward_negative>},
    {"ties_toward_zero", "ties toward zero", any_format, ties<Rounding::toward_zero>},
    {"ties_to_odd", "ties to the odd code", any_format, ties<Rounding::to_odd>},
    {"away_from_zero", "every inexact magnitude goes up", any_format, away_from_zero},
    {"guard_bits_1", "one bit below the result decides, nothing below it", is_grid, guard_bits<1>},
    {"guard_bits_2", "two bits below the result decide, nothing below them", is_grid, guard_bits<2>},
    {"guard_bits_3", "three bits below the result decide, nothing below them", is_grid, guard_bits<3>},
    {"significand_cut_1", "the source is cut one bit below the result's precision first", is_floating, significand_cut<1>},
    {"significand_cut_2", "the source is cut two bits below the result's precision first", is_floating, significand_cut<2>},
    {"significand_cut_3", "the source is cut three bits below the result's precision first", is_floating, significand_cut<3>},
    {"carry_lost", "a carry out of the significand does not reach the exponent", has_fraction, carry_lost},
    {"shift_modulo_32", "shift counts wrap at 32 for tiny inputs", has_subnormals, shift_modulo<32>},
    {"shift_modulo_64", "shift counts wrap at 64 for tiny inputs", has_subnormals, shift_modulo<64>},
};
// clang-format on

}  // namespace

std::span<const RoundingFault> rounding_faults() {
  return kRoundingFaults;
}
const RoundingFault& rounding_fault(std::string_view name) {
  return fault_named(rounding_faults(), name);
}

}  // namespace halfulp::vectors
