// Constants of the vector kernels, read off halfulp::cast: which answers it gives for zeros, Inf, NaN and overflow, and
// whether the kernel's one shape of arithmetic serves them. Twin: cast.hpp.
#include <algorithm>
#include <cstring>

#include "halfulp/cast.hpp"
#include "halfulp/detail/batch_plan.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::detail {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");
constexpr std::uint32_t kSign = 0x80000000u;
constexpr std::uint32_t kInfinity = 0x7f800000u;

/// f32 words of a positive sign whose answers, with those of the negated words, describe all special inputs.
constexpr std::uint32_t kQuietNan = 0x7fc00000u;
constexpr std::uint32_t kNans[] = {kQuietNan, 0x7f800001u, 0x7fffffffu, 0x7fa00000u, 0x7fd55555u};

using Pair = std::array<CastResult, 2>;

Pair both_signs(std::uint32_t word, const FormatSpec& to, const CastPolicy& policy) {
  return {cast(kF32, word, to, policy), cast(kF32, word | kSign, to, policy)};
}

std::array<std::uint8_t, 2> codes_of(const Pair& pair) {
  return {static_cast<std::uint8_t>(pair[0].code), static_cast<std::uint8_t>(pair[1].code)};
}

bool same_answers(const Pair& a, const Pair& b) {
  return a[0].code == b[0].code && a[1].code == b[1].code && a[0].refusal == b[0].refusal && a[1].refusal == b[1].refusal;
}

bool is_plain(const CastPolicy& p) {
  return p.rounding == Rounding::ties_to_even && p.overflow_test == OverflowTest::after_rounding &&
         p.nan_code != NanCode::payload && p.flush == Flush::none && p.low_binade == LowBinade::by_rounding;
}

/// Finds rows and columns whose sums are the entries 0x10..0x6f; false when there are none.
bool sum_up(const std::array<std::uint8_t, 256>& entries, std::array<std::uint8_t, 16>& rows, std::array<std::uint8_t, 16>& columns) {
  for (std::size_t i = 0; i < 8; ++i) rows[i] = entries[16 * i];
  for (std::size_t i = 0; i < 16; ++i) columns[i] = static_cast<std::uint8_t>(entries[16 + i] - entries[16]);
  for (std::size_t code = 0x10; code < 0x70; ++code) {
    if (entries[code] != static_cast<std::uint8_t>(rows[code / 16] + columns[code % 16])) return false;
  }
  return true;
}

}  // namespace

std::optional<EncodeConstants> encode_constants(const FormatSpec& from, const FormatSpec& to, const CastPolicy& policy) {
  if (from != kF32 || to.encoding != Encoding::floating || to.storage_bits() > 8 || to.storage_shift != 0) return {};
  if (to.subnormals != Subnormals::gradual || to.fraction_bits < 1 || to.fraction_bits > 6 || !is_plain(policy)) return {};
  EncodeConstants c;
  c.shift = 23 - to.fraction_bits;
  c.lift = static_cast<std::uint32_t>(c.shift) << 23;

  // Half the smallest number is a normal f32, and the addend of the highest binade is finite.
  const std::uint64_t largest = to.largest_magnitude();
  const int highest_field = static_cast<int>((largest + 1) >> to.fraction_bits) - to.bias + 127;
  if (to.min_exponent() - to.fraction_bits - 1 < -126 || std::max(highest_field, to.min_exponent() + 127) + c.shift > 254) return {};
  c.lowest_field = static_cast<std::uint32_t>(to.min_exponent() + 127) << 23;
  c.rebias = static_cast<std::int16_t>((c.lowest_field + c.lift) >> c.shift);
  if (((largest + 1) >> to.fraction_bits) == 0) return {};  // the point past the largest is not in a normal binade
  const std::uint32_t past_largest = static_cast<std::uint32_t>((largest + 1) << c.shift) +
                                     (static_cast<std::uint32_t>(127 - to.bias) << 23);

  const Pair zeros = both_signs(0, to, policy);
  const Pair beyond = both_signs(0x7f7fffff, to, policy);  // the largest finite f32 overflows every such format
  const Pair infinities = both_signs(kInfinity, to, policy);
  const Pair nans = both_signs(kQuietNan, to, policy);
  for (const std::uint32_t nan : kNans) {
    if (!same_answers(nans, both_signs(nan, to, policy))) return {};
  }
  if (zeros[0].refusal != Refusal::none || zeros[1].refusal != Refusal::none || beyond[0].refusal != Refusal::none) return {};
  if (infinities[0].refusal != Refusal::none || nans[0].refusal != nans[1].refusal) return {};

  const bool saturates = beyond[0].code == largest;
  c.top_index = static_cast<std::uint8_t>(saturates ? largest : largest + 1);
  c.clamp = saturates ? static_cast<std::uint32_t>(cast(to, largest, kF32, CastPolicy{}).code) : past_largest;
  c.sign_bit = static_cast<std::uint8_t>(to.sign_mask());
  c.zero_code = codes_of(zeros);
  c.nan_code = codes_of(nans);
  c.nan_refused = nans[0].refusal != Refusal::none;

  if (to.is_signed) {
    if (infinities[1].refusal != Refusal::none || beyond[1].refusal != Refusal::none) return {};
    c.top_code = codes_of(beyond);
    c.infinity_code = codes_of(infinities);
    const auto by_sign = [&](std::uint8_t index) {
      return std::array<std::uint8_t, 2>{index, static_cast<std::uint8_t>(index | c.sign_bit)};
    };
    c.general = c.zero_code != by_sign(0) || c.top_code != by_sign(c.top_index) || c.infinity_code != c.top_code;
  } else {
    // Under `abs` negatives answer as positives do; otherwise all of them, Inf included, give one code or refusal.
    c.general = true;
    c.override_negative = policy.negative != Negative::abs;
    c.negative_refused = beyond[1].refusal != Refusal::none;
    c.negative_code = static_cast<std::uint8_t>(beyond[1].code);
    const auto alike = [](const CastResult& r) { return std::array<std::uint8_t, 2>{codes_of({r, r})}; };
    c.top_code = alike(beyond[0]);
    c.infinity_code = alike(infinities[0]);
  }
  const int specials = c.general ? 2 : 1;
  if (c.top_index + specials > 255) return {};
  c.nan_index = static_cast<std::uint8_t>(c.top_index + specials);
  return c;
}

std::optional<DecodeConstants> decode_constants(const FormatSpec& from, const FormatSpec& to, const DirectTable& table) {
  if (from.storage_bytes() != 1 || to != kF32 || !table.refused.empty()) return {};
  DecodeTable words;
  std::memcpy(words.data(), table.codes.data(), sizeof(words));
  DecodeConstants c;
  c.halved = c.mirrored = true;
  for (std::size_t code = 0; code < 256; ++code) {
    if ((words[code] & 0xffff) != 0) return {};
    c.high[code] = static_cast<std::uint8_t>(words[code] >> 24);
    c.second[code] = static_cast<std::uint8_t>(words[code] >> 16);
    c.halved = c.halved && words[code] == words[code & 0x7f];
    c.mirrored = c.mirrored && (code <= 0x80 || words[code] == (words[code & 0x7f] | kSign));
  }
  c.summed = c.mirrored && sum_up(c.high, c.row_high, c.column_high) && sum_up(c.second, c.row_second, c.column_second);
  return c;
}

}  // namespace halfulp::detail
