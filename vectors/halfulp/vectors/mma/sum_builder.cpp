// Makes rows; see sum_builder.hpp.
#include "halfulp/vectors/mma/sum_builder.hpp"

#include <algorithm>
#include <cmath>

#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::kScaledGroup;
using accumulation::Output;
using accumulation::Scheme;

constexpr std::size_t kGroup = kScaledGroup;
constexpr std::size_t kApart = 4;  ///< products so far apart are summed together where halves of a chunk are summed apart

FormatSpec scale_format_of(const MmaPlan& plan) {
  return plan.scales() == 0 ? spec_of("f32") : accumulation::scale_format(plan.spec);
}

}  // namespace

SumBuilder::SumBuilder(const MmaPlan& plan, std::uint64_t seed)
    : plan_(plan),
      a_(plan.spec.a),
      b_(plan.spec.b),
      c_(accumulation::format_of(plan.spec.output)),
      scale_(scale_format_of(plan)),
      random_(seed) {}

std::size_t SumBuilder::chunk() const {
  const int n = plan_.spec.model.chunk;
  return n == 0 ? plan_.k : std::min(plan_.k, static_cast<std::size_t>(n));
}

int SumBuilder::result_bits() const {
  return plan_.spec.output == Output::f16 ? 10 : plan_.spec.model.f32_fraction_bits;
}

int SumBuilder::kept_bits() const {
  const int bits = plan_.spec.model.fraction_bits;
  return bits == 0 ? result_bits() + 1 : bits;
}

std::uint32_t SumBuilder::ordinary_scale() {
  return scale_.with_exponent(random_.between(-3, 3), false, random_);
}

MmaRow SumBuilder::empty(bool scales_of_one) {
  MmaRow row;
  row.a.assign(plan_.k, a_.word(0));
  row.b.assign(plan_.k, b_.word(0));
  for (std::size_t i = 0; i < plan_.scales(); ++i) {
    row.scale_a.push_back(scales_of_one ? scale_.word(1) : ordinary_scale());
    row.scale_b.push_back(scales_of_one ? scale_.word(1) : ordinary_scale());
  }
  return row;
}

int SumBuilder::centre() {
  constexpr int kFarF32 = 30, kLowF16 = -2, kHighF16 = 9;
  const bool f16 = plan_.spec.output == Output::f16;
  const int low = std::max(lowest_product(), f16 ? kLowF16 : -kFarF32),
            high = std::min(highest_product(), f16 ? kHighF16 : kFarF32);
  return random_.between(std::min(low, high), high);
}

void SumBuilder::set_product(MmaRow& row, std::size_t k, int exponent, bool negative) {
  exponent = std::clamp(exponent, lowest_product(), highest_product());
  const int low = std::max(a_.lowest(), exponent - b_.highest()),
            high = std::min(a_.highest(), exponent - b_.lowest());
  const int of_a = random_.between(low, high);
  const bool flips = coin();
  row.a[k] = a_.with_exponent(of_a, negative != flips, random_);
  row.b[k] = b_.with_exponent(exponent - of_a, flips, random_);
}

int SumBuilder::scale_exponent(const MmaRow& row, std::size_t k) const {
  if (plan_.spec.model.scale.block == 0) return 0;
  const std::size_t block = k / static_cast<std::size_t>(plan_.spec.model.scale.block);
  const auto of = [&](std::uint32_t word) { return std::ilogb(std::max(scale_.value(word), 0x1p-200)); };
  return of(row.scale_a[block]) + of(row.scale_b[block]);
}

void SumBuilder::cancel(MmaRow& row, std::size_t from, std::size_t to) {
  const bool by_a = a_.format().is_signed;
  row.a[to] = by_a ? a_.negated(row.a[from]) : row.a[from];
  row.b[to] = by_a ? row.b[from] : b_.negated(row.b[from]);
}

MmaRow SumBuilder::filled(bool same_sign) {
  MmaRow row = empty();
  row.flags = bit(MmaFlag::random);
  const int middle = centre(), spread = random_.between(1, 8);
  for (std::size_t k = 0; k < plan_.k; ++k)
    set_product(row, k, random_.between(middle - spread, middle), !same_sign && coin());
  if (random_.below(4) != 0)
    row.c = c_word(random_.between(middle - spread, middle + 2), !same_sign && coin());
  return row;
}

