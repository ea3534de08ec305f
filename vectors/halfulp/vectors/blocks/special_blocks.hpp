// Blocks of special numbers, as a table: what element i is.
#pragma once

#include <cstddef>
#include <cmath>
#include <limits>
#include <span>

#include "halfulp/vectors/blocks/random.hpp"

namespace halfulp::vectors::blocks {

struct SpecialBlock {
  const char* name;
  /// `top`: the largest number of the element format. Rounded to the source afterwards.
  double (*value)(std::size_t i, const FormatSpec& source, double top);
};

inline double smallest(const FormatSpec& source) {
  return std::ldexp(1.0, source.min_exponent() - source.fraction_bits);
}
inline double largest(const FormatSpec& source) { return number_of(source, source.largest_magnitude()); }
inline double signed_by(std::size_t i, double x) { return i % 2 == 0 ? x : -x; }
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline constexpr SpecialBlock kSpecialBlocks[] = {
    {"zeros", [](std::size_t, const FormatSpec&, double) { return 0.0; }},
    {"negative zeros", [](std::size_t, const FormatSpec&, double) { return -0.0; }},
    {"zeros of both signs", [](std::size_t i, const FormatSpec&, double) { return signed_by(i, 0.0); }},
    {"one among zeros", [](std::size_t i, const FormatSpec&, double) { return i == 1 ? 1.0 : signed_by(i, 0.0); }},
    {"minus the largest code among -0", [](std::size_t i, const FormatSpec&, double top) { return i == 0 ? -top : -0.0; }},
    {"all equal", [](std::size_t, const FormatSpec&, double) { return 0.7; }},
    {"all equal and negative", [](std::size_t, const FormatSpec&, double) { return -3.0; }},
    {"one NaN", [](std::size_t i, const FormatSpec&, double) { return i == 2 ? kNan : 0.5 - static_cast<double>(i); }},
    {"one NaN of the other sign", [](std::size_t i, const FormatSpec&, double) { return i == 0 ? -kNan : 1 / (1 + static_cast<double>(i)); }},
    {"NaNs among zeros", [](std::size_t i, const FormatSpec&, double) { return i % 3 == 0 ? signed_by(i, kNan) : signed_by(i, 0.0); }},
    {"all NaN", [](std::size_t, const FormatSpec&, double) { return kNan; }},
    {"one Inf", [](std::size_t i, const FormatSpec&, double) { return i == 1 ? kInf : 1 + static_cast<double>(i); }},
    {"one -Inf", [](std::size_t i, const FormatSpec&, double) { return i == 3 ? -kInf : signed_by(i, 2.5); }},
    {"Inf and NaN", [](std::size_t i, const FormatSpec&, double) { return i == 0 ? kInf : i == 1 ? kNan : signed_by(i, 1.0); }},
    {"the largest numbers", [](std::size_t i, const FormatSpec& s, double) { return signed_by(i, largest(s)); }},
    {"the largest number and small ones", [](std::size_t i, const FormatSpec& s, double) { return i == 1 ? -largest(s) : signed_by(i, 1.0); }},
    {"smallest subnormals", [](std::size_t i, const FormatSpec& s, double) { return signed_by(i, smallest(s)); }},
    {"subnormals", [](std::size_t i, const FormatSpec& s, double) { return signed_by(i, smallest(s) * static_cast<double>(1 + i * i)); }},
    {"smallest normal", [](std::size_t i, const FormatSpec& s, double) { return std::ldexp(signed_by(i, 1.0), s.min_exponent()) * (i == 0 ? 1 : 0.5); }},
    {"one outlier", [](std::size_t i, const FormatSpec&, double) { return i == 3 ? 60000.0 : signed_by(i, 0.001 * static_cast<double>(i)); }},
    {"a ladder of powers of two", [](std::size_t i, const FormatSpec&, double) { return signed_by(i, std::ldexp(1.0, 4 - static_cast<int>(i % 24))); }},
    {"halves of the codes", [](std::size_t i, const FormatSpec&, double top) { return signed_by(i, i == 0 ? top : 0.25 * static_cast<double>(i)); }},
    {"just above a power of two", [](std::size_t i, const FormatSpec& s, double) { return signed_by(i, std::ldexp(1 + (i == 0 ? std::ldexp(1.0, -s.fraction_bits) : 0), -static_cast<int>(i % 8))); }},
    {"one sign only", [](std::size_t i, const FormatSpec&, double) { return -1 - 0.125 * static_cast<double>(i % 32); }},
};

inline std::span<const SpecialBlock> special_blocks() { return kSpecialBlocks; }

}  // namespace halfulp::vectors::blocks
