// ElementType: what one element of a tensor file is - a halfulp format or a plain integer - and its names
// in file formats.
//
// A row is one type; the rows stand in the order of the Dtype enumeration of safetensors 0.8 ("in
// increasing alignment order"), which its writer sorts tensors by. npy names are those of numpy 2 and
// ml_dtypes 0.6 without the byte order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "halfulp/formats.hpp"
#include "halfulp/packing.hpp"

namespace halfulp::tensors {

/// One element as a word of word_bytes bytes: `width` bits of code above `shift` zero bits.
struct ElementType {
  std::string name;  ///< canonical format name; int16, int32, int64, uint16, uint32, uint64; bool
  std::optional<FormatSpec>
      spec;  ///< absent for bool, int64, uint64, which are words and no halfulp formats
  int width = 8;
  int shift = 0;
  bool sign_copies =
      false;  ///< bits above the width may repeat the sign (a narrow integer in a wider word)
  int word_bytes = 1;
};

struct FileType {
  std::string_view name;                ///< of the ElementType
  std::string_view npy;                 ///< empty: numpy has none
  std::string_view safetensors;         ///< empty: safetensors has none
  int bits;                             ///< of an element in a safetensors file
  std::optional<Packing> packing = {};  ///< safetensors: several elements in a byte
};

/// F4 is packed as torch.float4_e2m1fn_x2 is; for F6 safetensors states 6 bits and no order: dense as
/// DLPack packs.
inline constexpr auto kFileTypes = std::to_array<FileType>({
    {"bool", "b1", "BOOL", 8},
    {"e2m1", "V1", "F4", 4, Packing::low_first},
    {"e2m3", "V1", "F6_E2M3", 6, Packing::dense},
    {"e3m2", "V1", "F6_E3M2", 6, Packing::dense},
    {"uint8", "u1", "U8", 8},
    {"int8", "i1", "I8", 8},
    {"e5m2", "f1", "F8_E5M2", 8},
    {"e4m3", "V1", "F8_E4M3", 8},
    {"e8m0", "V1", "F8_E8M0", 8},
    {"e4m3fnuz", "V1", "F8_E4M3FNUZ", 8},
    {"e5m2fnuz", "V1", "F8_E5M2FNUZ", 8},
    {"int16", "i2", "I16", 16},
    {"uint16", "u2", "U16", 16},
    {"f16", "f2", "F16", 16},
    {"bf16", "V2", "BF16", 16},
    {"int32", "i4", "I32", 32},
    {"uint32", "u4", "U32", 32},
    {"f32", "f4", "F32", 32},
    {"f64", "f8", "F64", 64},
    {"int64", "i8", "I64", 64},
    {"uint64", "u8", "U64", 64},
});

/// The row with that element name, or nullptr.
constexpr const FileType* file_type(std::string_view element) {
  for (const FileType& row : kFileTypes) {
    if (row.name == element) return &row;
  }
  return nullptr;
}

/// The element type called `name`: a halfulp format name or alias, a plain integer, bool. Throws InputError
/// with the nearest names.
ElementType element_type(std::string_view name);

/// The type of unsigned words of that many bytes (1, 2, 4, 8).
ElementType word_type(int bytes);

}  // namespace halfulp::tensors
