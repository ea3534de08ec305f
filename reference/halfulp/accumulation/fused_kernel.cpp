// The vector kernels: a chunk of fused products for kPanel columns at a time. Twin: sum_exact.cpp, through the scalar engine.
//
// Pass 1 finds the largest exponent of every column, c's included. Pass 2 multiplies lifted magnitudes, shifts right by the
// distance to the largest exponent (which is the truncation), gives the sign and adds. Then c is cut and added, the sum made
// a float, cut to the result's bits and scaled: exact steps all.
#include "halfulp/accumulation/detail/fused_kernel.hpp"

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "halfulp/accumulation/fused_kernel.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace halfulp::accumulation::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

bool lanes_exist() { return false; }
int extra_lift16() { return 0; }
void lanes16(const LaneConstants&, std::size_t, const PackedRow<std::int16_t>*, std::size_t, const PackedPanel<std::int16_t>&, float*,
             const SlowLanes&) {}
void lanes32(const LaneConstants&, std::size_t, const PackedRow<std::int32_t>&, const PackedPanel<std::int32_t>&, const std::int32_t*, float*,
             const SlowLanes&) {}

#else

using D32 = hn::CappedTag<std::int32_t, kPanel>;
using DU32 = hn::RebindToUnsigned<D32>;
using DF = hn::RebindToFloat<D32>;
using D16 = hn::Repartition<std::int16_t, D32>;
using DU16 = hn::RebindToUnsigned<D16>;
using V32 = hn::Vec<D32>;
using VU32 = hn::Vec<DU32>;
using V16 = hn::Vec<D16>;
using VF = hn::Vec<DF>;

constexpr bool kShifts16 = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL;
constexpr bool kShifts32 = kShifts16 || HWY_TARGET == HWY_AVX2;

bool lanes_exist() { return true; }
int extra_lift16() { return kShifts16 ? 0 : 1; }

/// Two 16-bit words of A in every 32-bit lane.
HWY_INLINE V16 pair_of(const std::int16_t* words) {
  std::int32_t pair;
  __builtin_memcpy(&pair, words, sizeof pair);
  return hn::BitCast(D16(), hn::Set(D32(), pair));
}

/// x >> count, 0 from 16 on. Without 16-bit shifts x comes lifted by one bit more: (x * 2^(15-count)) >> 16.
HWY_INLINE V16 shifted16(V16 x, V16 count) {
  const D16 d;
  const DU16 du;
  if constexpr (kShifts16) {
    return hn::BitCast(d, hn::BitCast(du, x) >> hn::BitCast(du, count));
  } else {
    const hn::Repartition<std::uint8_t, D16> d8;
    alignas(16) static constexpr std::uint8_t kLow[16] = {0, 0, 0, 0, 0, 0, 0, 0, 128, 64, 32, 16, 8, 4, 2, 1};
    alignas(16) static constexpr std::uint8_t kHigh[16] = {128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    const auto index = hn::BitCast(d8, hn::Min(count, hn::Set(d, 15)));
    const auto low = hn::BitCast(du, hn::TableLookupBytes(hn::LoadDup128(d8, kLow), index));
    const auto high = hn::BitCast(du, hn::TableLookupBytes(hn::LoadDup128(d8, kHigh), index));
    // The upper byte of an index is 0: it looks up kLow[0] = 0, and what kHigh[0] gives there is shifted out.
    return hn::BitCast(d, hn::MulHigh(hn::BitCast(du, x), hn::Or(low, hn::ShiftLeft<8>(high))));
  }
}

/// Sums of pairs x0*s0 + x1*s1 in 32-bit lanes.
HWY_INLINE V32 pair_sums(V16 x, V16 s) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  if constexpr (sizeof(x.raw) == 64) return V32{_mm512_madd_epi16(x.raw, s.raw)};
#endif
#if HWY_TARGET == HWY_AVX2
  return V32{_mm256_madd_epi16(x.raw, s.raw)};
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return V32{_mm_madd_epi16(x.raw, s.raw)};
#else
  const D32 d;
  const V32 p = hn::BitCast(d, x), q = hn::BitCast(d, s);
  const V32 low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(p)), hn::ShiftRight<16>(hn::ShiftLeft<16>(q)));
  return hn::Add(low, hn::Mul(hn::ShiftRight<16>(p), hn::ShiftRight<16>(q)));
#endif
}

/// x >> count in unsigned 32-bit lanes, count from 0 to 31.
HWY_INLINE VU32 shifted32(VU32 x, VU32 count) { return x >> count; }

HWY_INLINE V32 negated_where(V32 x, V32 minus_one) { return hn::Sub(hn::Xor(x, minus_one), minus_one); }

