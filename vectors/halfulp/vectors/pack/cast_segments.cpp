// Stretches of the exhaustive level, and single words of the others.
#include "halfulp/vectors/pack/cast_segments.hpp"

#include <algorithm>

#include "halfulp/error.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {
namespace {

constexpr int kAskedBits = 16;  ///< sources this wide are asked word by word

void append(CastSegments& all, std::uint64_t bits, std::uint64_t count, CastFacts facts,
            bool each_word = false) {
  all.segments.push_back({all.rows, bits, count, each_word, std::move(facts)});
  all.rows += count;
}

/// Where facts may change, beside the ends of the runs, as magnitudes of the source (bits without sign).
struct Cuts {
  std::vector<std::uint64_t> at;  ///< ascending
  /// Words from here to there are asked one by one: integers beyond the largest one of the target, each of
  /// which may be half way between two others.
  std::uint64_t asked_begin = 0, asked_end = 0;
};

/// The number at `index` on the grid of the target's magnitudes, which goes on beyond the largest.
Unpacked grid_number(const FormatSpec& to, std::uint64_t index) {
  Unpacked x;
  x.number_class = NumberClass::normal;
  const std::uint64_t field = index >> to.fraction_bits;
  if (to.encoding == Encoding::twos_complement) {
    x.significand = index;
    x.exponent = -to.fraction_bits;
  } else if (field == 0 && to.subnormals == Subnormals::gradual) {
    x.significand = index;
    x.exponent = 1 - to.bias - to.fraction_bits;
  } else {
    x.significand = (index & low_mask(to.fraction_bits)) | (std::uint64_t{1} << to.fraction_bits);
    x.exponent = static_cast<std::int32_t>(field) - to.bias - to.fraction_bits;
  }
  return x;
}

Cuts find_cuts(const CastPlan& plan) {
  const FormatSpec &from = *plan.from, &to = plan.to;
  Cuts cuts;
  cuts.at = {0, 1};
  const auto single = [&](std::uint64_t magnitude) {  // a word on its own
    cuts.at.push_back(magnitude);
    cuts.at.push_back(magnitude + 1);
  };
  for (int bit = 0; bit < from.fraction_bits; ++bit) single(std::uint64_t{1} << bit);
  for (std::uint64_t field = 1; field < low_mask(from.exponent_bits); ++field)
    single(field << from.fraction_bits);
  single(from.infinity_magnitude());
  cuts.at.push_back(from.infinity_magnitude() |
                    (std::uint64_t{1} << (from.fraction_bits - 1)));  // quiet NaNs
  // Numbers of the grid and the points half way. Returns false beyond the numbers of the source.
  constexpr CastPolicy down = {.rounding = Rounding::toward_zero, .overflow = Overflow::saturate};
  const auto place = [&](const Unpacked& x) {
    const CastResult r = cast(x, from, down);
    const std::uint64_t magnitude = r.code >> from.storage_shift;
    if ((r.flags & kInexact) == 0) cuts.at.push_back(magnitude);
    cuts.at.push_back(magnitude + 1);
    return (r.flags & kOverflow) == 0;
  };
  const bool integer = to.encoding == Encoding::twos_complement;
  const std::uint64_t last = std::max(to.largest_magnitude(false), to.largest_magnitude(true)) + 1;
  bool inside = true;
  for (std::uint64_t index = 0; inside && (!integer || index <= last); ++index) {
    Unpacked x = grid_number(to, index);
    if (x.significand != 0) inside = place(x);
    x.significand = 2 * x.significand + 1;
    x.exponent -= 1;
    inside = place(x) && inside;
  }
  if (integer && inside) {
    // A step of the source is a step of the grid from this exponent on: no point lies half way any more.
    const int field = from.bias + from.fraction_bits - to.fraction_bits;
    cuts.asked_begin = cuts.at.back();
    cuts.asked_end = std::max(
        cuts.asked_begin,
        std::min<std::uint64_t>(from.infinity_magnitude(), static_cast<std::uint64_t>(std::max(0, field))
                                                               << from.fraction_bits));
    cuts.at.push_back(cuts.asked_end);
  }
  if (to.subnormals == Subnormals::absent) {  // E8M0: half of the smallest number, and what lies below
    Unpacked x = grid_number(to, 0);
    for (int i = 0; i < 2; ++i) {
      x.exponent -= 1;
      place(x);
    }
  }
  std::sort(cuts.at.begin(), cuts.at.end());
  cuts.at.erase(std::unique(cuts.at.begin(), cuts.at.end()), cuts.at.end());
  return cuts;
}

void add_every_word(const Expected& expected, CastSegments& all) {
  for (const Run& run : expected.runs()) {
    const std::uint64_t count = run.last - run.first + 1;
    if (run.result.refusal != Refusal::none)
      all.refused += count;
    else
      append(all, run.first, count, {.alternative = run.alternative}, /*each_word=*/true);
  }
}

void require_exhaustible(const Expected& expected) {
  const CastPlan& plan = expected.plan();
  const auto refuse = [](const std::string& why) {
    throw InputError("level exhaustive", why, "use --level stratified");
  };
  if (plan.from->width > 32) refuse(plan.from_name + " has too many codes");
  if (!expected.tabulated()) refuse(plan.to_name + " has too many steps to tabulate");
}

}  // namespace

