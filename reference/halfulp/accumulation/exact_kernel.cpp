// Exact sums of products of narrow floating formats; see detail/exact_kernel.hpp. Twin: Scheme::exact of sum_exact.cpp.
//
// A magnitude's bits at a float32's fields are the number times 2^(bias - 127), subnormals included; one exact multiplication
// by a power of two gives the number. Products of two such numbers have at most 8 significant bits.
#include "halfulp/accumulation/detail/exact_kernel.hpp"

#include <cmath>

#include "halfulp/detail/float_modes.hpp"

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "halfulp/accumulation/exact_kernel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace halfulp::accumulation::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

bool narrow_sum(const NarrowFloat&, const NarrowFloat&, const std::uint32_t*, const std::uint32_t*, std::size_t, double&) { return false; }

#else

using D = hn::ScalableTag<std::uint32_t>;
using DF = hn::RebindToFloat<D>;
using DD = hn::Repartition<double, D>;
using V = hn::Vec<D>;

/// Codes as floats; `special` gathers lanes that are none.
HWY_INLINE hn::Vec<DF> numbers(const NarrowFloat& f, V codes, hn::Vec<DF> scale, V& special) {
  const D d;
  const DF df;
  const V magnitude = hn::And(codes, hn::Set(d, f.magnitude_mask));
  const auto bad = hn::Or(hn::Gt(magnitude, hn::Set(d, f.first_special - 1)), hn::Eq(codes, hn::Set(d, f.special_code)));
  special = hn::Or(special, hn::VecFromMask(d, bad));
  const V negative = hn::VecFromMask(d, hn::Ne(hn::And(codes, hn::Set(d, f.sign_mask)), hn::Zero(d)));
  const V bits = hn::Or(hn::ShiftLeftSame(magnitude, f.shift), hn::And(negative, hn::Set(d, 0x80000000u)));
  return hn::Mul(hn::BitCast(df, bits), scale);
}

bool narrow_sum(const NarrowFloat& fa, const NarrowFloat& fb, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, double& sum) {
  const D d;
  const DF df;
  const DD dd;
  const hn::Half<DF> dh;
  const auto scale_a = hn::Set(df, std::ldexp(1.0f, fa.scale_exponent)), scale_b = hn::Set(df, std::ldexp(1.0f, fb.scale_exponent));
  auto low = hn::Zero(dd), high = hn::Zero(dd);
  V special = hn::Zero(d);
  const auto add = [&](V x, V y) {
    const auto product = hn::Mul(numbers(fa, x, scale_a, special), numbers(fb, y, scale_b, special));
    low = hn::Add(low, hn::PromoteTo(dd, hn::LowerHalf(dh, product)));
    high = hn::Add(high, hn::PromoteTo(dd, hn::UpperHalf(dh, product)));
  };
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
  if (i < count) {
    HWY_ALIGN std::uint32_t x[hn::MaxLanes(D())] = {}, y[hn::MaxLanes(D())] = {};
    for (std::size_t j = 0; i + j < count; ++j) {
      x[j] = a[i + j];
      y[j] = b[i + j];
    }
    add(hn::Load(d, x), hn::Load(d, y));
  }
  if (!hn::AllTrue(d, hn::Eq(special, hn::Zero(d)))) return false;
  sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(low, high)));
  return true;
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace halfulp::accumulation::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halfulp::accumulation::detail {

HWY_EXPORT(narrow_sum);

bool narrow_dot(const NarrowFloat& format_a, const NarrowFloat& format_b, const std::uint32_t* a, const std::uint32_t* b, std::size_t count,
                int lift, double& units) {
  const halfulp::detail::DefaultFloatModes modes;
  double sum = 0;
  if (!HWY_DYNAMIC_DISPATCH(narrow_sum)(format_a, format_b, a, b, count, sum)) return false;
  units = std::ldexp(sum, lift);
  return true;
}

}  // namespace halfulp::accumulation::detail
#endif  // HWY_ONCE