/// c of kPanel or fewer columns taken apart.
struct CLanes {
  V32 exponent;      ///< max(field, 1) - 127, or of a zero
  VU32 significand;
  V32 sign;          ///< 0 or -1
  V32 field;
  V32 zero;          ///< -1 where c is zero
};

HWY_INLINE CLanes split_c(const LaneConstants& k, VF c) {
  const D32 d;
  const V32 bits = hn::BitCast(d, c), magnitude = hn::And(bits, hn::Set(d, 0x7fffffff));
  const V32 field = hn::ShiftRight<23>(magnitude);
  const V32 hidden = hn::IfThenElseZero(hn::Ne(field, hn::Zero(d)), hn::Set(d, 0x00800000));
  const auto is_zero = hn::Eq(magnitude, hn::Zero(d));
  const V32 exponent = hn::Sub(hn::Max(field, hn::Set(d, 1)), hn::Set(d, 127));
  return {hn::IfThenElse(is_zero, hn::Set(d, k.zero_exponent), exponent),
          hn::BitCast(DU32(), hn::Or(hn::And(bits, hn::Set(d, 0x007fffff)), hidden)), hn::ShiftRight<31>(bits), field,
          hn::VecFromMask(d, is_zero)};
}

/// c cut to 2^(largest - F).
HWY_INLINE V32 cut_c(const LaneConstants& k, const CLanes& c, V32 largest) {
  const D32 d;
  const DU32 du;
  const int lift = k.fraction_bits - 23;
  const V32 distance = hn::Min(hn::Sub(largest, c.exponent), hn::Set(d, 31));
  const VU32 lifted = lift >= 0 ? hn::ShiftLeftSame(c.significand, lift) : hn::ShiftRightSame(c.significand, -lift);
  return negated_where(hn::BitCast(d, shifted32(lifted, hn::BitCast(du, distance))), c.sign);
}

/// -1 in lanes that the caller must redo, as bits.
HWY_INLINE std::uint32_t lane_bits(V32 lanes) {
  const D32 d;
  alignas(64) std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, hn::MaskFromVec(lanes), bytes);
  return static_cast<std::uint32_t>(bytes[0] | bytes[1] << 8) & ((1u << hn::Lanes(d)) - 1);
}

void redo(const SlowLanes& slow, std::size_t chunk, std::size_t row, std::uint32_t lanes, std::size_t first, VF c, float* sums) {
  HWY_ALIGN float before[kPanel] = {}, after[kPanel] = {};
  const DF df;
  hn::StoreU(c, df, before + first);
  hn::StoreU(hn::LoadU(df, sums + first), df, after + first);
  slow.run(slow.context, chunk, row, lanes << first, before, after);
  hn::StoreU(hn::LoadU(df, after + first), df, sums + first);
}

