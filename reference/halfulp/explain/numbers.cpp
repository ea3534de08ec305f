// Exact numbers as people read them: fraction, decimal (all digits, or about six), hex-float.
#include <bit>
#include <cstdio>

#include "halfulp/explain/value.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::explain {
namespace {

constexpr std::size_t kLongestDecimal = 40;
constexpr std::size_t kLongestFraction = 48;

/// About six significant digits, by rounding to binary64 first; powers of two outside its range by their exponent.
std::string about(const oracle::Exact& number) {
  if (number.is_zero()) return "0";
  const int binade = number.floor_log2();
  if (binade < -1020 || binade > 1020) return std::string(number.sign() < 0 ? "-" : "") + "2^" + std::to_string(binade);
  const CastResult rounded = oracle::nearest(oracle::value_from(number), spec_of("f64"), {});
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", std::bit_cast<double>(rounded.code));
  return text;
}

}  // namespace

Shown shown(const oracle::Exact& number) {
  Shown s{oracle::to_fraction_string(number), oracle::to_decimal_string(number), oracle::to_hex_float(number)};
  if (s.decimal.empty() || s.decimal.size() > kLongestDecimal) s.decimal = "≈ " + about(number);
  if (s.fraction.size() > kLongestFraction) {
    s.fraction.clear();
    if (number.is_power_of_two()) {
      s.fraction = std::string(number.sign() < 0 ? "-" : "") + "2^" + std::to_string(number.floor_log2());
    }
  }
  return s;
}

}  // namespace halfulp::explain
