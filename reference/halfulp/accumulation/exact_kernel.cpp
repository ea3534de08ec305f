// Exact sums of products of narrow floating formats; see detail/exact_kernel.hpp. Twin: Scheme::exact of sum_exact.cpp.
//
// A magnitude's bits at a float32's fields are the number times 2^(bias - 127), subnormals included; one exact multiplication
// by a power of two gives the number. Products of two such numbers have at most 8 significant bits.
#include "halfulp/accumulation/detail/exact_kernel.hpp"

#include <algorithm>
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

/// One format's codes as floats; remembers whether one was none.
class Reader {
 public:
  explicit Reader(const NarrowFloat& f)
      : f_(f), sign_shift_(31 - static_cast<int>(hwy::Num0BitsBelowLS1Bit_Nonzero32(f.sign_mask))), mask_(hn::Set(D(), f.magnitude_mask)),
        sign_(hn::Set(D(), 0x80000000u)), code_(hn::Set(D(), f.special_code)), scale_(hn::Set(DF(), std::ldexp(1.0f, f.scale_exponent))) {}

  template <bool kSpecialCode>
  HWY_INLINE hn::Vec<DF> numbers(V codes) {
    const V magnitude = hn::And(codes, mask_);
    largest_ = hn::Max(largest_, magnitude);
    if constexpr (kSpecialCode) seen_ = hn::Or(seen_, hn::VecFromMask(D(), hn::Eq(codes, code_)));
    const V sign = hn::And(hn::ShiftLeftSame(codes, sign_shift_), sign_);
    return hn::Mul(hn::BitCast(DF(), hn::Or(hn::ShiftLeftSame(magnitude, f_.shift), sign)), scale_);
  }
  bool special() const {
    const D d;
    return !hn::AllFalse(d, hn::Or(hn::Gt(largest_, hn::Set(d, f_.first_special - 1)), hn::Ne(seen_, hn::Zero(d))));
  }

 private:
  const NarrowFloat& f_;
  int sign_shift_;
  V mask_, sign_, code_, largest_ = hn::Zero(D()), seen_ = hn::Zero(D());
  hn::Vec<DF> scale_;
};

template <bool kSpecialCode>
HWY_INLINE bool sum_of(const NarrowFloat& fa, const NarrowFloat& fb, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, double& sum) {
  const D d;
  const DD dd;
  const hn::Half<DF> dh;
  Reader of_a(fa), of_b(fb);
  auto low = hn::Zero(dd), high = hn::Zero(dd);
  const auto add = [&](V x, V y) {
    const auto product = hn::Mul(of_a.numbers<kSpecialCode>(x), of_b.numbers<kSpecialCode>(y));
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
  if (of_a.special() || of_b.special()) return false;
  sum = hn::GetLane(hn::SumOfLanes(dd, hn::Add(low, high)));
  return true;
}

bool narrow_sum(const NarrowFloat& fa, const NarrowFloat& fb, const std::uint32_t* a, const std::uint32_t* b, std::size_t count, double& sum) {
  const bool none = fa.special_code > fa.magnitude_mask + fa.sign_mask && fb.special_code > fb.magnitude_mask + fb.sign_mask;
  return none ? sum_of<false>(fa, fb, a, b, count, sum) : sum_of<true>(fa, fb, a, b, count, sum);
}

#endif

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

std::int64_t halves_sum(HalvesRow a, HalvesRow b, std::size_t count) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::int64_t{(a.high[i] * 512) + a.low[i]} * ((b.high[i] * 512) + b.low[i]);
  return sum;
}

#else

using D16 = hn::CappedTag<std::int16_t, kHalvesBlock>;
using DS32 = hn::Repartition<std::int32_t, D16>;
using DS64 = hn::Repartition<std::int64_t, D16>;

using D32x4 = hn::CappedTag<std::int32_t, 4>;

