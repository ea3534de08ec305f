// The code -> f32 vector kernel: two byte look-ups per code, then two zero bytes. Twin: halfulp::cast, which filled the
// tables (batch_constants.cpp).
#include <cstring>

#include "halfulp/detail/simd_kernels.hpp"

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "halfulp/batch_decode.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace halfulp::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

std::size_t decode(const DecodeConstants&, const std::uint8_t*, std::size_t, void*) { return 0; }

#else

using D8 = hn::ScalableTag<std::uint8_t>;
using D16 = hn::Repartition<std::uint16_t, D8>;
using D32 = hn::Repartition<std::uint32_t, D8>;
using V8 = hn::Vec<D8>;

#if HWY_TARGET == HWY_AVX3_DL

/// table[code] for all 256 codes: VBMI looks up 128 entries at once.
class ByteTable {
 public:
  ByteTable(const std::array<std::uint8_t, 256>& t, const DecodeConstants&)
      : t0_(hn::Load(D8(), t.data())), t1_(hn::Load(D8(), t.data() + 64)), t2_(hn::Load(D8(), t.data() + 128)),
        t3_(hn::Load(D8(), t.data() + 192)) {}

  HWY_INLINE V8 operator()(V8 codes) const {
    const __m512i low = _mm512_permutex2var_epi8(t0_.raw, codes.raw, t1_.raw);
    const __m512i high = _mm512_permutex2var_epi8(t2_.raw, codes.raw, t3_.raw);
    return V8{_mm512_mask_mov_epi8(low, _mm512_movepi8_mask(codes.raw), high)};
  }

 private:
  V8 t0_, t1_, t2_, t3_;
};

#else

/// table[code] where the second half of the table follows from the first: eight look-ups of 16 entries, chosen by bits
/// 4, 5 and 6 of the code; then the sign bit, and code 0x80 apart.
class ByteTable {
 public:
  ByteTable(const std::array<std::uint8_t, 256>& t, const DecodeConstants& c)
      : sign_(hn::Set(D8(), static_cast<std::uint8_t>(c.halved ? 0 : (t[0x01] ^ t[0x81])))),
        apart_(hn::Set(D8(), t[0x80])) {
    for (std::size_t row = 0; row < 8; ++row) rows_[row] = t.data() + 16 * row;
  }

  HWY_INLINE V8 operator()(V8 codes) const {
    const D8 d;
    const V8 low = hn::And(codes, hn::Set(d, 0x0f));
    const auto bit4 = hn::TestBit(codes, hn::Set(d, 0x10));
    const auto bit5 = hn::TestBit(codes, hn::Set(d, 0x20));
    const auto bit6 = hn::TestBit(codes, hn::Set(d, 0x40));
    const V8 q0 = hn::IfThenElse(bit4, row(1, low), row(0, low));
    const V8 q1 = hn::IfThenElse(bit4, row(3, low), row(2, low));
    const V8 q2 = hn::IfThenElse(bit4, row(5, low), row(4, low));
    const V8 q3 = hn::IfThenElse(bit4, row(7, low), row(6, low));
    const V8 found = hn::IfThenElse(bit6, hn::IfThenElse(bit5, q3, q2), hn::IfThenElse(bit5, q1, q0));
    const V8 with_sign = hn::Or(found, hn::And(codes, sign_));
    return hn::IfThenElse(hn::Eq(codes, hn::Set(d, 0x80)), apart_, with_sign);
  }

 private:
  HWY_INLINE V8 row(std::size_t r, V8 low) const { return hn::TableLookupBytes(hn::LoadDup128(D8(), rows_[r]), low); }

  V8 sign_, apart_;
  const std::uint8_t* rows_[8];
};

#endif

/// Both bytes of every code by whole tables.
class ByTables {
 public:
  explicit ByTables(const DecodeConstants& c) : high_(c.high, c), second_(c.second, c) {}
  HWY_INLINE void operator()(V8 codes, V8& high, V8& second) const {
    high = high_(codes);
    second = second_(codes);
  }

 private:
  ByteTable high_, second_;
};

/// Both bytes of every code by sums; the rows with subnormals (0) and with specials (7) apart, and code 0x80 where it is
/// not the negative of code 0.
template <bool kApart>
class BySums {
 public:
  explicit BySums(const DecodeConstants& c)
      : row_high_(dup(c.row_high.data())), row_second_(dup(c.row_second.data())), column_high_(dup(c.column_high.data())),
        column_second_(dup(c.column_second.data())), c_(c) {}

