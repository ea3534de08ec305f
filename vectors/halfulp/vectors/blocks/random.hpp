// Seeded words and numbers for generated tensors: the same bits on every machine.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::vectors::blocks {

/// Counter-based words (splitmix64); the distributions use exact arithmetic alone.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t word() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) { return word() % n; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  double uniform() { return std::ldexp(static_cast<double>(word() >> 32), -32); }
  double normal() {  // sum of twelve uniforms: mean 0, deviation 1
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

/// The number of a code, exact in binary64.
inline double number_of(const FormatSpec& format, std::uint64_t code) {
  constexpr CastPolicy exact = {.overflow = Overflow::overflow};
  return std::bit_cast<double>(cast(format, code, spec_of("f64"), exact).code);
}
/// The nearest code; finite values stay finite, a NaN stays a NaN.
inline std::uint64_t code_of(const FormatSpec& format, double value) {
  constexpr CastPolicy policy = {.overflow = Overflow::saturate_keep_inf};
  return cast(spec_of("f64"), std::bit_cast<std::uint64_t>(value), format, policy).code;
}
/// The nearest number of a format; finite values stay finite.
inline double in_format(const FormatSpec& format, double value) {
  return number_of(format, code_of(format, value));
}

/// log2 of the top binade.
inline int largest_exponent(const FormatSpec& format) {
  return std::ilogb(number_of(format, format.largest_magnitude()));
}

}  // namespace halfulp::vectors::blocks
