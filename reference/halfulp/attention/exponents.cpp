// Exponentials of a row, in vectors where the level has a fused multiply-add; see detail/kernel_plan.hpp. Twin: exp2_p6.
#include "halfulp/attention/detail/kernel_plan.hpp"
#include "halfulp/attention/exp2.hpp"

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "halfulp/attention/exponents.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace halfulp::attention::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Elsewhere MulAdd rounds twice, and std::fma does the work.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || (HWY_ARCH_ARM_A64 && HWY_TARGET != HWY_SCALAR)

using DF = hn::ScalableTag<float>;
using DU = hn::RebindToUnsigned<DF>;
using VF = hn::Vec<DF>;

HWY_INLINE VF word_vector(std::uint32_t bits) { return hn::BitCast(DF(), hn::Set(DU(), bits)); }

HWY_INLINE VF exp2_lanes(VF x) {
  const DF d;
  const DU du;
  const VF magic = hn::Set(d, 12582912.0f);
  const VF shifted = hn::Add(x, magic), r = hn::Sub(x, hn::Sub(shifted, magic));
  VF p = word_vector(kExp2Coefficients[5]);
  for (int i = 4; i >= 0; --i) p = hn::MulAdd(p, r, word_vector(kExp2Coefficients[i]));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const auto n = hn::Sub(hn::BitCast(du, shifted), hn::Set(du, 0x4b400000u));
  VF y = hn::BitCast(d, hn::Add(hn::BitCast(du, p), hn::ShiftLeft<23>(n)));
  y = hn::IfThenElse(hn::Ge(x, hn::Set(d, 128.0f)), word_vector(0x7f800000), y);
  y = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -126.0f)), y);
  return hn::IfThenElse(hn::Eq(x, x), y, word_vector(0x7fffffff));
}

std::size_t exponential_lanes(const float* S, std::size_t count, float L, float b, float* t, float* P) {
  const DF d;
  const VF scale = hn::Set(d, L), shift = hn::Set(d, b);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const VF x = hn::MulAdd(hn::LoadU(d, S + i), scale, shift);
    hn::StoreU(x, d, t + i);
    hn::StoreU(exp2_lanes(x), d, P + i);
  }
  return i;
}

#else

std::size_t exponential_lanes(const float*, std::size_t, float, float, float*, float*) { return 0; }

#endif

}  // namespace HWY_NAMESPACE
}  // namespace halfulp::attention::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halfulp::attention::detail {

HWY_EXPORT(exponential_lanes);

void exponentials(const float* S, std::size_t count, float L, float b, float* t, float* P) {
  for (std::size_t i = HWY_DYNAMIC_DISPATCH(exponential_lanes)(S, count, L, b, t, P); i < count; ++i) {
    t[i] = fused(S[i], L, b);
    P[i] = exp2_p6(t[i]);
  }
}

}  // namespace halfulp::attention::detail
#endif  // HWY_ONCE
