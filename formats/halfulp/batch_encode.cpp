// The f32 -> at most 8 bits vector kernel. Twin: halfulp::cast, from which its constants are read (batch_constants.cpp).
//
// A magnitude |x|, clamped to `top` as an integer, is rounded to the target's grid by adding in f32 a power of two whose
// ulp is the grid spacing in x's binade, or in the lowest binade for anything smaller: ties go to the even index because
// the sum's last bit is the index's last bit (fraction_bits >= 1). The index is then the low bits of the sum plus the
// exponent field moved down. An f32 subnormal may count as zero: it is under half the smallest target number.
#include <cstring>

#include "halfulp/detail/simd_kernels.hpp"

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "halfulp/batch_encode.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace halfulp::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

std::size_t encode(const EncodeConstants&, const void*, std::size_t, std::uint8_t*, bool) { return 0; }

#else

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::int16_t, D8>;
using D32 = hn::Repartition<std::int32_t, D8>;
using V8 = hn::Vec<D8>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// Narrowing keeps values and is allowed to permute groups of four lanes: after two steps, block b holds the four lanes
// of vector 0's block b, then vector 1's, 2's, 3's. in_order() undoes that once, on the finished codes.
HWY_INLINE V16 narrow(V32 a, V32 b) { return hn::ReorderDemote2To(D16(), a, b); }

#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
HWY_INLINE V8 narrow_unsigned(V16 a, V16 b) { return V8{_mm_packus_epi16(a.raw, b.raw)}; }
HWY_INLINE V8 narrow_signed(V16 a, V16 b) { return V8{_mm_packs_epi16(a.raw, b.raw)}; }
#elif HWY_TARGET == HWY_AVX2
HWY_INLINE V8 narrow_unsigned(V16 a, V16 b) { return V8{_mm256_packus_epi16(a.raw, b.raw)}; }
HWY_INLINE V8 narrow_signed(V16 a, V16 b) { return V8{_mm256_packs_epi16(a.raw, b.raw)}; }
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
HWY_INLINE V8 narrow_unsigned(V16 a, V16 b) { return V8{_mm512_packus_epi16(a.raw, b.raw)}; }
HWY_INLINE V8 narrow_signed(V16 a, V16 b) { return V8{_mm512_packs_epi16(a.raw, b.raw)}; }
#else
template <class Halve>
HWY_INLINE V8 narrow_by_lane(V16 a, V16 b, Halve halve) {
  constexpr std::size_t kLanes = hn::MaxLanes(D16());
  HWY_ALIGN std::int16_t words[2 * kLanes];
  HWY_ALIGN std::uint8_t bytes[2 * kLanes];
  hn::Store(a, D16(), words);
  hn::Store(b, D16(), words + hn::Lanes(D16()));
  constexpr std::size_t kBlock = 8;
  for (std::size_t i = 0; i < hn::Lanes(D16()); ++i) {
    const std::size_t at = i / kBlock * (2 * kBlock) + i % kBlock;
    bytes[at] = halve(words[i]);
    bytes[at + kBlock] = halve(words[i + hn::Lanes(D16())]);
  }
  return hn::Load(D8(), bytes);
}
HWY_INLINE V8 narrow_unsigned(V16 a, V16 b) {
  return narrow_by_lane(a, b, [](std::int16_t v) { return static_cast<std::uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v); });
}
HWY_INLINE V8 narrow_signed(V16 a, V16 b) {
  return narrow_by_lane(a, b, [](std::int16_t v) { return static_cast<std::uint8_t>(v < -128 ? -128 : v > 127 ? 127 : v); });
}
#endif

HWY_INLINE V8 in_order(V8 v) {
  constexpr std::size_t kBlocks = hn::MaxLanes(D8()) / 16;
  if constexpr (kBlocks == 1) {
    return v;
  } else {
    HWY_ALIGN std::int32_t source[4 * kBlocks];
    for (std::size_t quad = 0; quad < 4 * kBlocks; ++quad) {
      source[quad] = static_cast<std::int32_t>(quad % kBlocks * 4 + quad / kBlocks);
    }
    const D32 d;
    return hn::BitCast(D8(), hn::TableLookupLanes(hn::BitCast(d, v), hn::SetTableIndices(d, source)));
  }
}

HWY_INLINE V32 shifted_down(V32 v, int bits, V32 bits_vector) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  (void)bits;
  return hn::Shr(v, bits_vector);  // one operation, unlike a shift by a count from a scalar register
#else
  (void)bits_vector;
  return hn::ShiftRightSame(v, bits);
#endif
}