MmaRow SumBuilder::last_kept_of_groups() {
  MmaRow row = empty();
  row.flags = bit(MmaFlag::last_kept) | bit(MmaFlag::cancellation);
  const std::size_t groups = plan_.k / kGroup,
                    block = static_cast<std::size_t>(plan_.spec.model.scale.block);
  const std::size_t first = 2 * below(std::max<std::size_t>(1, groups / 2)) * kGroup;
  if (first + 2 * kGroup > plan_.k) return filled(false);
  for (std::size_t k = first; k < first + kGroup; ++k) {
    set_product(row, k, random_.between(lowest_product(), highest_product()), coin());
    cancel(row, k, k + kGroup);
  }
  row.scale_a[(first + kGroup) / block] = row.scale_a[first / block];
  row.scale_b[(first + kGroup) / block] = row.scale_b[first / block];
  const int unit = scale_exponent(row, first) - kept_bits();
  if (coin()) {  // another group of the chunk, its scales far below; a dot has up to 11 bits
    const std::size_t other = first ^ (2 * kGroup);
    if (other < plan_.k) {
      for (std::size_t i = 0; i < 1 + below(kGroup); ++i)
        set_product(row, other + i, random_.between(lowest_product(), highest_product()), coin());
      row.scale_a[other / block] =
          scale_.with_exponent((unit + random_.between(-10, 3)) / 2, false, random_);
      row.scale_b[other / block] = scale_.with_exponent(
          unit + random_.between(-10, 3) - scale_exponent(row, other) / 2, false, random_);
    }
  }
  row.c = c_word(unit + random_.between(-2, 3), coin());
  return row;
}

MmaRow SumBuilder::last_kept() {
  if (plan_.spec.model.scheme == Scheme::scaled_groups) return last_kept_of_groups();
  MmaRow row = empty();
  row.flags = bit(MmaFlag::last_kept) | bit(MmaFlag::cancellation);
  const std::size_t n = chunk(), chunks = plan_.k / n;
  const int top = std::max(centre(), centre()), unit = top - kept_bits();
  const bool by_c = unit - 2 < lowest_product() || random_.below(3) == 0;
  const std::size_t base = by_c ? 0 : n * below(chunks);
  const std::size_t first = base + below(n),
                    second = n < 2 ? first : base + (first - base + 1 + below(n - 1)) % n;
  set_product(row, first, top, coin());
  const int scaled_unit = unit + scale_exponent(row, first);
  const bool negative = coin();
  if (unit - 2 >= lowest_product()) {
    const std::size_t many = random_.below(3) == 0 ? n : 1 + below(2);
    for (std::size_t i = 0; i < many; ++i) {
      const std::size_t k = base + (many == n ? i : below(n));
      if (k == first || k == second) continue;
      set_product(row, k, unit + random_.between(-2, 2), random_.below(8) == 0 ? !negative : negative);
    }
  }
  if (by_c)
    row.c = c_word(scaled_unit + random_.between(-2, 3), random_.below(4) == 0 ? !negative : negative);
  if (second != first) cancel(row, first, second);
  return row;
}

MmaRow SumBuilder::ruler(int bits, bool by_c) {
  constexpr int kTopBelow = 8;  // 2^(bits - 8): what is left is a number of every result format
  const bool groups = plan_.spec.model.scheme == Scheme::scaled_groups;
  MmaRow row = empty(true);
  row.flags = bit(MmaFlag::last_kept) | bit(MmaFlag::cancellation);
  const std::size_t step = groups ? kGroup : chunk() > 2 * kApart ? kApart : 1;
  const double sign = coin() ? -3 : 3;
  const int top = std::min(highest_product(), bits - kTopBelow);
  const int of_a = std::clamp(top / 2, std::max(a_.lowest(), top - b_.highest()), a_.highest());
  row.a[0] = a_.word(std::ldexp(1.0, of_a));
  row.b[0] = b_.word(std::ldexp(1.0, top - of_a));
  cancel(row, 0, std::min(step, plan_.k - 1));
  const int left = (groups ? 0 : top) - bits;  // groups are aligned at their scales, which are 1
  if (by_c || groups) {
    row.c = c_.word(std::ldexp(sign, left));
  } else if (plan_.k > 2 * step) {
    const int least_a = a_.lowest() - a_.format().fraction_bits, of_b = std::min(left / 2, left - least_a);
    row.a[2 * step] = a_.word(std::ldexp(sign, left - of_b));
    row.b[2 * step] = b_.word(std::ldexp(1.0, of_b));
  }
  return row;
}

