// The one rounding of the engine: an integer sum to a result. Twin: rounded() in detail/exact_number.hpp.
#include <algorithm>

#include "halfulp/accumulation/detail/engine_plan.hpp"
#include "halfulp/config.hpp"

namespace halfulp::accumulation::detail {
namespace {

struct Target {
  int stored_bits, bias;
};

/// Rounds to `digits` fraction bits of a target that stores to.stored_bits.
template <bool kNearest>
std::uint32_t word_of(const Target& to, int digits, std::int64_t sum, int unit) {
  if (sum == 0) return 0;
  const std::uint64_t magnitude = sum < 0 ? 0 - static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
  const int last_place = std::max(bit_width(magnitude) - 1 + unit, 1 - to.bias) - digits;
  const int right = last_place - unit;
  std::uint64_t kept = right >= 64 ? 0 : right >= 0 ? magnitude >> right : magnitude << -right;
  if (kNearest && right > 0 && right <= 64) {
    const std::uint64_t rest = right == 64 ? magnitude : magnitude & ((std::uint64_t{1} << right) - 1);
    const std::uint64_t half = std::uint64_t{1} << (right - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  if (kept == 0) return 0;
  const int field = last_place + digits + to.bias;  // of a number whose hidden bit is at 2^digits
  const auto infinity = static_cast<std::uint64_t>(2 * to.bias + 1) << to.stored_bits;
  const std::uint64_t shifted = kept << (to.stored_bits - digits);
  const std::uint64_t word = (kept >> digits) != 0 ? (static_cast<std::uint64_t>(field - 1) << to.stored_bits) + shifted : shifted;
  const std::uint64_t sign = sum < 0 ? std::uint64_t{1} << (to.stored_bits + (to.bias == 15 ? 5 : 8)) : 0;
  return static_cast<std::uint32_t>(std::min(word, infinity) | sign);
}

constexpr Target kF32 = {23, 127}, kF16 = {10, 15};

}  // namespace

std::uint32_t output_word(Output output, int f32_fraction_bits, std::int64_t sum, int unit) {
  return output == Output::f16 ? word_of<true>(kF16, 10, sum, unit) : word_of<false>(kF32, f32_fraction_bits, sum, unit);
}

std::uint32_t nearest_f32_word(std::int64_t sum, int unit) { return word_of<true>(kF32, 23, sum, unit); }

}  // namespace halfulp::accumulation::detail