bool has_stretches(const CastPlan& plan) {
  const bool grid = plan.to.encoding == Encoding::floating || plan.to.encoding == Encoding::twos_complement;
  const bool source = plan.from->encoding == Encoding::floating &&
                      plan.from->non_finite == NonFinite::ieee && plan.from->is_signed &&
                      plan.from->fraction_bits > 1;
  return grid && source && !plan.via && plan.policy.rounding != Rounding::stochastic;
}

CastSegments cast_stretches(const Expected& expected, const FactsOf& facts) {
  CastSegments all;
  const FormatSpec& from = *expected.plan().from;
  const Cuts cuts = find_cuts(expected.plan());
  const auto word = [&](std::uint64_t bits) { return bits << from.storage_shift; };
  for (const Run& run : expected.runs()) {
    if (run.result.refusal != Refusal::none) {
      all.refused += run.last - run.first + 1;
      continue;
    }
    for (std::uint64_t begin = run.first; begin <= run.last;) {
      const std::uint64_t sign = begin & from.sign_mask(), size = begin & from.magnitude_mask();
      const auto cut = std::upper_bound(cuts.at.begin(), cuts.at.end(), size);
      const bool beyond = cut == cuts.at.end() || *cut > from.magnitude_mask();
      std::uint64_t last = std::min(run.last, beyond ? sign | from.magnitude_mask() : (sign | *cut) - 1);
      if (size >= cuts.asked_begin && size < cuts.asked_end) {
        append(all, begin, last - begin + 1, {.alternative = run.alternative}, /*each_word=*/true);
        begin = last + 1;
        continue;
      }
      // Both sides of a threshold are words on their own.
      if (begin == run.first) last = begin;
      if (last == run.last && last > begin) last -= 1;
      CastFacts here = facts(word(begin), run);
      for (const std::uint64_t other : {begin + (last - begin) / 2, last}) {
        if (other != begin && facts(word(other), run) != here)
          throw Disagreement("facts change inside a stretch of " + spec_text(expected.plan()) +
                             "; this is a fault of halfulp, please report it");
      }
      append(all, begin, last - begin + 1, std::move(here));
      begin = last + 1;
    }
  }
  return all;
}

CastSegments cast_segments(const Expected& expected, const FactsOf& facts, Level level,
                           std::uint64_t seed) {
  CastSegments all;
  const CastPlan& plan = expected.plan();
  if (level == Level::exhaustive) {
    require_exhaustible(expected);
    if (plan.from->width > kAskedBits && has_stretches(plan))
      all = cast_stretches(expected, facts);
    else
      add_every_word(expected, all);
  } else {
    const LevelWords words = level_words(expected, level, seed);
    all.refused = words.refused;
    for (const std::uint64_t word : words.words)
      append(all, word >> plan.from->storage_shift, 1, facts(word));
  }
  return all;
}

}  // namespace halfulp::vectors