/// One group: four vectors of words in, one vector of codes out. `kGeneral`: see EncodeConstants.
template <bool kGeneral, bool kRefuses>
class Encoder {
 public:
  explicit Encoder(const EncodeConstants& c)
      : clamp_(set32(c.clamp)), lowest_(set32(c.lowest_field)), lift_(set32(c.lift)), shift_(c.shift),
        shifts_(hn::Set(D32(), c.shift)), rebias_(hn::Set(D16(), c.rebias)), sign_bit_(set8(c.sign_bit)),
        nan_index_(set8(c.nan_index)), nan_code_(set8(c.nan_code[0])),
        nan_flip_(set8(static_cast<std::uint8_t>(c.nan_code[0] ^ c.nan_code[1]))), bad_(hn::Zero(D8())), c_(c) {}

  HWY_INLINE V8 codes(const std::uint8_t* in) {
    const D32 d;
    const std::size_t step = 4 * hn::Lanes(d);
    const V32 x0 = load(in), x1 = load(in + step), x2 = load(in + 2 * step), x3 = load(in + 3 * step);
    const V16 index01 = hn::Sub(narrow(index(x0), index(x1)), rebias_);
    const V16 index23 = hn::Sub(narrow(index(x2), index(x3)), rebias_);
    const V8 indices = narrow_unsigned(index01, index23);
    const auto d8s = hn::RebindToSigned<D8>();
    const V8 signs = hn::BitCast(
        D8(), hn::BroadcastSignBit(hn::BitCast(d8s, narrow_signed(narrow(x0, x1), narrow(x2, x3)))));
    const V8 nans = hn::VecFromMask(D8(), hn::Eq(indices, nan_index_));
    const V8 nan_codes = hn::Xor(nan_code_, hn::And(signs, nan_flip_));
    V8 codes = hn::Or(indices, hn::And(signs, sign_bit_));
    if constexpr (kRefuses) bad_ = c_.nan_refused ? hn::Or(bad_, nans) : bad_;
    if constexpr (kGeneral) {
      codes = replaced(codes, indices, 0, c_.zero_code, signs);
      codes = replaced(codes, indices, c_.top_index, c_.top_code, signs);
      codes = replaced(codes, indices, static_cast<std::uint8_t>(c_.top_index + 1), c_.infinity_code, signs);
      if (c_.override_negative) {
        const V8 numbers = narrow_signed(narrow(nonzero(x0), nonzero(x1)), narrow(nonzero(x2), nonzero(x3)));
        const V8 negative = hn::And(signs, hn::AndNot(nans, numbers));
        codes = hn::IfVecThenElse(negative, set8(c_.negative_code), codes);
        if constexpr (kRefuses) bad_ = c_.negative_refused ? hn::Or(bad_, negative) : bad_;
      }
    }
    return in_order(hn::IfVecThenElse(nans, nan_codes, codes));
  }

  /// True when a code since the last call was refused.
  HWY_INLINE bool take_refused() {
    if constexpr (!kRefuses) return false;
    const bool any = !hn::AllTrue(D8(), hn::Eq(bad_, hn::Zero(D8())));
    bad_ = hn::Zero(D8());
    return any;
  }

 private:
  static V32 set32(std::uint32_t v) { return hn::BitCast(D32(), hn::Set(hn::RebindToUnsigned<D32>(), v)); }
  static V8 set8(std::uint8_t v) { return hn::Set(D8(), v); }
  static HWY_INLINE V32 load(const std::uint8_t* in) { return hn::BitCast(D32(), hn::LoadU(D8(), in)); }

  HWY_INLINE V32 index(V32 x) const {
    const D32 d;
    const hn::Repartition<float, D32> df;
    const V32 magnitude = hn::And(x, hn::Set(d, 0x7fffffff));
    const V32 number = hn::Min(magnitude, clamp_);
    const V32 grid = hn::Add(hn::And(hn::Max(number, lowest_), set32(0x7f800000)), lift_);
    const V32 sum = hn::BitCast(d, hn::Add(hn::BitCast(df, number), hn::BitCast(df, grid)));
    V32 index = hn::Add(hn::Sub(sum, grid), shifted_down(grid, shift_, shifts_));
    index = incremented(hn::Gt(magnitude, set32(0x7f800000)), index);  // NaN
    if constexpr (kGeneral) index = incremented(hn::Gt(magnitude, set32(0x7f7fffff)), index);  // Inf and NaN
    return index;
  }

