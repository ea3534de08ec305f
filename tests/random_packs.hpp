// Source words as other suites draw them, for comparison with the levels.
//
// `uniform`: every word as likely as any other. `patterned`: in the manner of Berkeley TestFloat at level 1
// - every second word has an exponent at an end of the range or near the bias and a fraction of zeros,
// ones, or one off them; the others have such an exponent or a random one, and a fraction that is the sum
// of two runs of bits, or random.
#pragma once

#include <cstdint>
#include <iterator>
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

/// An exponent field that testers favour: the ends of the range, the bias, and the reach of the significand
/// around it.
inline std::uint64_t edge_exponent(const FormatSpec& from, Draw& draw) {
  const std::uint64_t top = low_mask(from.exponent_bits);
  const auto bias = static_cast<std::uint64_t>(from.bias);
  const auto reach = static_cast<std::uint64_t>(from.fraction_bits);
  const std::uint64_t fields[] = {0,        1,        bias - reach, bias - 2, bias - 1, bias,
                                  bias + 1, bias + 2, bias + reach, top - 1,  top};
  return fields[draw.below(std::size(fields))] & top;
}

/// 2^k, 2^k - 1 or -2^k.
inline std::uint64_t bit_run(const FormatSpec& from, Draw& draw) {
  const std::uint64_t bit = std::uint64_t{1}
                            << draw.below(static_cast<std::uint64_t>(from.fraction_bits) + 1);
  switch (draw.below(3)) {
    case 0: return bit;
    case 1: return bit - 1;
    default: return ~bit + 1;
  }
}

inline std::uint64_t patterned_bits(const FormatSpec& from, Draw& draw) {
  if (from.encoding != Encoding::floating) return uniform_bits(from, draw);
  std::uint64_t field = edge_exponent(from, draw);
  std::uint64_t fraction = 0;
  if (draw.below(2)) {
    const std::uint64_t plain[] = {0, 1, ~std::uint64_t{0}, ~std::uint64_t{1}};
    fraction = plain[draw.below(4)];
  } else {
    if (draw.below(2)) field = draw.word();
    fraction = draw.below(4) ? bit_run(from, draw) + bit_run(from, draw) : draw.word();
  }
  const std::uint64_t sign = draw.below(2) ? from.sign_mask() : 0;
  return sign | (field & low_mask(from.exponent_bits)) << from.fraction_bits |
         (fraction & low_mask(from.fraction_bits));
}

/// `count` container words that the plan does not refuse.
template <class Bits>
std::vector<std::uint64_t> drawn_words(const CastPlan& plan, std::size_t count, std::uint64_t seed,
                                       Bits bits) {
  Draw draw(seed);
  std::vector<std::uint64_t> words;
  while (words.size() < count) {
    const std::uint64_t word = bits(*plan.from, draw) << plan.from->storage_shift;
    if (plan(word).refusal == Refusal::none) words.push_back(word);
  }
  return words;
}

}  // namespace halfulp
