// Source words per level. Inputs need no proof of their own, so the integer engine may help to place them.
#include "halfulp/vectors/levels.hpp"

#include <algorithm>

namespace halfulp::vectors {
namespace {

constexpr int kEveryWordBits = 8;       ///< sources this narrow are always run in full
constexpr int kRandomPerBinade = 16;    ///< stratified
constexpr std::size_t kFewRuns = 8192;  ///< tables up to this size get many distances per threshold

/// Collects source bits; neighbours outside the format fall away.
class Words {
 public:
  explicit Words(const FormatSpec& from) : mask_(low_mask(from.width)) {}
  void add(std::uint64_t bits) {
    if (bits <= mask_) bits_.push_back(bits);
  }
  void around(std::uint64_t bits, std::uint64_t distance) {
    add(bits);
    if (bits >= distance) add(bits - distance);
    if (bits <= mask_ - distance) add(bits + distance);
  }
  std::vector<std::uint64_t> take() {
    std::sort(bits_.begin(), bits_.end());
    bits_.erase(std::unique(bits_.begin(), bits_.end()), bits_.end());
    return std::move(bits_);
  }

 private:
  std::uint64_t mask_;
  std::vector<std::uint64_t> bits_;
};

/// Calls visit(bits of the first word) for every sign and exponent field of a floating format.
template <class Visit>
void for_each_binade(const FormatSpec& from, Visit visit) {
  const std::uint64_t count = std::uint64_t{1} << (from.width - from.fraction_bits);
  for (std::uint64_t field = 0; field < count; ++field) visit(field << from.fraction_bits);
}

/// Binade edges with their neighbours (zeros, infinities, powers of two, smallest and largest of
/// everything), and NaNs.
void add_specials(const FormatSpec& from, Words& words) {
  for_each_binade(from, [&](std::uint64_t first) { words.around(first, 1); });
  const std::uint64_t fraction = low_mask(from.fraction_bits);
  const std::uint64_t top = low_mask(from.exponent_bits) << from.fraction_bits;
  for (const std::uint64_t sign : {std::uint64_t{0}, from.sign_mask()}) {
    for (int bit = 0; bit < from.fraction_bits; ++bit) {
      words.add(sign | top | (1ull << bit));               // one payload bit; the highest is the quiet NaN
      words.add(sign | top | (fraction ^ (1ull << bit)));  // all but one
    }
    words.add(sign | top | (0x5555555555555555ull & fraction));
    words.add(sign | top | (0xaaaaaaaaaaaaaaaaull & fraction));
  }
}

/// The top three fraction bits of every binade, with what follows all zeros and all ones: points inside
/// long runs.
void add_lattice(const FormatSpec& from, Words& words) {
  const int rest = std::max(0, from.fraction_bits - 3);
  for_each_binade(from, [&](std::uint64_t first) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      words.add(first + (i << rest));
      words.add(first + (i << rest) + low_mask(rest));
    }
  });
}

/// A target without a table: values and midpoints of target numbers at and near every binade edge, and of
/// random ones.
void add_target_sample(const CastPlan& plan, std::uint64_t seed, Words& words) {
  const FormatSpec& to = plan.to;
  const FormatSpec& from = *plan.from;
  constexpr CastPolicy truncate = {.rounding = Rounding::toward_zero,
                                   .overflow = Overflow::overflow,
                                   .negative = Negative::abs,
                                   .zero = ZeroInto::min};
  const auto place = [&](Unpacked x) {
    words.around(cast(x, from, truncate).code >> from.storage_shift, 1);
    if (x.significand == 0) return;
    x.significand = 2 * x.significand + 1;  // half way to the next number
    x.exponent -= 1;
    words.around(cast(x, from, truncate).code >> from.storage_shift, 1);
  };
  std::uint64_t counter = 0;
  for_each_binade(to, [&](std::uint64_t first) {
    const std::uint64_t fraction = low_mask(to.fraction_bits);
    for (const std::uint64_t f :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, fraction / 2, fraction - 1, fraction,
          counter_random(seed, counter) & fraction, counter_random(~seed, counter) & fraction}) {
      const Unpacked x = unpack(to, (first + f) << to.storage_shift);
      if (x.number_class != NumberClass::nan && x.number_class != NumberClass::infinity) place(x);
    }
    ++counter;
  });
}

