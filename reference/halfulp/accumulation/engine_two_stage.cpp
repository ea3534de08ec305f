// CDNA3: a truncated sum of products, floored and added to the floored c. Twin: two_stage_chunk in sum_exact_orders.cpp.
#include <algorithm>

#include "halfulp/accumulation/detail/engine_plan.hpp"
#include "halfulp/config.hpp"

namespace halfulp::accumulation::detail {
namespace {

/// Products cut at 2^(exponent - F), summed.
struct CutSum {
  std::int64_t units = 0;
  int exponent = kNoExponent;
};

std::int64_t magnitude_of(std::int64_t x) { return x < 0 ? -x : x; }

/// Toward minus infinity; a negative count shifts left.
std::int64_t floor_shift(std::int64_t x, int right) { return right < 0 ? x << -right : x >> std::min(right, 63); }

CutSum cut_sum(const EnginePlan& plan, const ChunkOperands& x, std::size_t first, std::size_t step) {
  CutSum sum;
  for (std::size_t k = first; k < x.count; k += step) sum.exponent = std::max(sum.exponent, x.a[k].exponent + x.b[k].exponent);
  for (std::size_t k = first; k < x.count; k += step) {
    const std::int64_t product = std::int64_t{x.a[k].significand} * x.b[k].significand;
    const std::int64_t kept = cut(magnitude_of(product) << plan.lift, sum.exponent - x.a[k].exponent - x.b[k].exponent);
    sum.units += product < 0 ? -kept : kept;
  }
  return sum;
}

struct Specials {
  bool plus = false, minus = false, nan = false;
  void add(bool negative) { (negative ? minus : plus) = true; }
};

/// A finite product of 2^128 or more counts as an infinity.
Specials specials_of(const EnginePlan& plan, const ChunkOperands& x, OperandKind c) {
  Specials s{c == OperandKind::plus_infinity, c == OperandKind::minus_infinity, c == OperandKind::nan};
  for (std::size_t k = 0; k < x.count; ++k) {
    const EngineOperand &a = x.a[k], &b = x.b[k];
    const bool a_finite = a.kind == OperandKind::finite, b_finite = b.kind == OperandKind::finite;
    const bool negative = (a.significand < 0 || a.kind == OperandKind::minus_infinity) != (b.significand < 0 || b.kind == OperandKind::minus_infinity);
    if (a_finite && b_finite) {
      const std::int64_t product = magnitude_of(std::int64_t{a.significand} * b.significand);
      const int top = bit_width(static_cast<std::uint64_t>(product)) - 1 + a.exponent + b.exponent - plan.product_places;
      if (product != 0 && top >= 128) s.add(negative);
      continue;
    }
    const bool zero = (a_finite && a.significand == 0) || (b_finite && b.significand == 0);
    if (a.kind == OperandKind::nan || b.kind == OperandKind::nan || zero) s.nan = true;
    else s.add(negative);
  }
  return s;
}

}  // namespace

std::uint32_t two_stage(const EnginePlan& plan, const ChunkOperands& x, std::uint32_t c_word) {
  const CTerm c = c_term(plan, c_word);
  const Specials special = specials_of(plan, x, c.kind);
  if (special.nan || (special.plus && special.minus)) return kNanF32;
  if (special.plus || special.minus) return special.minus ? 0xff800000u : 0x7f800000u;

  const bool parity = plan.spec.model.scheme == Scheme::two_stage_parity;
  CutSum sum = cut_sum(plan, x, 0, parity ? 2 : 1);
  if (parity && x.count > 1) {
    const CutSum odd = cut_sum(plan, x, 1, 2);
    const int largest = std::max(sum.exponent, odd.exponent);
    sum = {floor_shift(sum.units, largest - sum.exponent) + floor_shift(odd.units, largest - odd.exponent), largest};
  }
  const int largest = std::max(sum.exponent, c.exponent), fraction_bits = plan.spec.model.fraction_bits;
  std::int64_t total = x.count == 0 ? 0 : floor_shift(sum.units, largest - sum.exponent - 7);
  const bool dropped = parity && c.exponent < largest - fraction_bits - 1;
  if (!dropped) total += floor_shift(c.significand, largest - c.exponent - (fraction_bits - 23)) * 128;
  return nearest_f32_word(total, largest - fraction_bits - 7);
}

}  // namespace halfulp::accumulation::detail