  static HWY_INLINE V32 incremented(hn::Mask<D32> where, V32 v) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
    return V32{_mm512_mask_sub_epi32(v.raw, where.raw, v.raw, _mm512_set1_epi32(-1))};
#else
    return hn::Sub(v, hn::VecFromMask(D32(), where));
#endif
  }

  static HWY_INLINE V32 nonzero(V32 x) {
    const D32 d;
    return hn::VecFromMask(d, hn::Gt(hn::And(x, hn::Set(d, 0x7fffffff)), hn::Zero(d)));
  }

  static HWY_INLINE V8 replaced(V8 codes, V8 indices, std::uint8_t index, const std::array<std::uint8_t, 2>& code, V8 signs) {
    const V8 by_sign = hn::IfVecThenElse(signs, set8(code[1]), set8(code[0]));
    return hn::IfThenElse(hn::Eq(indices, set8(index)), by_sign, codes);
  }

  V32 clamp_, lowest_, lift_;
  int shift_;
  V32 shifts_;
  V16 rebias_;
  V8 sign_bit_, nan_index_, nan_code_, nan_flip_, bad_;
  const EncodeConstants& c_;
};

// Prefetching keeps loads in flight while the arithmetic fills the window, and crosses pages, where the hardware's own
// prefetcher stops. The addresses may lie past the input: a prefetch never faults.
constexpr std::size_t kLine = 64;
constexpr std::size_t kAhead = 8192;

HWY_INLINE void prefetch_group(const std::uint8_t* in, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(in) + kAhead;
  for (std::size_t line = 0; line < bytes; line += kLine) hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(address + line));
}

/// At least one whole group. The first and the last group may overlap their neighbours: they rewrite the same codes.
template <bool kStream, bool kGeneral, bool kRefuses>
HWY_NOINLINE std::size_t encode_groups(const EncodeConstants& c, const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  const D8 d;
  const std::size_t group = hn::Lanes(d);
  Encoder<kGeneral, kRefuses> encoder(c);
  hn::StoreU(encoder.codes(in), d, out);
  std::size_t done = group - reinterpret_cast<std::uintptr_t>(out) % group;
  std::size_t stretch = 0;  // start of the codes whose refusals have not been looked at
  while (count - done >= group) {
    const std::size_t rest = (count - done) / group * group;
    const std::size_t end = done + (kRefuses && rest > kEncodeStretch / 2 ? kEncodeStretch / 2 : rest);
    for (; done < end; done += group) {
      prefetch_group(in + 4 * done, 4 * group);
      const V8 codes = encoder.codes(in + 4 * done);
      if constexpr (kStream) {
        hn::Stream(codes, d, out + done);
      } else {
        hn::Store(codes, d, out + done);
      }
    }
    if (encoder.take_refused()) return stretch;
    stretch = done;
  }
  if (done < count) hn::StoreU(encoder.codes(in + 4 * (count - group)), d, out + (count - group));
  if constexpr (kStream) hwy::FlushStream();
  return encoder.take_refused() ? stretch : count;
}

/// Fewer elements than a group: through buffers.
template <bool kGeneral>
HWY_NOINLINE std::size_t encode_few(const EncodeConstants& c, const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  const D8 d;
  HWY_ALIGN std::uint8_t words[4 * hn::MaxLanes(D8())] = {};
  HWY_ALIGN std::uint8_t codes[hn::MaxLanes(D8())];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) {  // repeat the first element: no refusal comes from the padding alone
    std::memcpy(words + 4 * i, in + (i < count ? 4 * i : 0), 4);
  }
  Encoder<kGeneral, true> encoder(c);
  hn::Store(encoder.codes(words), d, codes);
  std::memcpy(out, codes, count);
  return encoder.take_refused() ? 0 : count;
}

std::size_t encode(const EncodeConstants& c, const void* in, std::size_t count, std::uint8_t* out, bool streaming) {
  const auto* bytes = static_cast<const std::uint8_t*>(in);
  const bool refuses = c.nan_refused || (c.override_negative && c.negative_refused);
  if (count == 0) return 0;
  if (count < hn::Lanes(D8())) return c.general ? encode_few<true>(c, bytes, count, out) : encode_few<false>(c, bytes, count, out);
  if (c.general) return encode_groups<false, true, true>(c, bytes, count, out);
  if (streaming) {
    return refuses ? encode_groups<true, false, true>(c, bytes, count, out) : encode_groups<true, false, false>(c, bytes, count, out);
  }
  return refuses ? encode_groups<false, false, true>(c, bytes, count, out) : encode_groups<false, false, false>(c, bytes, count, out);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace HWY_NAMESPACE
}  // namespace halfulp::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halfulp::detail {

HWY_EXPORT(encode);

std::size_t encode_f32(const EncodeConstants& constants, const void* in, std::size_t count, std::uint8_t* out,
                       bool streaming) {
  return HWY_DYNAMIC_DISPATCH(encode)(constants, in, count, out, streaming);
}

}  // namespace halfulp::detail
#endif  // HWY_ONCE