void add_thresholds(const Expected& expected, Words& words) {
  for (const Run& run : expected.runs()) {
    words.around(run.first, 1);
    words.around(run.last, 1);
    words.add(run.first + (run.last - run.first) / 2);
  }
}

void add_strata(const Expected& expected, std::uint64_t seed, Words& words) {
  const FormatSpec& from = *expected.plan().from;
  const int powers = expected.runs().size() <= kFewRuns ? from.fraction_bits : 2;
  for (const Run& run : expected.runs()) {
    for (int k = 1; k < powers; ++k) words.around(run.first, 1ull << k);
  }
  std::uint64_t counter = 0;
  for_each_binade(from, [&](std::uint64_t first) {
    for (int i = 0; i < kRandomPerBinade; ++i) {
      words.add(first + (counter_random(seed, counter++) & low_mask(from.fraction_bits)));
    }
  });
}

}  // namespace

LevelWords level_words(const Expected& expected, Level level, std::uint64_t seed) {
  const FormatSpec& from = *expected.plan().from;
  Words words(from);
  const bool floating = from.encoding == Encoding::floating;
  if (from.width <= kEveryWordBits || !floating) {
    for (std::uint64_t bits = 0; bits <= low_mask(from.width); ++bits) words.add(bits);
  } else {
    add_specials(from, words);
    if (level != Level::specials) {
      add_lattice(from, words);
      if (expected.tabulated())
        add_thresholds(expected, words);
      else
        add_target_sample(expected.plan(), seed, words);
    }
    if (level == Level::stratified) add_strata(expected, seed, words);
  }
  std::vector<std::uint64_t> list = words.take();
  // Both lists are sorted, so refused runs are skipped in one walk.
  auto run = expected.runs().begin();
  const std::uint64_t refused = std::erase_if(list, [&](std::uint64_t bits) {
    if (!expected.tabulated()) return expected.plan()(bits << from.storage_shift).refusal != Refusal::none;
    while (run->last < bits) ++run;
    return run->result.refusal != Refusal::none;
  });
  for (std::uint64_t& bits : list) bits <<= from.storage_shift;
  return {std::move(list), refused};
}

std::vector<std::uint64_t> tie_words(const CastPlan& plan) {
  const FormatSpec& to = plan.to;
  const FormatSpec& from = *plan.from;
  std::vector<std::uint64_t> ties;
  const auto add = [&](std::uint64_t code) {
    Unpacked x = unpack(to, code << to.storage_shift);
    if (x.number_class == NumberClass::nan || x.number_class == NumberClass::infinity) return;
    if (x.number_class == NumberClass::zero) {  // half of the smallest number
      x = unpack(to, (code + 1) << to.storage_shift);
      x.exponent -= 1;
    } else {
      x.significand = 2 * x.significand + 1;
      x.exponent -= 1;
    }
    constexpr CastPolicy held = {.rounding = Rounding::toward_zero,
                                 .overflow = Overflow::overflow,
                                 .negative = Negative::abs,
                                 .zero = ZeroInto::min};
    const CastResult result = cast(x, from, held);
    if (result.refusal == Refusal::none && !(result.flags & kInexact)) ties.push_back(result.code);
  };
  if (to.width <= kEveryWordBits || to.encoding != Encoding::floating) {
    for (std::uint64_t code = 0; code < low_mask(std::min(to.width, 16)); ++code) add(code);
  } else {
    for_each_binade(to, [&](std::uint64_t first) {
      const std::uint64_t fraction = low_mask(to.fraction_bits);
      for (const std::uint64_t f :
           {std::uint64_t{0}, std::uint64_t{1}, fraction / 2, fraction - 1, fraction})
        add(first + f);
    });
  }
  std::sort(ties.begin(), ties.end());
  ties.erase(std::unique(ties.begin(), ties.end()), ties.end());
  return ties;
}

Completeness completeness(const Expected& expected, Level level, std::uint64_t words) {
  const FormatSpec& from = *expected.plan().from;
  std::uint64_t refused = 0;
  for (const Run& run : expected.runs()) {
    if (run.result.refusal != Refusal::none) refused += run.last - run.first + 1;
  }
  if (from.width <= 32 && words + refused == low_mask(from.width) + 1) return Completeness::exhaustive;
  if (level == Level::specials || !expected.tabulated()) return Completeness::sampled;
  return Completeness::complete_for_monotone;
}

}  // namespace halfulp::vectors
