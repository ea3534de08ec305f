// Source words as other suites draw them, for comparison with the levels.
//
// `uniform`: every word as likely as any other. `patterned`: the manner of Berkeley TestFloat's generators at level 1 -
// a random sign, an exponent that is often the bias, its neighbours or an end of the range, and a fraction of all zeros,
// all ones, one bit, a run of bits, or random bits.
#pragma once

#include <cstdint>
#include <vector>

#include "halfulp/plan.hpp"

namespace halfulp {

/// A stream of random words, the same on every machine.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t word() { return counter_random(seed_, count_++); }
  std::uint64_t below(std::uint64_t limit) { return word() % limit; }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

inline std::uint64_t uniform_bits(const FormatSpec& from, Draw& draw) {
  return draw.word() & low_mask(from.width);
}

inline std::uint64_t patterned_bits(const FormatSpec& from, Draw& draw) {
  if (from.encoding != Encoding::floating) return uniform_bits(from, draw);
  const std::uint64_t top = low_mask(from.exponent_bits);
  const auto bias = static_cast<std::uint64_t>(from.bias);
  std::uint64_t field = draw.word();
  switch (draw.below(8)) {
    case 0: field = draw.below(2); break;                        // subnormals, the smallest binade
    case 1: field = top - draw.below(2); break;                  // the largest binade, Inf and NaN
    case 2: field = bias + draw.below(5) - 2; break;             // around 1
    case 3: field = bias + draw.below(2 * from.fraction_bits + 1) - from.fraction_bits; break;
    default: break;                                              // any
  }
  std::uint64_t fraction = 0;
  if (from.fraction_bits > 0) {
    const int at = static_cast<int>(draw.below(static_cast<std::uint64_t>(from.fraction_bits)));
    switch (draw.below(8)) {
      case 0: fraction = 0; break;
      case 1: fraction = ~std::uint64_t{0}; break;
      case 2: fraction = std::uint64_t{1} << at; break;
      case 3: fraction = low_mask(at + 1); break;
      case 4: fraction = ~low_mask(at); break;
      default: fraction = draw.word(); break;
    }
  }
  const std::uint64_t sign = draw.below(2) ? from.sign_mask() : 0;
  return sign | (field & top) << from.fraction_bits | (fraction & low_mask(from.fraction_bits));
}

/// `count` container words that the plan does not refuse.
template <class Bits>
std::vector<std::uint64_t> drawn_words(const CastPlan& plan, std::size_t count, std::uint64_t seed, Bits bits) {
  Draw draw(seed);
  std::vector<std::uint64_t> words;
  while (words.size() < count) {
    const std::uint64_t word = bits(*plan.from, draw) << plan.from->storage_shift;
    if (plan(word).refusal == Refusal::none) words.push_back(word);
  }
  return words;
}

}  // namespace halfulp
