// Tally: what was seen. Totals are exact; examples and the sample do not depend on threads or on the order
// of blocks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "halfulp/vectors/expected.hpp"

namespace halfulp::vectors {

/// Kinds of wrong code, in the order in which they are asked for.
enum class FindingClass : std::uint8_t { does_not_fit, nan, overflow, zero_sign, tie, carry, subnormal, other };
inline constexpr std::array<std::string_view, 8> kFindingNames = {
    "does not fit", "NaN", "overflow", "zero sign", "tie", "carry", "subnormal", "other"};

struct Finding {
  std::uint64_t word = 0;  ///< source container word
  std::uint64_t got = 0;
  std::uint64_t want = 0;
};

/// Counts by distance in codes: 0 is a NaN code or the sign of a zero.
struct Group {
  std::uint64_t count = 0;
  std::uint64_t off_by_none = 0;
  std::uint64_t off_by_one = 0;
  std::uint64_t off_by_more = 0;
  Finding first;  ///< smallest source word; meaningful when count > 0
};

struct Tally {
  std::uint64_t checked = 0;
  std::uint64_t mismatched = 0;
  std::uint64_t refused = 0;  ///< source words that the policy refuses: not run, not judged
  std::array<Group, kFindingNames.size()> groups;
  std::vector<Finding> sample;  ///< of the mismatches, chosen by a hash of the source word

  void add_mismatch(const Expected& expected, const Run& run, std::uint64_t word, std::uint64_t got);
  void merge(const Tally& other);
  /// The mismatch with the smallest source word. Requires mismatched > 0.
  const Finding& first() const;
};

FindingClass classify(const Expected& expected, const Finding& finding);

/// Steps between two target codes in value order; 0 for two NaNs or two zeros.
std::uint64_t codes_off(const Expected& expected, std::uint64_t a, std::uint64_t b);

}  // namespace halfulp::vectors
