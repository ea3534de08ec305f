// Tensor: what a file says about a tensor. TensorSource: its elements as words, in row-major order, chunk
// by chunk.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halfulp/packing.hpp"
#include "halfulp/tensors/bytes.hpp"
#include "halfulp/tensors/element_type.hpp"

namespace halfulp::tensors {

struct Tensor {
  std::string name;  ///< in its file; empty where the file holds one tensor
  std::string
      dtype;  ///< name of its ElementType; for a type that halfulp cannot read, what the file calls it
  std::vector<std::uint64_t> shape;
  std::uint64_t offset = 0;  ///< of its first byte in its file (npz: in its member)
  std::uint64_t length = 0;  ///< in bytes

  /// Elements; no overflow for the tensors of a reader.
  std::uint64_t count() const {
    std::uint64_t n = 1;
    for (const std::uint64_t d : shape) n *= d;
    return n;
  }
};

/// The product of a shape. Empty when it exceeds 2^63 - 1 without a dimension that is 0.
std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> shape);

/// `2 x 3`, or `scalar`.
std::string shape_text(std::span<const std::uint64_t> shape);

/// How the elements lie in the bytes.
struct ElementOrder {
  bool big_endian = false;
  bool column_major = false;       ///< Fortran order: the first index runs fastest
  std::optional<Packing> packing;  ///< low_first or dense: several codes in a byte
};

class TensorSource {
 public:
  /// Requires tensor.offset + tensor.length <= bytes->size(), and a length that shape and type give.
  TensorSource(Tensor tensor, ElementType type, Bytes bytes, ElementOrder order = {});

  const Tensor& tensor() const { return tensor_; }
  const ElementType& type() const { return type_; }
  std::uint64_t size() const { return count_; }

  /// The same bytes as elements of another type with words of the same size (a uint8 tensor that holds e4m3
  /// codes, an npy void type). Throws InputError when the sizes differ.
  TensorSource as(std::string_view type_name) const;

  /// Elements `first` … in row-major order as native words of type().word_bytes bytes each: the container
  /// words of the format, its integers in two's complement. A code that was stored sign-extended comes
  /// masked to its width. Memory use is that of `words` and at most 128 KiB beside. Throws InputError for a
  /// range outside the tensor, for unreadable bytes, and, naming the byte, for a word with bits beyond its
  /// format.
  void read_words(std::uint64_t first, std::span<std::byte> words) const;

  /// The same in words of any unsigned type that is wide enough; narrower elements are zero-extended.
  template <std::unsigned_integral Word>
  void read(std::uint64_t first, std::span<Word> words) const {
    if (sizeof(Word) == static_cast<std::size_t>(type_.word_bytes)) {
      read_words(first, std::as_writable_bytes(words));
    } else {
      read_widened(first, words.size(), sizeof(Word), std::as_writable_bytes(words));
    }
  }

 private:
  void read_stored(std::uint64_t first, std::span<std::byte> words) const;
  void read_packed(std::uint64_t first, std::span<std::byte> words) const;
  void gather(std::uint64_t first, std::span<std::byte> words) const;
  void read_widened(std::uint64_t first, std::uint64_t count, std::size_t word,
                    std::span<std::byte> out) const;
  void check_words(std::uint64_t first, std::span<std::byte> words) const;
  std::uint64_t stored_index(std::uint64_t row_major) const;

  Tensor tensor_;
  ElementType type_;
  Bytes bytes_;
  ElementOrder order_;
  std::uint64_t count_;
};

}  // namespace halfulp::tensors
