// Order-free rows of every width: integers times a power of two, c among them; see sum_builder.hpp.
#include <algorithm>
#include <cmath>

#include "halfulp/vectors/mma/sum_builder.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::Output;

constexpr int kStrictBits = 14;  ///< sums below 2^14 units are exact in every model

/// Largest integer of which a format has every one below, from the smallest normal on.
std::int64_t largest_integer(const OperandDraw& draw) {
  return draw.is_integer()
             ? std::int64_t(low_mask(draw.highest() + 1))
             : std::int64_t(low_mask(std::min(draw.format().fraction_bits, draw.highest()) + 1));
}

/// A random integer of at most `most`, every length as likely as any other.
std::int64_t integer_up_to(std::int64_t most, blocks::Random& random) {
  if (most <= 0) return 0;
  const int bits = random.between(0, static_cast<int>(std::ilogb(static_cast<double>(most))));
  const auto low = std::int64_t{1} << bits;
  return std::min(most, low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(low))));
}

/// A power of two at which integers of a few bits are normal numbers.
int some_shift(const OperandDraw& draw, blocks::Random& random) {
  if (draw.is_integer()) return 0;
  const int low = std::max(draw.lowest(), -6);
  return random.between(low, std::max(low, std::min(0, draw.highest() - 3)));
}

}  // namespace

MmaRow SumBuilder::order_free() {
  const bool strict = coin();
  const int of_result = plan_.spec.output == Output::int32 ? 31 : result_bits() + 1;
  const int own = plan_.spec.output == Output::int32 ? 31 : std::min(kept_bits() + 1, of_result);
  for (int attempt = 0; attempt < 8; ++attempt) {
    MmaRow row = empty(true);
    std::int64_t left = (std::int64_t{1} << (strict ? std::min(kStrictBits, of_result) : own)) - 1;
    const int shift_a = some_shift(a_, random_), shift_b = some_shift(b_, random_);
    const std::int64_t share = std::max<std::int64_t>(1, 2 * left / static_cast<std::int64_t>(plan_.k));
    if (random_.below(4) != 0) {
      const std::int64_t c = integer_up_to(left / 2, random_);
      left -= c;
      row.c = c_.word((coin() ? 1 : -1) * std::ldexp(static_cast<double>(c), shift_a + shift_b));
    }
    for (std::size_t k = 0; k < plan_.k; ++k) {
      const std::int64_t most = std::min(left, share);
      const std::int64_t a =
          random_.below(8) == 0 ? 0 : integer_up_to(std::min(most, largest_integer(a_)), random_);
      const std::int64_t b = a == 0 ? 1 + static_cast<std::int64_t>(random_.below(3))
                                    : integer_up_to(std::min(most / a, largest_integer(b_)), random_);
      left -= a * b;
      const bool negative = a_.format().is_signed && coin(), flips = b_.format().is_signed && coin();
      row.a[k] = a_.word((negative ? -1 : 1) * std::ldexp(static_cast<double>(a), shift_a));
      row.b[k] = b_.word((flips ? -1 : 1) * std::ldexp(static_cast<double>(b), shift_b));
    }
    if (is_order_free(plan_, row, false)) return row;
  }
  return empty(true);
}

}  // namespace halfulp::vectors