template <std::size_t kRows>
HWY_INLINE void rows16(const LaneConstants& k, std::size_t chunks, const PackedRow<std::int16_t>* rows, const PackedPanel<std::int16_t>& panel,
                       float* sums, const SlowLanes& slow) {
  const D16 d16;
  const D32 d32;
  const DF df;
  const std::size_t lanes = hn::Lanes(d32), pairs = static_cast<std::size_t>(k.chunk) / 2;
  const V32 kept_bits = hn::Set(d32, ~((1 << (23 - k.f32_fraction_bits)) - 1));
  for (std::size_t first = 0; first < kPanel; first += lanes) {
    VF c[kRows];
    for (std::size_t r = 0; r < kRows; ++r) c[r] = hn::LoadU(df, sums + r * kPanel + first);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const std::size_t a0 = chunk * static_cast<std::size_t>(k.chunk), b0 = 2 * (chunk * pairs * kPanel + first);
      V16 top[kRows], both[kRows];
      V32 largest[kRows], sum[kRows];
      CLanes cl[kRows];
      for (std::size_t r = 0; r < kRows; ++r) top[r] = hn::Set(d16, INT16_MIN / 2);
      for (std::size_t p = 0; p < pairs; ++p) {
        const V16 exponent = hn::LoadU(d16, panel.exponent + b0 + 2 * kPanel * p);
        for (std::size_t r = 0; r < kRows; ++r) top[r] = hn::Max(top[r], hn::Add(pair_of(rows[r].exponent + a0 + 2 * p), exponent));
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        cl[r] = split_c(k, c[r]);
        const V32 tops = hn::BitCast(d32, top[r]);
        largest[r] = hn::Max(hn::Max(hn::ShiftRight<16>(tops), hn::ShiftRight<16>(hn::ShiftLeft<16>(tops))), cl[r].exponent);
        both[r] = hn::BitCast(d16, hn::Or(hn::ShiftLeft<16>(largest[r]), hn::And(largest[r], hn::Set(d32, 0xffff))));
        sum[r] = cut_c(k, cl[r], largest[r]);
      }
      for (std::size_t p = 0; p < pairs; ++p) {
        const std::size_t b = b0 + 2 * kPanel * p;
        const V16 exponent = hn::LoadU(d16, panel.exponent + b), magnitude = hn::LoadU(d16, panel.magnitude + b);
        const V16 sign = hn::LoadU(d16, panel.sign + b);
        for (std::size_t r = 0; r < kRows; ++r) {
          const V16 distance = hn::Sub(hn::Sub(both[r], pair_of(rows[r].exponent + a0 + 2 * p)), exponent);
          const V16 product = hn::Mul(pair_of(rows[r].magnitude + a0 + 2 * p), magnitude);
          sum[r] = hn::Add(sum[r], pair_sums(shifted16(product, distance), hn::Xor(pair_of(rows[r].sign + a0 + 2 * p), sign)));
        }
      }
      for (std::size_t r = 0; r < kRows; ++r) {
        // Below 2^24: the conversion is exact. Exponents outside -90..90 come from c alone; such lanes are redone.
        const V32 kept = hn::And(hn::BitCast(d32, hn::ConvertTo(df, sum[r])), kept_bits);
        const V32 scale = hn::ShiftLeft<23>(hn::Add(hn::Max(largest[r], hn::Set(d32, -90)), hn::Set(d32, 127 - k.fraction_bits)));
        const VF result = hn::Mul(hn::BitCast(df, kept), hn::BitCast(df, scale));
        const V32 outside = hn::VecFromMask(d32, hn::Or(hn::Lt(cl[r].field, hn::Set(d32, 37)), hn::Gt(cl[r].field, hn::Set(d32, 217))));
        const std::uint32_t left = lane_bits(hn::AndNot(cl[r].zero, outside));
        if (left == 0) {
          c[r] = result;
          continue;
        }
        float* row_sums = sums + r * kPanel;
        hn::StoreU(result, df, row_sums + first);
        redo(slow, chunk, r, left, first, c[r], row_sums);
        c[r] = hn::LoadU(df, row_sums + first);
      }
    }
    for (std::size_t r = 0; r < kRows; ++r) hn::StoreU(c[r], df, sums + r * kPanel + first);
  }
}

void lanes16(const LaneConstants& k, std::size_t chunks, const PackedRow<std::int16_t>* rows, std::size_t row_count,
             const PackedPanel<std::int16_t>& panel, float* sums, const SlowLanes& slow) {
  if (row_count == kRowsTogether) rows16<kRowsTogether>(k, chunks, rows, panel, sums, slow);
  else rows16<1>(k, chunks, rows, panel, sums, slow);
}

using DD = hn::Repartition<double, D32>;
using DI64 = hn::RebindToSigned<DD>;
using VD = hn::Vec<DD>;
using DH32 = hn::Half<D32>;
using DHF = hn::RebindToFloat<DH32>;

/// Half a vector of float32 results from double sums: cut to the result's bits and scaled, all exact down to the smallest
/// normal number.
HWY_INLINE hn::Vec<DHF> half_result(const LaneConstants& k, VD sum, hn::Vec<DH32> largest) {
  const DD dd;
  const DI64 di;
  const auto kept = hn::And(hn::BitCast(di, sum), hn::Set(di, ~((std::int64_t{1} << (52 - k.f32_fraction_bits)) - 1)));
  const auto exponent = hn::PromoteTo(di, hn::Max(largest, hn::Set(DH32(), -700)));
  const auto scale = hn::ShiftLeft<52>(hn::Add(exponent, hn::Set(di, 1023 - k.fraction_bits)));
  return hn::DemoteTo(DHF(), hn::Mul(hn::BitCast(dd, kept), hn::BitCast(dd, scale)));
}

HWY_INLINE VD as_double(hn::Vec<DH32> x) { return hn::PromoteTo(DD(), x); }

