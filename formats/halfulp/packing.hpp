// Sub-byte packing: where in a byte string the bits of each code lie, both ways.
//
// Orders follow the producers named in kPackings; DLPack and the OCP MX formats do not fix one beyond
// "first element in the low bits". Layouts of block scales are in scale_layout.hpp.
//
// Units: a code is `width` bits (1..16); byte 0 is the first in memory; the bits of a byte count from the
// lowest. Codes are packed as one run: who packs rows of odd length separately calls once per row. Bits
// that no code fills are zero when packing and ignored when unpacking.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "halfulp/config.hpp"
#include "halfulp/error.hpp"

namespace halfulp {

enum class Packing : std::uint8_t {
  low_first,      ///< width 1, 2, 4, 8: the first code of a byte is in its low bits
  high_first,     ///< width 1, 2, 4, 8: the first code of a byte is in its high bits
  ggml_half,      ///< width 4: byte j of a block of 16 holds code j low and code j+16 high
  byte_low_bits,  ///< width 1..8: one code per byte, in the low bits
  dense,  ///< any width: code i starts at bit i*width of a little-endian bit string (4 FP6 codes in 3
          ///< bytes)
  int32_little,  ///< width 1, 2, 4, 8, 16: code j of a little-endian 32-bit word starts at its bit j*width
};

struct PackingName {
  std::string_view name;
  Packing packing;
  std::string_view used_by;
};

inline constexpr auto kPackings = std::to_array<PackingName>({
    {"low_first", Packing::low_first,
     "FP4 and INT4 of compressed-tensors, ModelOpt, Transformer Engine, torch float4_e2m1fn_x2; DLPack"},
    {"high_first", Packing::high_first, "some unpackers and kernels that read nibbles left to right"},
    {"ggml_half", Packing::ggml_half, "ggml blocks of 32 (q4_0, q4_1, mxfp4)"},
    {"byte_low_bits", Packing::byte_low_bits,
     "FP6 of torchao; unpacked columns and pipes of halfulp; ml_dtypes"},
    {"dense", Packing::dense, "bit strings: FP6 as 4 codes in 3 bytes; safetensors F6 types"},
    {"int32_little", Packing::int32_little,
     "compressed-tensors pack-quantized, GPTQ, KIVI; packed E8M0 scales"},
});

constexpr std::optional<Packing> find_packing(std::string_view name) {
  for (const PackingName& row : kPackings) {
    if (row.name == name) return row.packing;
  }
  return std::nullopt;
}

constexpr std::string_view packing_name(Packing packing) {
  for (const PackingName& row : kPackings) {
    if (row.packing == packing) return row.name;
  }
  return {};
}

/// Whether codes of that width can be packed in that order.
HALFULP_HD constexpr bool packs(Packing packing, int width) {
  if (width < 1 || width > 16) return false;
  switch (packing) {
    case Packing::low_first:
    case Packing::high_first: return 8 % width == 0;
    case Packing::ggml_half: return width == 4;
    case Packing::byte_low_bits: return width <= 8;
    case Packing::dense: return true;
    case Packing::int32_little: return 32 % width == 0;
  }
  return false;
}

/// The smallest run that fills whole bytes (or blocks, or words): streams are cut at multiples of it.
struct PackingUnit {
  std::uint32_t codes, bytes;
};

/// Requires packs(packing, width).
HALFULP_HD constexpr PackingUnit packing_unit(Packing packing, int width) {
  const auto w = static_cast<std::uint32_t>(width);
  switch (packing) {
    case Packing::low_first:
    case Packing::high_first: return {8 / w, 1};
    case Packing::ggml_half: return {32, 16};
    case Packing::byte_low_bits: return {1, 1};
    case Packing::dense: break;
    case Packing::int32_little: return {32 / w, 4};
  }
  const std::uint32_t twos = (w & (~w + 1)) > 8 ? 8 : w & (~w + 1);  // gcd(width, 8)
  return {8 / twos, w / twos};
}

/// Bytes of `count` codes; a partial last unit of ggml_half and int32_little is padded to the whole one, a
/// partial last byte to the whole byte. Requires packs(packing, width) and count <= 2^58 (no overflow).
HALFULP_HD constexpr std::uint64_t packed_bytes(Packing packing, int width, std::uint64_t count) {
  if (packing == Packing::dense) return (count * static_cast<std::uint64_t>(width) + 7) / 8;
  const PackingUnit unit = packing_unit(packing, width);
  return (count + unit.codes - 1) / unit.codes * unit.bytes;
}

/// The bit where code `index` starts: byte * 8 + bit in the byte. Its `width` bits go upwards from there.
/// Requires packs(packing, width) and index < 2^58.
HALFULP_HD constexpr std::uint64_t packed_bit(Packing packing, int width, std::uint64_t index) {
  const auto w = static_cast<std::uint64_t>(width);
  switch (packing) {
    case Packing::low_first:
    case Packing::dense:
    case Packing::int32_little: break;
    case Packing::high_first: return index / (8 / w) * 8 + (8 / w - 1 - index % (8 / w)) * w;
    case Packing::ggml_half: return (index / 32 * 16 + index % 16) * 8 + (index % 32 / 16) * 4;
    case Packing::byte_low_bits: return index * 8;
  }
  return index * w;
}

/// The code that starts at `bit` of `bytes`.
HALFULP_HD constexpr std::uint32_t read_bits(const std::uint8_t* bytes, std::uint64_t bit, int width) {
  const std::uint8_t* at = bytes + bit / 8;
  const int shift = static_cast<int>(bit % 8);
  std::uint32_t word = static_cast<std::uint32_t>(*at) >> shift;
  for (int have = 8 - shift; have < width; have += 8) word |= static_cast<std::uint32_t>(*++at) << have;
  return word & static_cast<std::uint32_t>(low_mask(width));
}

/// Ors `code` in at `bit`; the bits there are zero before.
HALFULP_HD constexpr void write_bits(std::uint8_t* bytes, std::uint64_t bit, int width,
                                     std::uint32_t code) {
  std::uint8_t* at = bytes + bit / 8;
  const int shift = static_cast<int>(bit % 8);
  *at = static_cast<std::uint8_t>(*at | code << shift);
  for (int have = 8 - shift; have < width; have += 8) {
    ++at;
    *at = static_cast<std::uint8_t>(*at | code >> have);
  }
}

namespace detail {

constexpr void check_packing(Packing packing, int width, std::size_t count, std::size_t bytes) {
  if (!packs(packing, width)) {
    throw InputError("packing '" + std::string(packing_name(packing)) + "'",
                     "it does not hold codes of " + std::to_string(width) + " bits",
                     "use 'byte_low_bits' (up to 8 bits) or 'dense' (up to 16)");
  }
  if (const std::uint64_t need = packed_bytes(packing, width, count); bytes != need) {
    throw InputError("packing '" + std::string(packing_name(packing)) + "'",
                     std::to_string(count) + " codes of " + std::to_string(width) + " bits take " +
                         std::to_string(need) + " bytes, not " + std::to_string(bytes),
                     "give a byte string of that length");
  }
}

}  // namespace detail

/// Packs codes. Throws InputError when the order does not hold that width, `bytes` is not packed_bytes()
/// long, or a code has bits beyond its width (a negative integer comes as its two's complement code).
template <class Code>
constexpr void pack(Packing packing, int width, std::span<const Code> codes,
                    std::span<std::uint8_t> bytes) {
  detail::check_packing(packing, width, codes.size(), bytes.size());
  for (std::uint8_t& byte : bytes) byte = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto code = static_cast<std::uint64_t>(codes[i]);
    if (code > low_mask(width)) {
      throw InputError("code " + std::to_string(code) + " at element " + std::to_string(i),
                       "it does not fit " + std::to_string(width) + " bits",
                       "give codes of the element format");
    }
    write_bits(bytes.data(), packed_bit(packing, width, i), width, static_cast<std::uint32_t>(code));
  }
}

/// Unpacks codes.size() codes. Throws InputError as pack() does; `Code` must hold `width` bits.
template <class Code>
constexpr void unpack(Packing packing, int width, std::span<const std::uint8_t> bytes,
                      std::span<Code> codes) {
  detail::check_packing(packing, width, codes.size(), bytes.size());
  if (width > static_cast<int>(sizeof(Code)) * 8) {
    throw InputError("unpacking", "codes of " + std::to_string(width) + " bits do not fit their words",
                     "use wider words");
  }
  for (std::size_t i = 0; i < codes.size(); ++i) {
    codes[i] = static_cast<Code>(read_bits(bytes.data(), packed_bit(packing, width, i), width));
  }
}

}  // namespace halfulp
