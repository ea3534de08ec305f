// What follows from a format's definition and is worth printing: its extreme values and special codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::tool {

/// Container words of a format's notable codes; empty where it has none.
struct FormatFacts {
  std::optional<std::uint64_t> largest;
  std::optional<std::uint64_t> lowest;           ///< the most negative finite number
  std::optional<std::uint64_t> smallest_normal;  ///< the smallest positive number without gradual underflow
  std::optional<std::uint64_t> smallest_subnormal;
  std::optional<std::uint64_t> minus_zero;
  std::vector<std::uint64_t> infinities;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> nans;  ///< first and last of each run of codes

  std::uint64_t nan_count(const FormatSpec& spec) const;
};

FormatFacts format_facts(const FormatSpec& spec);

/// |a| < |b| for finite numbers.
bool magnitude_less(const Unpacked& a, const Unpacked& b);

std::string_view encoding_name(Encoding encoding);

}  // namespace halfulp::tool