void lanes32(const LaneConstants& k, std::size_t chunks, const PackedRow<std::int32_t>& row, const PackedPanel<std::int32_t>& panel,
             const std::int32_t* scale, float* sums, const SlowLanes& slow) {
  const D32 d;
  const DU32 du;
  const DF df;
  const DH32 dh;
  const auto n = static_cast<std::size_t>(k.chunk);
  for (std::size_t first = 0; first < kPanel; first += hn::Lanes(d)) {
    VF c = hn::LoadU(df, sums + first);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
      const std::size_t a0 = chunk * n, b0 = chunk * n * kPanel + first;
      V32 largest = hn::Set(d, -60000);
      for (std::size_t i = 0; i < n; ++i) {
        largest = hn::Max(largest, hn::Add(hn::Set(d, row.exponent[a0 + i]), hn::LoadU(d, panel.exponent + b0 + kPanel * i)));
      }
      const V32 shared = scale == nullptr ? hn::Zero(d) : hn::LoadU(d, scale + chunk * kPanel + first);
      const CLanes cl = split_c(k, c);
      largest = hn::Max(hn::Max(hn::Add(largest, shared), hn::Set(d, k.floor)), cl.exponent);
      const V32 base = hn::Sub(largest, shared);
      const V32 c_part = cut_c(k, cl, largest);
      VD low = as_double(hn::LowerHalf(dh, c_part)), high = as_double(hn::UpperHalf(dh, c_part));
      for (std::size_t begin = 0; begin < n; begin += 8) {  // 8 terms below 2^27 fit an int32
        V32 sum = hn::Zero(d);
        for (std::size_t i = begin; i < begin + 8 && i < n; ++i) {
          const std::size_t b = b0 + kPanel * i;
          const V32 far = hn::Sub(hn::Sub(base, hn::Set(d, row.exponent[a0 + i])), hn::LoadU(d, panel.exponent + b));
          const V32 product = pair_sums(hn::BitCast(D16(), hn::Set(d, row.magnitude[a0 + i])), hn::BitCast(D16(), hn::LoadU(d, panel.magnitude + b)));
          const V32 distance = hn::Min(far, hn::Set(d, 31));
          const V32 cut = hn::BitCast(d, shifted32(hn::BitCast(du, product), hn::BitCast(du, distance)));
          sum = hn::Add(sum, negated_where(cut, hn::Xor(hn::Set(d, row.sign[a0 + i]), hn::LoadU(d, panel.sign + b))));
        }
        low = hn::Add(low, as_double(hn::LowerHalf(dh, sum)));
        high = hn::Add(high, as_double(hn::UpperHalf(dh, sum)));
      }
      const VF result = hn::Combine(df, half_result(k, high, hn::UpperHalf(dh, largest)), half_result(k, low, hn::LowerHalf(dh, largest)));
      // Left to the caller: c Inf or NaN, and results below the smallest normal number.
      const V32 magnitude = hn::And(hn::BitCast(d, result), hn::Set(d, 0x7fffffff));
      const V32 tiny = hn::VecFromMask(d, hn::Lt(magnitude, hn::Set(d, 0x00800000)));
      const V32 none = hn::VecFromMask(d, hn::Eq(magnitude, hn::Zero(d)));
      const V32 lost = hn::VecFromMask(d, hn::Lt(largest, hn::Set(d, -60)));  // a zero may be an underflow
      const V32 special = hn::VecFromMask(d, hn::Eq(cl.field, hn::Set(d, 255)));
      const V32 nothing = hn::And(hn::And(none, cl.zero), hn::VecFromMask(d, hn::Lt(largest, hn::Set(d, -6000))));
      const V32 redone = hn::Or(special, hn::AndNot(nothing, hn::Or(hn::AndNot(none, tiny), hn::And(none, lost))));
      const std::uint32_t left = lane_bits(redone);
      if (left == 0) {
        c = result;
        continue;
      }
      hn::StoreU(result, df, sums + first);
      redo(slow, chunk, 0, left, first, c, sums);
      c = hn::LoadU(df, sums + first);
    }
    hn::StoreU(c, df, sums + first);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace halfulp::accumulation::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halfulp::accumulation::detail {

HWY_EXPORT(lanes_exist);
HWY_EXPORT(extra_lift16);
HWY_EXPORT(lanes16);
HWY_EXPORT(lanes32);

bool has_lanes() { return HWY_DYNAMIC_DISPATCH(lanes_exist)(); }
int lanes16_extra_lift() { return HWY_DYNAMIC_DISPATCH(extra_lift16)(); }

void run_lanes16(const LaneConstants& constants, std::size_t chunks, const PackedRow<std::int16_t>* rows, std::size_t row_count,
                 const PackedPanel<std::int16_t>& panel, float* sums, const SlowLanes& slow) {
  HWY_DYNAMIC_DISPATCH(lanes16)(constants, chunks, rows, row_count, panel, sums, slow);
}

void run_lanes32(const LaneConstants& constants, std::size_t chunks, const PackedRow<std::int32_t>& row,
                 const PackedPanel<std::int32_t>& panel, const std::int32_t* scale, float* sums, const SlowLanes& slow) {
  HWY_DYNAMIC_DISPATCH(lanes32)(constants, chunks, row, panel, scale, sums, slow);
}

}  // namespace halfulp::accumulation::detail
#endif  // HWY_ONCE
