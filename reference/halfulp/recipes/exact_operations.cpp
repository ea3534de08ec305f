// Operations on exact values with IEEE 754-2019 rules for Inf, NaN and signed zeros.
#include "halfulp/recipes/exact_operations.hpp"

#include <algorithm>

#include <algorithm>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/oracle/transcendental.hpp"

namespace halfulp::recipes {
namespace {

using oracle::Exact;
using oracle::Value;
using oracle::ValueClass;

constexpr CastPolicy kIeee = {.overflow = Overflow::overflow};

const FormatSpec& format_of(Precision precision) {
  static constexpr FormatSpec f16 = spec_of("f16"), bf16 = spec_of("bf16"), f32 = spec_of("f32"), f64 = spec_of("f64");
  switch (precision) {
    case Precision::f16: return f16;
    case Precision::bf16: return bf16;
    case Precision::f32: return f32;
    case Precision::f64: break;
  }
  return f64;
}

bool nan(const Value& v) { return v.cls == ValueClass::nan; }
bool infinite(const Value& v) { return v.cls == ValueClass::infinity; }
bool zero(const Value& v) { return v.cls == ValueClass::zero; }
Value signed_value(Value v, bool negative) {
  v.negative = negative;
  return v;
}
Value quiet() { return oracle::nan_value(false); }

Value rounded(const Value& v, Precision precision) { return oracle::rounded(v, format_of(precision), kIeee); }
Value rounded(const Exact& number, Precision precision) { return rounded(oracle::value_from(number), precision); }

Value add(const Value& a, const Value& b, Precision precision) {
  if (nan(a) || nan(b)) return quiet();
  if (infinite(a) && infinite(b)) return a.negative == b.negative ? a : quiet();
  if (infinite(a) || infinite(b)) return infinite(a) ? a : b;
  const Exact sum = a.number() + b.number();
  if (sum.is_zero()) return oracle::zero_value(a.negative && b.negative);  // x + -x is +0 to nearest, -0 + -0 is -0
  return rounded(sum, precision);
}

Value multiply(const Value& a, const Value& b) {  // exact
  const bool negative = a.negative != b.negative;
  if (nan(a) || nan(b) || (infinite(a) && zero(b)) || (zero(a) && infinite(b))) return quiet();
  if (infinite(a) || infinite(b)) return oracle::infinity_value(negative);
  if (zero(a) || zero(b)) return oracle::zero_value(negative);
  return oracle::value_from(a.number() * b.number());
}

Value divide(const Value& a, const Value& b, Precision precision) {
  const bool negative = a.negative != b.negative;
  if (nan(a) || nan(b) || (infinite(a) && infinite(b)) || (zero(a) && zero(b))) return quiet();
  if (infinite(a) || zero(b)) return oracle::infinity_value(negative);
  if (infinite(b) || zero(a)) return oracle::zero_value(negative);
  return rounded(a.number() / b.number(), precision);
}

Value negated(const Value& v) { return signed_value(v, !v.negative); }

Value minimum(const Value& a, const Value& b) {
  if (nan(a)) return b;
  if (nan(b)) return a;
  if (zero(a) && zero(b)) return a.negative ? a : b;
  return less(b, a) ? b : a;
}

/// An integer from a finite number by `pick`, which sees its floor and the distance above it.
template <class Pick>
Value integer(const Value& v, Pick pick) {
  if (v.cls != ValueClass::finite) return v;
  const Exact floor = v.number().floor();
  const Exact result = floor + Exact(pick(floor, v.number() - floor) ? 1 : 0);
  return result.is_zero() ? oracle::zero_value(v.negative) : oracle::value_from(result);
}

bool is_odd(const Exact& n) { return !(n * Exact::pow2(-1)).is_integer(); }

Value to_integer(const Value& v, Op op) {
  const Exact half = Exact::pow2(-1);
  return integer(v, [&](const Exact& floor, const Exact& above) {
    switch (op) {
      case Op::ceiling: return above > Exact(0);
      case Op::truncate: return v.negative && above > Exact(0);
      case Op::round_even: return above > half || (above == half && is_odd(floor));
      case Op::round_away: return v.negative ? above > half : above >= half;
      default: return false;
    }
  });
}

/// Bisection to 128 bits, then the side of the true root: enough for one correct rounding to any precision in use.
Value square_root(const Value& v, Precision precision) {
  if (v.cls == ValueClass::zero || nan(v) || (infinite(v) && !v.negative)) return v;
  if (v.negative) return quiet();
  const int half = v.magnitude.floor_log2() >= 0 ? v.magnitude.floor_log2() / 2 : -((1 - v.magnitude.floor_log2()) / 2);
  Exact below = Exact::pow2(half), step = below;
  for (int i = 0; i < 128 && !(below * below == v.magnitude); ++i) {
    step = step.times_pow2(-1);
    const Exact middle = below + step;
    if (middle * middle <= v.magnitude) below = middle;
  }
  return rounded(below * below == v.magnitude ? below : below + step.times_pow2(-1), precision);
}

Value power_below(const Value& v) {
  if (v.cls != ValueClass::finite) return v;
  return signed_value(oracle::value_from(Exact::pow2(v.magnitude.floor_log2())), v.negative);
}

Value add_to_bits(const Value& v, const std::string& literal) {
  const FormatSpec& f32 = format_of(Precision::f32);
  const auto amount = oracle::parse_exact(literal);
  const std::uint64_t bits = oracle::nearest(v, f32, kIeee).code + amount->to_uint64().value();
  return oracle::value_of(f32, bits & 0xffffffffu);
}

Value cast_exact(const Step& step, const Value& v, std::uint64_t* code) {
  const CastResult result = oracle::nearest(v, step.target, step.policy);
  if (result.refusal != Refusal::none) {
    throw InputError("recipe step '" + step.text + "'", "the cast has no answer for " + oracle::to_string(v),
                     "keep such values out of the tensor");
  }
  if (code != nullptr) *code = result.code;
  return oracle::value_of(step.target, result.code);
}

/// As the engine's: the neighbour step.ulps floats away where it is within one ulp of `exact`.
Value admissible(const Step& step, const Value& nearest, const Value& exact) {
  const FormatSpec& f32 = format_of(Precision::f32);
  if (step.ulps == 0 || step.precision != Precision::f32 || nearest.cls != ValueClass::finite) return nearest;
  const bool outward = (step.ulps > 0) != nearest.negative;
  const std::uint64_t code = oracle::nearest(nearest, f32, kIeee).code;
  const Value candidate = oracle::value_of(f32, outward ? code + 1 : code - 1);
  if (!candidate.is_finite()) return nearest;
  const Exact ulp = Exact::pow2(std::max(exact.magnitude.floor_log2(), -126) - 23);
  return (candidate.number() - exact.number()).abs() > ulp ? nearest : candidate;
}

Value flushed(const Value& v, const Step& step) {
  const bool tiny = v.cls == ValueClass::finite && v.magnitude < Exact::pow2(-126);
  return tiny && step.precision == Precision::f32 ? oracle::zero_value(v.negative) : v;
}

Value reciprocal_approx(const Step& step, const Value& operand) {
  const Value v = flushed(operand, step);
  const Value nearest = divide(oracle::value_from(Exact(1)), v, step.precision);
  if (v.cls != ValueClass::finite) return nearest;
  return flushed(admissible(step, nearest, oracle::value_from(Exact(1) / v.number())), step);
}

/// log2 and exp2: nearness is judged on the result in binary64.
Value transcendental(const Step& step, const Value& v, Value (*function)(const Value&, const FormatSpec&)) {
  const Value nearest = function(v, format_of(step.precision));
  return step.ulps == 0 ? nearest : admissible(step, nearest, function(v, format_of(Precision::f64)));
}

}  // namespace

bool less(const Value& a, const Value& b) {
  if (nan(a) || nan(b)) return false;
  const auto rank = [](const Value& v) { return infinite(v) ? (v.negative ? -1 : 1) : 0; };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 0 && a.number() < b.number();
}

Value literal_exact(const std::string& literal, Precision precision) {
  const auto value = oracle::parse_value(literal);
  if (!value) throw InputError("literal " + literal, "not a number", "write a decimal or a hex-float");
  return value->cls == ValueClass::finite ? rounded(*value, precision) : *value;
}

Value apply_exact(const Step& step, std::span<const Value> o, std::uint64_t* code) {
  switch (step.op) {
    case Op::constant: return literal_exact(step.literal, step.precision);
    case Op::copy: return o[0];
    case Op::add: return add(o[0], o[1], step.precision);
    case Op::subtract: return add(o[0], negated(o[1]), step.precision);
    case Op::multiply: return rounded(multiply(o[0], o[1]), step.precision);
    case Op::divide: return divide(o[0], o[1], step.precision);
    case Op::negate: return negated(o[0]);
    case Op::absolute: return signed_value(o[0], false);
    case Op::copy_sign: return signed_value(o[0], o[1].negative);
    case Op::square_root: return square_root(o[0], step.precision);
    case Op::minimum: return minimum(o[0], o[1]);
    case Op::maximum: return negated(minimum(negated(o[0]), negated(o[1])));
    case Op::fma: return add(multiply(o[0], o[1]), o[2], step.precision);
    case Op::reciprocal_approx: return reciprocal_approx(step, o[0]);
    case Op::log2: return transcendental(step, o[0], oracle::log2_rounded);
    case Op::exp2: return transcendental(step, o[0], oracle::exp2_rounded);
    case Op::ceiling:
    case Op::floor:
    case Op::truncate:
    case Op::round_even:
    case Op::round_away: return to_integer(o[0], step.op);
    case Op::pow2_floor: return power_below(o[0]);
    case Op::pow2_ceil: {
      const Value below = power_below(o[0]);
      if (o[0].cls != ValueClass::finite || below.magnitude == o[0].magnitude) return o[0];
      return rounded(below.number() * Exact(2), step.precision);
    }
    case Op::bits_add: return add_to_bits(o[0], step.literal);
    case Op::select_zero: return zero(o[0]) ? o[1] : o[2];
    case Op::select_finite: return o[0].is_finite() ? o[1] : o[2];
    case Op::select_nan: return nan(o[0]) ? o[1] : o[2];
    case Op::select_less: return less(o[0], o[1]) ? o[2] : o[3];
    case Op::cast: return cast_exact(step, o[0], code);
    default: break;
  }
  return quiet();
}

}  // namespace halfulp::recipes
