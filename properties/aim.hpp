// Aim: source codes where roundings differ - ties, thresholds, grid numbers and their neighbours, the ends
// of both formats - found with the oracle's exact numbers, never with the engine under test.
#pragma once

#include <cstdint>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/oracle/exact.hpp"

namespace halfulp::laws {

/// Where on the target's grid.
enum class Place : std::uint8_t {
  anywhere,
  bottom,            ///< around the smallest numbers, and below them
  hinge,             ///< around the smallest normal number
  top,               ///< around and above the largest number
  source_subnormal,  ///< any subnormal source code
  source_special,    ///< the target does not matter: a zero, Inf, NaN or end of the source format
  source_uniform     ///< any source code
};

struct Aim {
  Place place = Place::anywhere;
  bool negative = false;
  std::uint64_t rank = 0;  ///< picks the number (modulo what there is)
  int sixty_fourths = 0;   ///< of the gap above that number; 32 is the tie
  int offset = 0;          ///< source codes beside the one at or below the point
};

/// The container word of `from` that the aim describes.
std::uint64_t aimed_word(const FormatSpec& from, const FormatSpec& to, const Aim& aim);

/// The magnitude half way (or another part of the way) between grid number `index` of the positive or
/// negative side and the next, the grid continued past its end.
oracle::Exact gap_point(const FormatSpec& to, bool negative, std::uint64_t index, int sixty_fourths);

/// Every IEEE P3109 format with K in first..last, with its name.
const std::vector<Format>& p3109_formats(int first, int last);

/// Valid formats that no standard names, for combinations of fields that the named ones do not reach.
const std::vector<Format>& made_up_formats();

}  // namespace halfulp::laws