  HWY_INLINE void operator()(V8 codes, V8& high, V8& second) const {
    const D8 d;
    const V8 column = hn::And(codes, hn::Set(d, 0x0f));
    const V8 row_bits = hn::And(codes, hn::Set(d, 0x70));
    const V8 row = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(D16(), row_bits)));
    const auto first = hn::Eq(row_bits, hn::Zero(d));
    const auto last = hn::Eq(row_bits, hn::Set(d, 0x70));
    const V8 sign = hn::And(codes, hn::Set(d, 0x80));
    high = hn::Add(hn::TableLookupBytes(row_high_, row), hn::TableLookupBytes(column_high_, column));
    high = hn::IfThenElse(first, hn::TableLookupBytes(dup(c_.high.data()), column), high);
    high = hn::IfThenElse(last, hn::TableLookupBytes(dup(c_.high.data() + 0x70), column), high);
    high = hn::Or(high, sign);
    second = hn::Add(hn::TableLookupBytes(row_second_, row), hn::TableLookupBytes(column_second_, column));
    second = hn::IfThenElse(first, hn::TableLookupBytes(dup(c_.second.data()), column), second);
    second = hn::IfThenElse(last, hn::TableLookupBytes(dup(c_.second.data() + 0x70), column), second);
    if constexpr (kApart) {
      const auto apart = hn::Eq(codes, hn::Set(d, 0x80));
      high = hn::IfThenElse(apart, hn::Set(d, c_.high[0x80]), high);
      second = hn::IfThenElse(apart, hn::Set(d, c_.second[0x80]), second);
    }
  }

 private:
  static V8 dup(const std::uint8_t* entries) { return hn::LoadDup128(D8(), entries); }

  V8 row_high_, row_second_, column_high_, column_second_;
  const DecodeConstants& c_;
};

/// Puts the groups of four codes where interleaving inside blocks will want them.
HWY_INLINE V8 spread(V8 codes) {
  constexpr std::size_t kBlocks = hn::MaxLanes(D8()) / 16;
  if constexpr (kBlocks == 1) {
    return codes;
  } else {
    HWY_ALIGN std::int32_t source[4 * kBlocks];
    for (std::size_t quad = 0; quad < 4 * kBlocks; ++quad) {
      source[quad] = static_cast<std::int32_t>(quad % 4 * kBlocks + quad / 4);
    }
    const D32 d;
    return hn::BitCast(D8(), hn::TableLookupLanes(hn::BitCast(d, codes), hn::SetTableIndices(d, source)));
  }
}

/// One vector of codes to four vectors of words.
template <class Lookup>
HWY_INLINE void decode_group(const Lookup& lookup, const std::uint8_t* in, std::uint8_t* out) {
  const D8 d8;
  const D16 d16;
  const std::size_t bytes = hn::Lanes(d8);
  const V8 codes = spread(hn::LoadU(d8, in));
  V8 h, s;
  lookup(codes, h, s);
  const auto pairs0 = hn::BitCast(d16, hn::InterleaveLower(d8, s, h));
  const auto pairs1 = hn::BitCast(d16, hn::InterleaveUpper(d8, s, h));
  const auto zero = hn::Zero(d16);
  hn::StoreU(hn::BitCast(d8, hn::InterleaveLower(d16, zero, pairs0)), d8, out);
  hn::StoreU(hn::BitCast(d8, hn::InterleaveUpper(d16, zero, pairs0)), d8, out + bytes);
  hn::StoreU(hn::BitCast(d8, hn::InterleaveLower(d16, zero, pairs1)), d8, out + 2 * bytes);
  hn::StoreU(hn::BitCast(d8, hn::InterleaveUpper(d16, zero, pairs1)), d8, out + 3 * bytes);
}

template <class Lookup>
HWY_NOINLINE std::size_t decode_by(const DecodeConstants& c, const std::uint8_t* in, std::size_t count, void* out) {
  const std::size_t group = hn::Lanes(D8());
  const Lookup lookup(c);
  auto* words = static_cast<std::uint8_t*>(out);
  if (count < group) {
    HWY_ALIGN std::uint8_t few[hn::MaxLanes(D8())] = {};
    HWY_ALIGN std::uint8_t decoded[4 * hn::MaxLanes(D8())];
    if (count != 0) std::memcpy(few, in, count);
    decode_group(lookup, few, decoded);
    if (count != 0) std::memcpy(words, decoded, 4 * count);
    return count;
  }
  // The first and the last group may overlap their neighbours: they rewrite the same words. In between, stores do not
  // cross cache lines (when words are aligned to their size).
  decode_group(lookup, in, words);
  const std::size_t ahead = reinterpret_cast<std::uintptr_t>(out) / 4 % (group / 4);
  for (std::size_t done = group / 4 - ahead; count - done >= group; done += group) {
    decode_group(lookup, in + done, words + 4 * done);
  }
  decode_group(lookup, in + (count - group), words + 4 * (count - group));
  return count;
}

std::size_t decode(const DecodeConstants& c, const std::uint8_t* in, std::size_t count, void* out) {
#if HWY_TARGET == HWY_AVX3_DL
  return decode_by<ByTables>(c, in, count, out);
#else
  const bool apart = c.high[0x80] != (c.high[0] | 0x80) || c.second[0x80] != c.second[0];
  if (c.summed) return apart ? decode_by<BySums<true>>(c, in, count, out) : decode_by<BySums<false>>(c, in, count, out);
  return c.mirrored || c.halved ? decode_by<ByTables>(c, in, count, out) : 0;
#endif
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace halfulp::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halfulp::detail {

HWY_EXPORT(decode);

std::size_t decode_to_f32(const DecodeConstants& constants, const std::uint8_t* in, std::size_t count, void* out) {
  return HWY_DYNAMIC_DISPATCH(decode)(constants, in, count, out);
}

}  // namespace halfulp::detail
#endif  // HWY_ONCE
