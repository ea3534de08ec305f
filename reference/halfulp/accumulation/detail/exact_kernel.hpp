// Exact sums of products of narrow floating formats, by vectors of floats and doubles. Private to ExactDot.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halfulp::accumulation::detail {

/// How codes become floats: the magnitude moved to where a float32 has it, times a power of two.
struct NarrowFloat {
  std::uint32_t magnitude_mask, sign_mask;
  int shift;          ///< 23 - fraction bits
  int scale_exponent; ///< 127 - bias
  std::uint32_t first_special;  ///< magnitudes from here on are Inf or NaN
  std::uint32_t special_code;   ///< this code is NaN
};

/// Sets `units` to sum(a*b) * lift, a power of two, when every operand is finite, and says so. The caller sees to it that products are exact in
/// a float32, sums in a double, and that lift makes them integers. False, and nothing set, where the level has no vectors.
bool narrow_dot(const NarrowFloat& format_a, const NarrowFloat& format_b, const std::uint32_t* a, const std::uint32_t* b, std::size_t count,
                double lift, double& units);

/// Integers high * 2^9 + low, |high| <= 2^9 and 0 <= low < 2^9.
struct HalvesRow {
  const std::int16_t *high, *low;
};

/// Rows of halves are padded with zeros to a multiple of this many.
inline constexpr std::size_t kHalvesBlock = 32;

/// sum(a*b) of rows of `count` halves, a multiple of kHalvesBlock and at most 2^16.
std::int64_t halves_dot(HalvesRow a, HalvesRow b, std::size_t count);

/// sums[j] = sum(a*b[j]) for `columns` rows of `count` halves each, a multiple of kHalvesBlock and at most 2^16.
void halves_dots(const HalvesRow& a, const HalvesRow* b, std::size_t columns, std::size_t count, std::int64_t* sums);

}  // namespace halfulp::accumulation::detail
