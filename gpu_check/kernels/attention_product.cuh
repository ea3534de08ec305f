// The accumulation models of attention in integer arithmetic: a row of codes times a column of codes, chunk by chunk.
// docs/accumulation.md has the steps. Checked against the reference's engines by every comparison of stages.
#pragma once

#include "gpu_check/attention/plan.hpp"
#include "gpu_check/kernel_language.hpp"
#include "halfulp/attention/exp2.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::gpu {

inline constexpr std::uint32_t kNanWord = 0x7fffffff, kNanHalf = 0x7fff;
inline constexpr unsigned kMaxChunk = 32;

HALFULP_DEVICE float float_of(std::uint32_t bits) { return attention::detail::float_of(bits); }
/// A result as a word: every NaN is kNanWord.
HALFULP_DEVICE std::uint32_t word_of(float x) { return x != x ? kNanWord : attention::detail::bits_of(x); }
HALFULP_DEVICE float one_nan(float x) { return x != x ? float_of(kNanWord) : x; }

/// Calls use.template operator()<format>() for the format that equals `format`, one of those that P and O may have.
template <class Use>
HALFULP_DEVICE auto with_format(const FormatSpec& format, Use use) {
  if (format.width == 32) return use.template operator()<spec_of("f32")>();
  if (format.width == 16) return format.fraction_bits == 10 ? use.template operator()<spec_of("f16")>() : use.template operator()<spec_of("bf16")>();
  return format.fraction_bits == 3 ? use.template operator()<spec_of("e4m3")>() : use.template operator()<spec_of("e5m2")>();
}

inline constexpr CastPolicy kSaturating{}, kOverflowing{.overflow = Overflow::overflow};

/// A float32 word as a code, nearest even, saturating.
HALFULP_DEVICE std::uint32_t cast_word(std::uint32_t word, const FormatSpec& to) {
  return with_format(to, [word]<FormatSpec To>() { return static_cast<std::uint32_t>(cast<spec_of("f32"), To, kSaturating>(word).code); });
}
/// The number of a code as float32, NaN as kNanWord.
HALFULP_DEVICE float number_of(const FormatSpec& format, std::uint32_t code) {
  return one_nan(float_of(
      with_format(format, [code]<FormatSpec From>() { return static_cast<std::uint32_t>(cast<From, spec_of("f32"), kOverflowing>(code).code); })));
}
/// A float32 as an f16 code, overflowing to Inf.
HALFULP_DEVICE std::uint16_t half_of(float x) {
  return static_cast<std::uint16_t>(cast<spec_of("f32"), spec_of("f16"), kOverflowing>(word_of(x)).code);
}
HALFULP_DEVICE float float_of_half(std::uint16_t code) {
  return one_nan(float_of(static_cast<std::uint32_t>(cast<spec_of("f16"), spec_of("f32"), kOverflowing>(code).code)));
}

/// A factor: (-1)^negative * significand * 2^(exponent - places); a zero has exponent -126.
struct Factor {
  std::uint32_t significand;
  int exponent;
  bool negative, infinite, nan;
};

HALFULP_DEVICE Factor factor_of(const FormatSpec& format, std::uint32_t code, bool widened) {
  const Unpacked x = unpack(format, code);
  Factor f{static_cast<std::uint32_t>(x.significand), x.exponent + format.fraction_bits, x.negative, x.number_class == NumberClass::infinity,
           x.number_class == NumberClass::nan};
  if (x.number_class == NumberClass::zero) f.exponent = -126;
  // As a float16 it is normal down to 2^-14.
  while (widened && f.significand != 0 && f.significand >> format.fraction_bits == 0 && f.exponent > -14) {
    f.significand *= 2;
    --f.exponent;
  }
  return f;
}

/// What stands among the products of a chunk besides finite numbers.
struct Specials {
  bool nan = false, plus = false, minus = false;
  HALFULP_HD bool any() const { return nan || plus || minus; }
};

/// The products of one chunk, and what the sum needs to know of them.
struct Products {
  std::uint64_t magnitude[kMaxChunk];  ///< in units of 2^(exponent - places)
  int exponent[kMaxChunk];
  bool negative[kMaxChunk];
  Specials specials;
};

HALFULP_DEVICE void set_product(Products& all, unsigned i, const Factor& a, const Factor& b) {
  all.magnitude[i] = static_cast<std::uint64_t>(a.significand) * b.significand;
  all.exponent[i] = a.exponent + b.exponent;
  all.negative[i] = a.negative != b.negative;
  if (!a.infinite && !b.infinite && !a.nan && !b.nan) return;
  const bool times_zero = (a.infinite && !b.infinite && b.significand == 0) || (b.infinite && !a.infinite && a.significand == 0);
  if (a.nan || b.nan || times_zero) all.specials.nan = true;
  else (all.negative[i] ? all.specials.minus : all.specials.plus) = true;
}

