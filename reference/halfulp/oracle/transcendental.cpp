// Correctly rounded log2 and exp2 by enclosure; see transcendental.hpp.
#include "halfulp/oracle/transcendental.hpp"

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "halfulp/oracle/nearest.hpp"

namespace halfulp::oracle {
namespace {

using boost::multiprecision::cpp_int;

/// Arithmetic on kBits bits, of which all but the last twenty are trusted after one elementary function.
template <unsigned kBits>
struct Arithmetic {
  static constexpr int kTrusted = kBits - 20;
  using Number = boost::multiprecision::number<
      boost::multiprecision::cpp_bin_float<kBits, boost::multiprecision::digit_base_2, void, std::int64_t>>;

  static Number from(const Exact& x) { return from_integer(x.numerator_hex()) / from_integer((Exact(1) / x).numerator_hex()); }
  static Number from_integer(const std::string& hex) { return Number(cpp_int("0x" + hex)); }

  static Exact exact(const Number& value) {
    std::int64_t exponent = 0;
    const Number mantissa = frexp(value, &exponent);  // in [0.5, 1)
    const cpp_int integer(ldexp(mantissa, static_cast<int>(kBits)));
    const cpp_int magnitude = abs(integer);
    Exact sum;
    for (unsigned shift = 0; shift < kBits; shift += 64) {
      const auto limb = static_cast<std::uint64_t>((magnitude >> shift) & ~std::uint64_t{0});
      sum += Exact::scaled_unsigned(limb, static_cast<int>(shift));
    }
    sum = sum.times_pow2(static_cast<int>(exponent) - static_cast<int>(kBits));
    return integer < 0 ? -sum : sum;
  }
};

constexpr CastPolicy kIeee = {.overflow = Overflow::overflow};

/// The value that both ends of an enclosure round to; empty when they part.
std::optional<Value> round_enclosed(const Exact& middle, int trusted, const FormatSpec& to) {
  const Exact error = middle.abs() * Exact::pow2(-trusted);
  const Value low = rounded(value_from(middle - error), to, kIeee);
  const Value high = rounded(value_from(middle + error), to, kIeee);
  return low == high ? std::optional(low) : std::nullopt;
}

/// `function` of a number whose result is no boundary of `to`: exact results were taken out before. A boundary nearer than the
/// narrow arithmetic can tell is left to the wide one.
template <class Function>
Value round_function(const Exact& x, int exponent, const FormatSpec& to, Function function) {
  const auto in = [&]<unsigned kBits>(Arithmetic<kBits> arithmetic) {
    const auto middle = arithmetic.exact(function(arithmetic.from(x)));
    return round_enclosed(middle.times_pow2(exponent), arithmetic.kTrusted, to);
  };
  if (const auto narrow = in(Arithmetic<128>())) return *narrow;
  if (const auto wide = in(Arithmetic<300>())) return *wide;
  throw std::logic_error("transcendental: a result too near to a rounding boundary");
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
  return round_function(x.magnitude, 0, to, [](const auto& number) { return log2(number); });
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
  return round_function(fraction, exponent, to, [](const auto& f) { return exp2(f); });
}

}  // namespace halfulp::oracle
