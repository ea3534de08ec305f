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

/// Magnitudes of the source (bits without sign) at which facts may change, beside those of the runs.
std::vector<std::uint64_t> cuts(const CastPlan& plan) {
  const FormatSpec &from = *plan.from, &to = plan.to;
  std::vector<std::uint64_t> at = {0, 1};
  const auto single = [&](std::uint64_t magnitude) {  // a word on its own
    at.push_back(magnitude);
    at.push_back(magnitude + 1);
  };
  for (int bit = 0; bit < from.fraction_bits; ++bit) single(std::uint64_t{1} << bit);
  for (std::uint64_t field = 1; field < low_mask(from.exponent_bits); ++field)
    single(field << from.fraction_bits);
  single(from.infinity_magnitude());
  at.push_back(from.infinity_magnitude() | (std::uint64_t{1} << (from.fraction_bits - 1)));  // quiet NaNs
  // Numbers of the target, one step beyond the largest, and the points half way, as far as the source
  // reaches.
  constexpr CastPolicy down = {.rounding = Rounding::toward_zero, .overflow = Overflow::saturate};
  const auto place = [&](const Unpacked& x) {
    const CastResult r = cast(x, from, down);
    const std::uint64_t magnitude = r.code >> from.storage_shift;
    if ((r.flags & (kInexact | kOverflow)) == 0) at.push_back(magnitude);
    at.push_back(magnitude + 1);
  };
  const std::uint64_t last = std::max(to.largest_magnitude(false), to.largest_magnitude(true));
  for (std::uint64_t index = 0; index <= last + 1; ++index) {
    Unpacked x;  // the number at `index` on the grid of the target's finite magnitudes, which knows no end
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
    if (x.significand != 0) place(x);
    x.significand = 2 * x.significand + 1;
    x.exponent -= 1;
    place(x);
  }
  if (to.subnormals == Subnormals::absent) {  // E8M0: half of the smallest number, and what lies below
    Unpacked x{.number_class = NumberClass::normal, .exponent = -to.bias, .significand = 1};
    for (int i = 0; i < 2; ++i) {
      x.exponent -= 1;
      place(x);
    }
  }
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  while (!at.empty() && at.back() > from.magnitude_mask()) at.pop_back();
  return at;
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
  const std::vector<std::uint64_t> at = cuts(expected.plan());
  const auto word = [&](std::uint64_t bits) { return bits << from.storage_shift; };
  for (const Run& run : expected.runs()) {
    if (run.result.refusal != Refusal::none) {
      all.refused += run.last - run.first + 1;
      continue;
    }
    for (std::uint64_t begin = run.first; begin <= run.last;) {
      const std::uint64_t sign = begin & from.sign_mask(), size = begin & from.magnitude_mask();
      const auto cut = std::upper_bound(at.begin(), at.end(), size);
      std::uint64_t last =
          std::min(run.last, cut == at.end() ? sign | from.magnitude_mask() : (sign | *cut) - 1);
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
