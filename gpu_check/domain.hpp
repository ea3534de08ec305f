// Source codes in the order of a sweep, and the right codes as steps over it. Used on both sides.
#pragma once

#include <cstdint>

#include "halfulp/spec.hpp"

namespace halfulp::gpu {

/// The source codes in order: negatives from -Inf to -0, positives from +0 to +Inf, then positive NaNs, then negative NaNs.
struct Domain {
  std::uint64_t negatives = 0, positives = 0;  ///< not NaN
  std::uint64_t positive_nans = 0, negative_nans = 0;
  std::uint32_t sign = 0;  ///< the sign bit

  HALFULP_HD constexpr std::uint64_t size() const { return negatives + positives + positive_nans + negative_nans; }
  HALFULP_HD constexpr std::uint32_t word(std::uint64_t position) const {
    if (position < negatives) return static_cast<std::uint32_t>(negatives - 1 - position) | sign;
    position -= negatives;
    if (position < positives + positive_nans) return static_cast<std::uint32_t>(position);  // NaNs stand behind Inf
    return static_cast<std::uint32_t>(position - positive_nans) | sign;
  }
  /// End of the stretch of a position in which words are consecutive: falling in the first stretch, rising in the others.
  HALFULP_HD constexpr std::uint64_t stretch_end(std::uint64_t position) const {
    if (position < negatives) return negatives;
    if (position < negatives + positives + positive_nans) return negatives + positives + positive_nans;
    return size();
  }
};

/// The domain of a floating format with -0, or without a sign. NaNs have the largest magnitudes.
constexpr Domain domain_of(const FormatSpec& spec) {
  const std::uint64_t magnitudes = spec.magnitude_mask() + 1;
  const std::uint64_t numbers = spec.has_nan() ? (spec.has_infinity() ? spec.infinity_magnitude() : spec.largest_magnitude()) + 1 : magnitudes;
  Domain domain;
  domain.positives = numbers;
  domain.positive_nans = magnitudes - numbers;
  if (spec.is_signed) {
    domain.negatives = domain.positives;
    domain.negative_nans = domain.positive_nans;
    domain.sign = static_cast<std::uint32_t>(spec.sign_mask());
  }
  return domain;
}

/// A run of positions with one right code; it ends where the next begins.
struct TableStep {
  std::uint64_t first = 0;  ///< position
  std::uint32_t code = 0;
  std::uint32_t unused = 0;

  friend constexpr bool operator==(const TableStep&, const TableStep&) = default;
};

}  // namespace halfulp::gpu
