// Integers with a zero point, rotations, and grids from a table.
#include <array>

#include "halfulp/recipes/registry_parts.hpp"

namespace halfulp::recipes {
namespace {

// clang-format off
#define ZERO_IN_RANGE                                                             \
  "mn = if_nan(lo, lo, min(lo, 0)) * clip\n"                                      \
  "mx = if_nan(hi, hi, max(hi, 0)) * clip\n"

#define ASYMMETRIC_STEPS                                                          \
  "low = if_zero(mn, if_zero(mx, -1, mn), mn)\n"                                  \
  "high = if_zero(mn, if_zero(mx, 1, mx), mx)\n"                                  \
  "scale f32:positive (high - low) / levels\n"

#define OUTLIERS_AND_TABLE                                                        \
  "y = if_zero(out, x - Z, 0) / S\n"                                              \
  "keep out\n"                                                                    \
  "code element nearest(y, codebook)\n"                                           \
  "value to(f16 if_finite(entry(codebook, v) * S + Z, entry(codebook, v) * S + Z, 0))\n" \
  "fact nearest entry by rounded distance, the first of equal ones; NaN gives entry 0; Inf and NaN read back 0\n" \
  "fact outliers are kept as they are; their codes are those of the middle of the range\n" \
  "fact a range above 65504 makes a half scale Inf: all but outliers read back 0\n"
// clang-format on

constexpr auto kTable = std::to_array<NamedRecipe>({
    {"int_asym/zero_point",
     "granularity row\n"
     "element uint8 uint4 uint2\n"
     "amax propagate\n"
     "input clip = 1\n" ZERO_IN_RANGE ASYMMETRIC_STEPS
     "zero element:nan_to_zero min(max(rne(-low / S), 0), levels)\n"
     "code element min(max(rne(x / S) + Z, 0), levels)\n"
     "value S * (v - Z)\n"
     "fact the range is forced to contain 0, so that 0 is representable; an all-zero row has range -1..1\n"
     "fact a NaN makes the scale NaN; codes 0, values NaN; Inf makes the scale Inf, values NaN\n",
     "source"},
    {"int_asym/zero_point_group",
     "granularity group 128\n"
     "element uint4 uint2 uint8\n"
     "amax propagate\n"
     "input clip = 1\n"
     "mn = lo * clip\n"
     "mx = hi * clip\n" ASYMMETRIC_STEPS "zero int32:nan_to_zero rne(-low / S)\n"
     "code element min(max(rne(x / S) + Z, 0), levels)\n"
     "value if_zero(S, S / S, S * (v - Z))\n"
     "fact 0 need not lie in the range; the zero point is any integer (float in the original, here int32)\n"
     "fact a constant group other than 0 has scale 0 and reads back NaN; an all-zero group has range "
     "-1..1\n",
     "source"},
    {"int_sym/quarot",
     "granularity row\n"
     "element int4 int8 int2\n"
     "amax propagate\n"
     "input clip = 1\n"
     "m = a * clip\n"
     "scale f32:positive if_zero(m, 1, m / levels)\n"
     "code element:nan_to_zero x / S\n"
     "value v * S\n"
     "fact codes -(m+1)..m; an all-zero row has scale 1; a NaN makes the scale NaN\n"
     "fact two codes per byte, low nibble first, two's complement\n",
     "source"},
    {"quarot/k",
     "granularity row\n"
     "element uint4 uint2 uint8\n"
     "amax propagate\n"
     "transform to(f16 hadamard(to(f16 x)) * (1 / sqrt(count(x))))\n"
     "input clip = 1\n" ZERO_IN_RANGE ASYMMETRIC_STEPS
     "zero element:nan_to_zero min(max(rne(-low / S), 0), levels)\n"
     "code element min(max(rne(x / S) + Z, 0), levels)\n"
     "value to(f16 S * (v - Z))\n"
     "fact after RoPE; a row is one head of one token; the values are those of the rotated key, q is "
     "rotated alike\n"
     "fact butterflies of stride 1, 2, 4 … in binary32, times 1/sqrt(d), back to half; d must be a power "
     "of two\n"
     "fact per token instead of per head: rotate each head, then int_asym/zero_point over the row of all "
     "heads\n",
     "source"},
    {"kvquant/k",
     "granularity column\n"
     "element uint4 uint2 uint8\n"
     "input outlier_lower per block\n"
     "input outlier_upper per block\n"
     "input codebook table\n"
     "lower = to(f16 outlier_lower)\n"
     "upper = to(f16 outlier_upper)\n"
     "zero f16:positive (upper + lower) / 2 @f16\n"
     "scale f16:positive (upper - lower) / 2 @f16\n"
     "out = if_less(upper, x, 1, if_less(x, lower, 1, 0))\n" OUTLIERS_AND_TABLE
     "fact before RoPE; thresholds per channel, from calibration, kept as half; outliers strictly outside\n"
     "fact the table is one per layer, from weighted k-means of the values scaled to -1..1\n",
     "source"},
    {"kvquant/k_calibrated",
     "granularity column\n"
     "element uint4 uint2 uint8\n"
     "input dense = 0.99\n"
     "input codebook table\n"
     "t = 1 - (1 - dense) / 2 @f64\n"
     "lower = to(f16 quantile(x, 1 - t)) @f64\n"
     "upper = to(f16 quantile(x, t)) @f64\n"
     "zero f16:positive (upper + lower) / 2 @f16\n"
     "scale f16:positive (upper - lower) / 2 @f16\n"
     "out = if_less(upper, x, 1, if_less(x, lower, 1, 0))\n" OUTLIERS_AND_TABLE
     "fact kvquant/k with the thresholds of the tensor itself: percentiles with linear interpolation in "
     "binary64\n"
     "fact a NaN in the channel makes its thresholds NaN: no outliers, all read back 0\n",
     "source"},
    {"kvquant/v",
     "granularity row\n"
     "element uint4 uint2 uint8\n"
     "input dense = 0.99\n"
     "input codebook table\n"
     "t = 1 - (1 - dense) / 2 @f64\n"
     "lower_fraction = to(f32 1 - t) @f64\n"
     "lower = quantile(x, lower_fraction)\n"
     "upper = quantile(x, to(f32 t))\n"
     "out = if_nan(upper, 0, if_less(x, upper, if_less(lower, x, 0, 1), 1))\n"
     "inner = if_zero(out, x, median(x))\n"
     "top = highest(inner)\n"
     "bottom = lowest(inner)\n"
     "zero f32:positive (top + bottom) / 2\n"
     "scale f32:positive (top - bottom) / 2\n" OUTLIERS_AND_TABLE
     "fact per token at run time; outliers at or outside the thresholds: a row always has some\n"
     "fact the range is that of the others and of the row's lower median, not that of the thresholds\n",
     "source"},
});

#undef ZERO_IN_RANGE
#undef ASYMMETRIC_STEPS
#undef OUTLIERS_AND_TABLE

}  // namespace

std::span<const NamedRecipe> integer_recipes() {
  return kTable;
}

}  // namespace halfulp::recipes