/// The sum of a vector's blocks of four lanes.
template <class V>
HWY_INLINE hn::Vec<D32x4> folded(V v) {
  const hn::DFromV<V> d;
  if constexpr (hn::MaxLanes(d) == 4) {
    return v;
  } else {
    const hn::Half<decltype(d)> half;
    return folded(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

/// 2^18 sum(x) + 2^9 sum(y) + sum(z), whose sums over all lanes fit an int32.
HWY_INLINE std::int64_t weighed(hn::Vec<DS32> x, hn::Vec<DS32> y, hn::Vec<DS32> z) {
  const DS32 d;
  const DS64 d64;
  const auto xy = hn::BitCast(d64, hn::Add(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y)));
  const auto zz = hn::BitCast(d64, hn::Add(hn::InterleaveLower(d, z, z), hn::InterleaveUpper(d, z, z)));
  const auto lower = hn::BitCast(d, hn::InterleaveLower(d64, xy, zz)), upper = hn::BitCast(d, hn::InterleaveUpper(d64, xy, zz));
  const auto both = hn::Add(lower, upper);  // x y z z in every 128 bits
  const auto last = hn::BitCast(hn::Repartition<std::int64_t, D32x4>(), folded(both));
  const std::int64_t x_y = hn::GetLane(last);
  const auto top = static_cast<std::int32_t>(x_y), middle = static_cast<std::int32_t>(x_y >> 32), bottom = static_cast<std::int32_t>(hn::ExtractLane(last, 1));
  return std::int64_t{top} * 262144 + std::int64_t{middle} * 512 + bottom;
}

/// (h 2^9 + l)(h' 2^9 + l') by pairs of 16-bit products in 32-bit lanes, which are emptied before their sum can overflow.
HWY_INLINE std::int64_t halves_sum(HalvesRow a, HalvesRow b, std::size_t count) {
  const D16 d16;
  const DS32 d32;
  constexpr std::size_t kStretch = std::size_t{1} << 12;  // 2^12 products of halves are at most 2^30, two such sums below 2^31
  const std::size_t lanes = hn::Lanes(d16);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count;) {
    const std::size_t end = std::min(count, i + kStretch);
    auto top = hn::Zero(d32), middle = top, middle1 = top, bottom = top, top_rest = top, middle_rest = top, middle1_rest = top, bottom_rest = top;
    for (; i < end; i += lanes) {
      const auto ah = hn::LoadU(d16, a.high + i), al = hn::LoadU(d16, a.low + i), bh = hn::LoadU(d16, b.high + i), bl = hn::LoadU(d16, b.low + i);
      top = hn::ReorderWidenMulAccumulate(d32, ah, bh, top, top_rest);
      middle = hn::ReorderWidenMulAccumulate(d32, ah, bl, middle, middle_rest);
      middle1 = hn::ReorderWidenMulAccumulate(d32, al, bh, middle1, middle1_rest);
      bottom = hn::ReorderWidenMulAccumulate(d32, al, bl, bottom, bottom_rest);
    }
    // The rests stay zero where an instruction adds pairs.
    total += weighed(hn::Add(top, top_rest), hn::Add(hn::Add(middle, middle_rest), hn::Add(middle1, middle1_rest)), hn::Add(bottom, bottom_rest));
  }
  return total;
}

#endif

std::int64_t halves_one(HalvesRow a, HalvesRow b, std::size_t count) { return halves_sum(a, b, count); }

void halves_sums(const HalvesRow& a, const HalvesRow* b, std::size_t columns, std::size_t count, std::int64_t* sums) {
  for (std::size_t j = 0; j < columns; ++j) sums[j] = halves_sum(a, b[j], count);
}

}  // namespace HWY_NAMESPACE
}  // namespace halfulp::accumulation::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halfulp::accumulation::detail {

HWY_EXPORT(narrow_sum);
HWY_EXPORT(halves_one);
HWY_EXPORT(halves_sums);

std::int64_t halves_dot(HalvesRow a, HalvesRow b, std::size_t count) { return HWY_DYNAMIC_DISPATCH(halves_one)(a, b, count); }

void halves_dots(const HalvesRow& a, const HalvesRow* b, std::size_t columns, std::size_t count, std::int64_t* sums) {
  HWY_DYNAMIC_DISPATCH(halves_sums)(a, b, columns, count, sums);
}

bool narrow_dot(const NarrowFloat& format_a, const NarrowFloat& format_b, const std::uint32_t* a, const std::uint32_t* b, std::size_t count,
                double lift, double& units) {
  const halfulp::detail::DefaultFloatModes modes;
  double sum = 0;
  if (!HWY_DYNAMIC_DISPATCH(narrow_sum)(format_a, format_b, a, b, count, sum)) return false;
  units = sum * lift;
  return true;
}

}  // namespace halfulp::accumulation::detail
#endif  // HWY_ONCE
