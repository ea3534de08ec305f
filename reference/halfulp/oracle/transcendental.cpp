// Correctly rounded log2 and exp2 by enclosure; see transcendental.hpp.
#include "halfulp/oracle/transcendental.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <stdexcept>

#include "halfulp/oracle/nearest.hpp"

namespace halfulp::oracle {
namespace {

constexpr unsigned kBits = 300;
constexpr int kTrusted = 280;  // bits of a result that are right, with twenty to spare
using Big = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<kBits, boost::multiprecision::digit_base_2, void, std::int64_t>>;
using boost::multiprecision::cpp_int;

constexpr CastPolicy kIeee = {.overflow = Overflow::overflow};

Big to_big(const Exact& x) { return Big(cpp_int(x.numerator_string())) / Big(cpp_int(x.denominator_string())); }

Exact to_exact(const Big& value) {
  std::int64_t exponent = 0;
  const Big mantissa = frexp(value, &exponent);  // in [0.5, 1)
  const cpp_int integer(ldexp(mantissa, static_cast<int>(kBits)));
  const cpp_int magnitude = abs(integer);
  Exact sum;
  for (unsigned shift = 0; shift < kBits; shift += 32) {
    const auto limb = static_cast<std::uint64_t>((magnitude >> shift) & 0xffffffffu);
    sum += Exact::scaled_unsigned(limb, static_cast<int>(shift));
  }
  sum = sum.times_pow2(static_cast<int>(exponent) - static_cast<int>(kBits));
  return integer < 0 ? -sum : sum;
}

/// Rounds a value known to kTrusted bits. Exact results were taken out before, so it is not on a boundary.
Value round_enclosed(const Exact& middle, const FormatSpec& to) {
  const Exact error = middle.abs() * Exact::pow2(-kTrusted);
  const Value low = rounded(value_from(middle - error), to, kIeee);
  const Value high = rounded(value_from(middle + error), to, kIeee);
  if (!(low == high)) throw std::logic_error("transcendental: a result too near to a rounding boundary");
  return low;
}

}  // namespace

Value log2_rounded(const Value& x, const FormatSpec& to) {
  if (x.cls == ValueClass::nan || (x.negative && x.cls != ValueClass::zero)) return nan_value(false);
  if (x.cls == ValueClass::zero) return infinity_value(true);
  if (x.cls == ValueClass::infinity) return infinity_value(false);
  if (x.magnitude.is_power_of_two()) {
    const Exact exponent(x.magnitude.floor_log2());
    return exponent.is_zero() ? zero_value(false) : rounded(value_from(exponent), to, kIeee);
  }
  return round_enclosed(to_exact(log2(to_big(x.magnitude))), to);
}

Value exp2_rounded(const Value& x, const FormatSpec& to) {
  if (x.cls == ValueClass::nan) return nan_value(false);
  if (x.cls == ValueClass::infinity) return x.negative ? zero_value(false) : x;
  const Exact number = x.number();
  const Exact limit(40000);  // every format's exponents are inside +-33000
  if (number > limit || number < -limit) return rounded(value_from(Exact::pow2(number > limit ? 35000 : -35000)), to, kIeee);
  const Exact whole = number.floor();
  const auto exponent = static_cast<int>(whole.to_int64().value());
  const Exact fraction = number - whole;
  if (fraction.is_zero()) return rounded(value_from(Exact::pow2(exponent)), to, kIeee);
  return round_enclosed(to_exact(exp2(to_big(fraction))).times_pow2(exponent), to);
}

}  // namespace halfulp::oracle
