// Float32 orders, the exact order, and promotion, in hardware arithmetic. Twin: sum_exact_orders.cpp.
//
// The caller holds a DefaultFloatModes: nearest even, no flushing. The project compiles with -ffp-contract=off.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "halfulp/accumulation/detail/engine_plan.hpp"
#include "halfulp/accumulation/exact_dot.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::accumulation::detail {
namespace {

constexpr FormatSpec kF16 = spec_of("f16"), kF32 = spec_of("f32");

float as_float(std::uint32_t word) { return std::bit_cast<float>(word); }
std::uint32_t word_of(float x) { return x != x ? kNanF32 : std::bit_cast<std::uint32_t>(x); }

bool is_subnormal(float x) { return x != 0 && std::fabs(x) < std::numeric_limits<float>::min(); }
float flushed_out(float x, bool flushes) { return flushes && is_subnormal(x) ? std::copysign(0.0f, x) : x; }

/// Sums in place as a tree of adjacent pairs; an odd leftover moves up.
float tree_sum(float* x, std::size_t count, bool flushes) {
  for (; count > 1; count = (count + 1) / 2) {
    for (std::size_t i = 0; 2 * i < count; ++i) x[i] = 2 * i + 1 < count ? flushed_out(x[2 * i] + x[2 * i + 1], flushes) : x[2 * i];
  }
  return x[0];
}

float pairwise(const EnginePlan& plan, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, float c) {
  const bool flushes = plan.spec.model.flushes;
  const std::size_t chunk = plan.chunk(count);
  if (flushes && is_subnormal(c)) c = 0.0f;
  std::vector<float> products(chunk);
  for (std::size_t first = 0; first < count; first += chunk) {
    const std::size_t length = std::min(chunk, count - first);
    for (std::size_t i = 0; i < length; ++i) {
      products[i] = flushed_out(plan.float_a(a[first + i]) * plan.float_b(b[first + i]), flushes);
    }
    c = flushed_out(c + tree_sum(products.data(), length, flushes), flushes);
  }
  return c;
}

float tree(const EnginePlan& plan, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, float c) {
  if (count == 0) return c;
  std::vector<float> products(count);
  for (std::size_t i = 0; i < count; ++i) products[i] = plan.float_a(a[i]) * plan.float_b(b[i]);
  return tree_sum(products.data(), count, false) + c;
}

float warp_tree(const EnginePlan& plan, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, float c) {
  float lanes[kWarpLanes] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i % kWarpLanes] += plan.float_a(a[i]) * plan.float_b(b[i]);
  for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    for (int lane = 0; lane < distance; ++lane) lanes[lane] += lanes[lane + distance];
  }
  return lanes[0] + c;
}

float sequential(const EnginePlan& plan, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, float c) {
  const bool fused = plan.spec.model.scheme == Scheme::fma_sequential;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = plan.float_a(a[i]), y = plan.float_b(b[i]);
    c = fused ? std::fma(x, y, c) : c + x * y;
  }
  return c;
}

std::uint32_t exact_row(const EnginePlan& plan, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::uint32_t c) {
  const FormatSpec& format = format_of(plan.spec.output);
  const std::size_t chunk = plan.chunk(count);
  for (std::size_t first = 0; first == 0 || first < count; first += chunk) {
    const std::size_t length = std::min(chunk, count - first);
    const ExactUnpacked sum = plan.exact.value({a + first, length}, {b + first, length}, c, &format);
    const bool nan = sum.number_class == NumberClass::nan;
    c = nan ? (plan.spec.output == Output::f32 ? kNanF32 : kNanF16)
            : static_cast<std::uint32_t>(rounded_dot(sum, format, {.overflow = Overflow::overflow}).code);
  }
  return c;
}

}  // namespace

bool is_row_scheme(Scheme scheme) {
  return scheme == Scheme::exact || scheme == Scheme::sequential || scheme == Scheme::fma_sequential || scheme == Scheme::tree ||
         scheme == Scheme::warp_tree || scheme == Scheme::pairwise;
}

std::uint32_t float_row(const EnginePlan& plan, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, std::uint32_t c) {
  switch (plan.spec.model.scheme) {
    case Scheme::exact: return exact_row(plan, a, b, count, c);
    case Scheme::pairwise: return word_of(pairwise(plan, a, b, count, as_float(c)));
    case Scheme::tree: return word_of(tree(plan, a, b, count, as_float(c)));
    case Scheme::warp_tree: return word_of(warp_tree(plan, a, b, count, as_float(c)));
    default: break;
  }
  return word_of(sequential(plan, a, b, count, as_float(c)));
}

std::uint32_t add_words(Output output, std::uint32_t x, std::uint32_t y) {
  if (output == Output::int32) return x + y;
  if (output == Output::f32) return word_of(as_float(x) + as_float(y));
  const auto widened = [](std::uint32_t word) { return as_float(static_cast<std::uint32_t>(cast(kF16, word, kF32, {.overflow = Overflow::overflow}).code)); };
  const float sum = widened(x) + widened(y);  // exact, or so long that one more rounding changes nothing: 24 >= 2 * 11 + 2
  if (sum != sum) return kNanF16;
  return static_cast<std::uint32_t>(cast(kF32, word_of(sum), kF16, {.overflow = Overflow::overflow}).code);
}

std::uint32_t promoted(const MmaSpec& spec, std::uint32_t accumulator, std::uint32_t partial, const std::uint32_t* scale_a,
                       const std::uint32_t* scale_b) {
  if (spec.scale_order == ScaleOrder::none) return add_words(spec.output, accumulator, partial);
  const float x = as_float(accumulator), p = as_float(partial), a = as_float(*scale_a), b = as_float(*scale_b);
  const bool scales_first = spec.scale_order == ScaleOrder::scales_first;
  const float first = scales_first ? a * b : p * a, second = scales_first ? p : b;
  return word_of(spec.contract ? std::fma(first, second, x) : x + first * second);
}

}  // namespace halfulp::accumulation::detail
