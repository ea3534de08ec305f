// The vector kernels of the batch engine, behind run-time dispatch. Private to the batch engine.
//
// The kernels hold no decision of their own: every constant is read off halfulp::cast (batch_constants.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halfulp::detail {

/// Constants of the f32 -> at most 8 bits kernel. An "index" is a magnitude on the target's grid, followed by the
/// specials: numbers 0..top, then Inf (only where `apart`), then NaN. `top` is the largest finite under saturation, or the
/// grid point past it (whose code is then Inf, NaN or whatever the policy says).
struct EncodeConstants {
  std::uint32_t clamp = 0;         ///< f32 bits of the grid point `top`: larger magnitudes are set to it
  std::uint32_t lowest_field = 0;  ///< f32 bits of the smallest normal number: exponent field only
  std::uint32_t lift = 0;          ///< (23 - fraction_bits) << 23
  int shift = 0;                   ///< 23 - fraction_bits
  std::int16_t rebias = 0;         ///< (lowest_field + lift) >> shift
  std::uint8_t sign_bit = 0;       ///< 0 for unsigned targets
  std::uint8_t nan_index = 0;
  std::array<std::uint8_t, 2> nan_code = {};  ///< for positive and negative NaN
  bool nan_refused = false;

  bool general = false;  ///< the lean kernel does not serve; what follows is needed
  std::uint8_t top_index = 0;
  std::array<std::uint8_t, 2> zero_code = {}, top_code = {}, infinity_code = {};
  bool override_negative = false;  ///< unsigned targets: negative numbers (not -0) give negative_code, or are refused
  bool negative_refused = false;
  std::uint8_t negative_code = 0;
};

/// Writes codes of in[0..count). Returns count, or the start of a stretch of at most kEncodeStretch elements that has a
/// refused one; everything before it is written. The caller holds a DefaultFloatModes.
inline constexpr std::size_t kEncodeStretch = 4096;
std::size_t encode_f32(const EncodeConstants& constants, const void* in, std::size_t count, std::uint8_t* out,
                       bool streaming);

/// Constants of the code -> f32 kernel: all words have 16 low zero bits, so two byte tables hold them.
struct DecodeConstants {
  alignas(64) std::array<std::uint8_t, 256> high = {};    ///< bits 31..24 of the word of every code
  alignas(64) std::array<std::uint8_t, 256> second = {};  ///< bits 23..16
  bool mirrored = false;  ///< codes 0x81..0xff are codes 0x01..0x7f with the sign bit; 0x80 stands alone
  bool halved = false;    ///< codes 0x80..0xff repeat codes 0x00..0x7f (formats of at most 7 bits)

  /// Codes 0x10..0x6f are sums of two look-ups of 16 entries, byte by byte: row_*[code >> 4] + column_*[code & 15].
  bool summed = false;
  alignas(16) std::array<std::uint8_t, 16> row_high = {}, row_second = {}, column_high = {}, column_second = {};
};

/// Writes f32 words of in[0..count) and returns how many: count, or 0 where the level has no kernel for the constants.
std::size_t decode_to_f32(const DecodeConstants& constants, const std::uint8_t* in, std::size_t count, void* out);

}  // namespace halfulp::detail
