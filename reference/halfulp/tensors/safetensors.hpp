// The safetensors format (huggingface/safetensors 0.8): reading the header strictly, tensors in pieces, and
// writing.
//
// A file is: header length (8 bytes, little-endian), header (JSON), data. Refused, as the reference
// implementation does: headers over 100 MB, offsets that overlap or leave gaps or do not end with the file,
// lengths that dtype and shape do not give. Refused beside: a name twice, unknown keys, numbers that are no
// unsigned integers. A tensor whose dtype has no halfulp element type is listed and cannot be opened. Data
// offsets need not be aligned, as older files are not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/tensors/bytes.hpp"
#include "halfulp/tensors/output_file.hpp"
#include "halfulp/tensors/tensor.hpp"

namespace halfulp::tensors {

inline constexpr std::uint64_t kLargestSafetensorsHeader = 100'000'000;

using Metadata = std::map<std::string, std::string>;

struct SafetensorsHeader {
  std::vector<Tensor> tensors;  ///< by offset; `dtype` is what the file says (F32, F8_E4M3 …)
  Metadata metadata;
  std::uint64_t data_offset = 0;
};

/// Reads and checks the header. Throws InputError naming the byte.
SafetensorsHeader read_safetensors_header(const ByteSource& bytes);

class SafetensorsFile {
 public:
  explicit SafetensorsFile(Bytes bytes);
  const std::vector<Tensor>& tensors() const { return header_.tensors; }
  const Metadata& metadata() const { return header_.metadata; }
  /// Opens a tensor; `dtype` re-reads its words (U8 that holds e3m2 codes). Throws InputError.
  TensorSource open(std::string_view name, std::optional<std::string_view> dtype = {}) const;

 private:
  Bytes bytes_;
  SafetensorsHeader header_;
};

/// The dtype that a safetensors file gives elements of that type: its own name where the format has one
/// with whole bytes, else unsigned words (one code per byte).
std::string safetensors_dtype(const ElementType& type);

/// A tensor to be written: shape and dtype as in the header.
struct TensorPlan {
  std::string name;
  std::string dtype;  ///< of safetensors
  std::vector<std::uint64_t> shape;
};

/// Header and place of each tensor, as the reference implementation lays them out: larger alignment first
/// (the order of its Dtype enumeration), then by name; the header padded with blanks to 8 bytes. Metadata
/// are sorted by key.
struct SafetensorsLayout {
  std::string bytes;            ///< length and header
  std::vector<Tensor> tensors;  ///< in file order, offsets from the start of the file
  std::uint64_t file_size = 0;
};

/// Throws InputError for a name twice, an unknown dtype or a size that overflows.
SafetensorsLayout lay_out_safetensors(std::span<const TensorPlan> plans, const Metadata& metadata = {});

/// Writes tensors in pieces and in any order; the file appears with commit().
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::string& path, std::span<const TensorPlan> plans,
                    const Metadata& metadata = {});
  /// Appends to a tensor: little-endian words, or packed bytes of F4 and F6. Throws InputError.
  void write(std::string_view name, std::span<const std::byte> bytes);
  /// Writes the header again with other metadata, which must take as many bytes. Throws InputError.
  void replace_metadata(const Metadata& metadata);
  /// Throws InputError when a tensor is not complete.
  void commit();

 private:
  OutputFile file_;
  std::vector<TensorPlan> plans_;
  SafetensorsLayout layout_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<std::uint64_t> written_;
};

}  // namespace halfulp::tensors
