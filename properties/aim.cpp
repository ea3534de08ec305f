// Aimed source codes: see aim.hpp.
#include "aim.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>

#include "halfulp/oracle/grid.hpp"
#include "halfulp/oracle/nearest.hpp"

namespace halfulp::laws {
namespace {

using oracle::Exact;
using oracle::Grid;

std::uint64_t target_index(const Grid& grid, const Aim& aim) {
  const std::uint64_t size = grid.size(aim.negative);
  switch (aim.place) {
    case Place::bottom: return std::min(aim.rank % 3, size - 1);
    case Place::top: return size - 1 - std::min(aim.rank % 3, size - 1);
    case Place::hinge:
      if (const auto& normal = grid.limits().smallest_normal) {
        const std::uint64_t index = grid.at_or_below(false, normal->value).value_or(0);
        return std::min(index - std::min<std::uint64_t>(index, aim.rank % 3), size - 1);
      }
      break;
    case Place::anywhere:
    case Place::source_subnormal:
    case Place::source_special:
    case Place::source_uniform: break;
  }
  return aim.rank % size;
}

/// Zeros, infinities, NaNs (first, last and one between of every run), and the ends of the source format.
std::uint64_t special_word(const FormatSpec& from, std::uint64_t rank) {
  const oracle::Limits& ends = oracle::limits_of(from);
  std::vector<std::uint64_t> words = {ends.largest.code, ends.smallest_positive.code};
  for (const auto& code : {ends.zero, ends.minus_zero, ends.infinity, ends.minus_infinity}) {
    if (code) words.push_back(*code);
  }
  for (const auto& number : {ends.lowest, ends.smallest_normal, ends.smallest_subnormal}) {
    if (number) words.push_back(number->code);
  }
  const std::uint64_t unit = std::uint64_t{1} << from.storage_shift;
  for (const auto& run : ends.nans) {
    const std::uint64_t count = (run.last - run.first) / unit + 1;
    words.insert(words.end(), {run.first, run.last, run.first + rank % count * unit});
  }
  return words[rank % words.size()];
}

/// A subnormal of a floating format; of any other, one of the smallest numbers.
std::uint64_t subnormal_word(const FormatSpec& from, bool negative, std::uint64_t rank) {
  const Grid& grid = oracle::grid_of(from);
  const bool side = negative && from.is_signed;
  const bool floating = from.encoding == Encoding::floating && from.fraction_bits > 0;
  const std::uint64_t count = floating ? (std::uint64_t{1} << from.fraction_bits) - 1 : 7;
  return grid.code(side, std::min(1 + rank % count, grid.size(side) - 1));
}

std::uint64_t word_near(const FormatSpec& from, bool negative, const Exact& magnitude, int offset) {
  const Grid& grid = oracle::grid_of(from);
  const std::uint64_t last = grid.size(negative) - 1;
  std::uint64_t index = grid.at_or_below(negative, magnitude).value_or(0);
  const auto step = static_cast<std::uint64_t>(offset < 0 ? -offset : offset);
  index = offset < 0 ? index - std::min(index, step) : index + std::min(last - index, step);
  return grid.code(negative, index);
}

}  // namespace

Exact gap_point(const FormatSpec& to, bool negative, std::uint64_t index, int sixty_fourths) {
  const Exact low = oracle::grid_of(to).value(negative, index).magnitude;
  oracle::Value at_low = oracle::value_from(low);
  at_low.negative = negative;
  const Exact high = oracle::neighbours(at_low, to).high;
  const Exact gap = high > low ? high - low : Exact(1);  // a codebook ends: nothing above
  return low + (gap * Exact(sixty_fourths)).times_pow2(-6);
}

std::uint64_t aimed_word(const FormatSpec& from, const FormatSpec& to, const Aim& aim) {
  if (aim.place == Place::source_uniform) return (aim.rank & low_mask(from.width)) << from.storage_shift;
  if (aim.place == Place::source_special) return special_word(from, aim.rank);
  if (aim.place == Place::source_subnormal) return subnormal_word(from, aim.negative, aim.rank);
  Aim on_target = aim;
  on_target.negative = aim.negative && to.is_signed;
  const Grid& grid = oracle::grid_of(to);
  Exact point = gap_point(to, on_target.negative, target_index(grid, on_target), aim.sixty_fourths);
  if (aim.place == Place::bottom && !grid.limits().zero && aim.rank % 2 == 1) {
    point = (grid.value(false, 0).magnitude * Exact(aim.sixty_fourths)).times_pow2(-6);
  }
  return word_near(from, aim.negative && from.is_signed, point, aim.offset);
}

const std::vector<Format>& p3109_formats(int first, int last) {
  static std::deque<std::string> names;
  static std::map<std::array<int, 2>, std::vector<Format>> families;
  std::vector<Format>& family = families[{first, last}];
  if (!family.empty()) return family;
  for (int k = first; k <= last; ++k) {
    for (int p = 1; p <= k; ++p) {
      for (const char* kind : {"se", "sf", "ue", "uf"}) {
        if (kind[0] == 's' && p == k) continue;
        names.push_back("binary" + std::to_string(k) + "p" + std::to_string(p) + kind);
        family.push_back(*find_format(names.back()));
      }
    }
  }
  return family;
}

const std::vector<Format>& made_up_formats() {
  static const std::vector<Format> formats = {
      {"made_up_no_zero_e5m2", unsigned_float(5, 2, 15, NonFinite::nan_all_ones, Zeros::absent), "", ""},
      {"made_up_ue3m4_finite", unsigned_float(3, 4, 6, NonFinite::none), "", ""},
      {"made_up_ue4m2_ieee", unsigned_float(4, 2, 3, NonFinite::ieee), "", ""},
      {"made_up_e6m1_one_nan", signed_float(6, 1, 20, NonFinite::nan_minus_zero), "", ""},
      {"made_up_e3m6_shifted", signed_float(3, 6, 5, NonFinite::ieee, 6), "", ""},
      {"made_up_fixed_12", integer(12, true, IntegerRange::restricted, 3), "", ""},
  };
  return formats;
}

}  // namespace halfulp::laws