MmaRow SumBuilder::zero_product(bool of_a) {
  constexpr int kBelow = 2;
  MmaRow row = empty(true);
  row.flags = bit(MmaFlag::zero) | bit(MmaFlag::small_c);
  const OperandDraw &zero = of_a ? a_ : b_, &large = of_a ? b_ : a_;
  (of_a ? row.b : row.a)[0] = large.word(std::ldexp(1.0, large.highest()));
  row.c = c_.word(std::ldexp(coin() ? -3.0 : 3.0, zero.lowest() + large.highest() - kept_bits() - kBelow));
  return row;
}

MmaRow SumBuilder::rounding() {
  MmaRow row = empty();
  row.flags = bit(MmaFlag::rounding);
  const std::size_t n = chunk(), base = n * below(plan_.k / n);
  const bool negative = coin();
  if (coin()) {
    const int top = centre();
    for (std::size_t k = base; k < base + n; ++k)
      set_product(row, k, top - static_cast<int>(below(3)), negative);
    return row;
  }
  const int top = centre(), half = top - result_bits() - 1;
  const std::size_t first = base + below(n);
  set_product(row, first, top, negative);
  const int scaled_half = half + scale_exponent(row, first);
  if (half - 1 < lowest_product() || random_.below(4) == 0) {
    row.c = c_.word(std::ldexp(coin() ? 1.0 : -1.0, scaled_half + random_.between(-1, 1)));
    return row;
  }
  for (std::size_t i = 0; i < 1 + below(3); ++i) {
    const std::size_t k = base + below(n);
    if (k != first)
      set_product(row, k, half + random_.between(-1, 1), random_.below(4) == 0 ? !negative : negative);
  }
  return row;
}

MmaRow SumBuilder::with_c(bool above, bool below_products) {
  MmaRow row = empty();
  row.flags = above ? bit(MmaFlag::large_c) : bit(MmaFlag::small_c);
  const int top = centre();
  if (!above && !below_products) {
    row.flags |= bit(MmaFlag::zero);
    row.c = c_word(top, coin());
    return row;
  }
  const bool negative = coin();
  for (std::size_t k = 0; k < plan_.k; ++k) {
    if (random_.below(3) != 0)
      set_product(row, k, top - static_cast<int>(below(4)), random_.below(4) == 0 ? !negative : negative);
  }
  const int distance = above ? random_.between(1, kept_bits() + 3) : -random_.between(0, kept_bits() + 3);
  row.c = c_word(top + scale_exponent(row, 0) + distance, coin());
  return row;
}

MmaRow SumBuilder::position() {
  MmaRow row = empty();
  row.flags = bit(MmaFlag::position) | bit(MmaFlag::cancellation);
  const int top = std::max(centre(), centre()), low = top - std::max(kept_bits(), result_bits());
  const bool negative = coin();
  for (std::size_t k = 0; k < plan_.k; ++k) {
    if (random_.below(4) != 0)
      set_product(row, k, low + random_.between(-1, 3), random_.below(8) == 0 ? !negative : negative);
  }
  if (plan_.k < 2) return row;
  const std::size_t first = below(plan_.k - 1), second = first + 1 + below(plan_.k - first - 1);
  set_product(row, first, top, coin());
  cancel(row, first, second);
  if (plan_.spec.model.scale.block != 0) {
    const auto block = static_cast<std::size_t>(plan_.spec.model.scale.block);
    row.scale_a[second / block] = row.scale_a[first / block];
    row.scale_b[second / block] = row.scale_b[first / block];
  }
  return row;
}

}  // namespace halfulp::vectors
