// The two neighbours of a number on the grid of a format, continued past its largest finite with an
// unbounded exponent. IEEE 754-2019 4.3: "rounded as though with unbounded exponent range". Twin:
// formats/halfulp/round.hpp.
#include <algorithm>

#include "halfulp/oracle/grid.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::oracle {

namespace {

/// The distance between numbers of the continued grid in the binade of `x`, for x >= the largest finite.
Exact gap_beyond(const FormatSpec& to, const Exact& x) {
  switch (to.encoding) {
    case Encoding::twos_complement: return Exact::pow2(-to.fraction_bits);
    case Encoding::hifloat8: return Exact::pow2(x.floor_log2() - 1);  // one fraction bit in the top binades
    case Encoding::floating:
    case Encoding::codebook: break;
  }
  const int lowest = to.subnormals == Subnormals::gradual ? 1 - to.bias : -to.bias;
  return Exact::pow2(std::max(x.floor_log2(), lowest) - to.fraction_bits);
}

/// Numbers of the continued grid alternate between even and odd. In a binade they are multiples m of the
/// gap; the parity of m is that of the code except where one binade holds one number (no fraction bits), so
/// there the exponent decides.
bool is_even_beyond(const FormatSpec& to, const Grid& grid, bool negative, const Exact& x) {
  const std::uint64_t last = grid.size(negative) - 1;
  const Exact largest = grid.value(negative, last).magnitude;
  const bool last_is_even = (grid.code(negative, last) >> to.storage_shift & 1) == 0;
  if (to.encoding == Encoding::floating && to.fraction_bits == 0) {
    return (x.floor_log2() - largest.floor_log2()) % 2 == 0 ? last_is_even : !last_is_even;
  }
  return (x / gap_beyond(to, x)).times_pow2(-1).is_integer();
}

}  // namespace

Neighbours neighbours(const Value& x, const FormatSpec& to) {
  const Grid& grid = grid_of(to);
  const bool negative = x.negative && to.is_signed;
  const Exact& magnitude = x.magnitude;
  const std::uint64_t last = grid.size(negative) - 1;
  // HiFloat8 codes do not follow the values: there the position in the order stands for the code.
  const auto is_even = [&](std::uint64_t index) {
    const std::uint64_t code = grid.code(negative, index) >> to.storage_shift;
    return ((to.encoding == Encoding::hifloat8 ? index : code) & 1) == 0;
  };

  Neighbours n;
  const auto index = grid.at_or_below(negative, magnitude);
  if (!index) {
    n.below_grid = true;
    n.high = grid.value(negative, 0).magnitude;
    n.high_code = grid.code(negative, 0);
    return n;
  }
  n.low = grid.value(negative, *index).magnitude;
  n.low_code = grid.code(negative, *index);
  n.low_is_even = is_even(*index);
  if (*index < last) {
    n.high = grid.value(negative, *index + 1).magnitude;
    n.high_code = grid.code(negative, *index + 1);
    return n;
  }
  n.high_fits = false;
  if (to.encoding == Encoding::codebook) {
    n.beyond_grid = n.low != magnitude;
    return n;
  }
  const Exact gap = gap_beyond(to, magnitude);
  const Exact below = (magnitude / gap).floor() * gap;
  n.high = below + gap;
  if (n.low < below) {
    n.low = below;
    n.low_fits = false;
    n.low_is_even = is_even_beyond(to, grid, negative, below);
  }
  return n;
}

}  // namespace halfulp::oracle