/// sum * 2^unit: float32 cut to `digits` fraction bits, or float16 to nearest even; Inf from 2^128 and 65520 on; zero is +0.
HALFULP_DEVICE std::uint32_t rounded_sum(std::int64_t sum, int unit, bool half, int digits) {
  if (sum == 0) return 0;
  const bool negative = sum < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
  const int lowest = half ? -14 : -126, highest = half ? 15 : 127, stored = half ? 10 : 23;
  const int top = bit_width(magnitude) - 1 + unit;
  const int place = (top > lowest ? top : lowest) - digits;  // of the last bit kept
  const int right = place - unit;
  std::uint64_t kept = right <= 0 ? magnitude << -right : right < 64 ? magnitude >> right : 0;
  if (half && right > 0 && right < 64) {
    const std::uint64_t rest = magnitude & ((1ull << right) - 1), tie = 1ull << (right - 1);
    kept += rest > tie || (rest == tie && (kept & 1) != 0) ? 1 : 0;
  }
  // kept has its hidden bit at 2^digits where normal; a carry into 2^(digits + 1) raises the exponent by itself.
  const std::uint32_t field = kept >> digits != 0 ? static_cast<std::uint32_t>(place + digits + highest - 1) : 0;
  std::uint64_t word = (static_cast<std::uint64_t>(field) << stored) + (kept << (stored - digits));
  const std::uint64_t infinity = static_cast<std::uint64_t>(2 * highest + 1) << stored;
  if (word > infinity) word = infinity;
  return static_cast<std::uint32_t>(word) | (negative && kept != 0 ? (half ? 0x8000u : 0x80000000u) : 0u);
}

/// c + the products for which `takes(i)` holds, aligned at the largest exponent, cut, added, rounded once.
template <class Takes>
HALFULP_DEVICE std::uint32_t fused_sum(const ProductPlan& plan, const Products& x, unsigned count, std::uint32_t c, Takes takes) {
  const bool half = plan.f16_output != 0;
  const int c_places = half ? 10 : 23, c_top = half ? 31 : 255, c_bias = half ? 15 : 127;
  const bool c_negative = (c >> (half ? 15 : 31)) != 0;
  const int field = static_cast<int>(c >> c_places) & c_top;
  const std::uint64_t fraction = c & ((1u << c_places) - 1);
  Specials specials = x.specials;
  if (field == c_top) {
    if (fraction != 0) specials.nan = true;
    else (c_negative ? specials.minus : specials.plus) = true;
  }
  if (specials.nan || (specials.plus && specials.minus)) return half ? kNanHalf : kNanWord;
  if (specials.any()) return (specials.minus ? (half ? 0x8000u : 0x80000000u) : 0u) | (half ? 0x7c00u : 0x7f800000u);

  const std::uint64_t c_significand = fraction | (field != 0 ? 1ull << c_places : 0);
  const int c_exponent = c_significand == 0 ? -126 : (field > 1 ? field : 1) - c_bias;
  int largest = c_exponent;
  for (unsigned i = 0; i < count; ++i) {
    if (takes(i) && x.exponent[i] > largest) largest = x.exponent[i];
  }
  const auto cut = [&](std::uint64_t magnitude, int places, int exponent, bool negative) {
    const int left = plan.fraction_bits - places, right = largest - exponent;
    const std::uint64_t lifted = left >= 0 ? magnitude << left : magnitude >> -left;
    const std::int64_t kept = right > 62 ? 0 : static_cast<std::int64_t>(lifted >> right);
    return negative ? -kept : kept;
  };
  std::int64_t sum = cut(c_significand, c_places, c_exponent, c_negative);
  const int places = plan.a.fraction_bits + plan.b.fraction_bits;
  for (unsigned i = 0; i < count; ++i) {
    if (takes(i)) sum += cut(x.magnitude[i], places, x.exponent[i], x.negative[i]);
  }
  return rounded_sum(sum, largest - plan.fraction_bits, half, half ? 10 : plan.f32_fraction_bits);
}

/// One chunk: a(i) and b(i) are codes, i < count <= kMaxChunk.
template <class A, class B>
HALFULP_DEVICE std::uint32_t chunk_sum(const ProductPlan& plan, unsigned count, std::uint32_t c, A a, B b) {
  if (plan.scheme == kIntegerProduct) {
    std::uint32_t sum = c;
    for (unsigned i = 0; i < count; ++i) {
      const Unpacked x = unpack(plan.a, a(i)), y = unpack(plan.b, b(i));
      const auto product = static_cast<std::uint32_t>(x.significand * y.significand);
      sum += x.negative != y.negative ? 0u - product : product;
    }
    return sum;
  }
  const bool widened = plan.scheme == kWidenedHalves;
  Products x;
  for (unsigned i = 0; i < count; ++i) set_product(x, i, factor_of(plan.a, a(i), widened), factor_of(plan.b, b(i), widened));
  if (!widened) return fused_sum(plan, x, count, c, [](unsigned) { return true; });
  const Specials all = x.specials;
  const std::uint32_t low = fused_sum(plan, x, count, 0, [](unsigned i) { return i % 4 < 2; });
  const std::uint32_t sum = fused_sum(plan, x, count, all.any() ? 0 : low, [](unsigned i) { return i % 4 >= 2; });
  return word_of(float_of(c) + float_of(sum));
}

}  // namespace halfulp::gpu
