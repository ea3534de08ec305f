// Codes of a tensor's rows as packed bytes, piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halfulp/packing.hpp"

namespace halfulp::tool {

/// Every row begins with a new byte (or block, or word, as the packing fills them).
class RowPacker {
 public:
  /// Throws InputError when the packing does not hold codes of that width.
  RowPacker(Packing packing, int width, std::uint64_t columns);
  std::uint64_t row_bytes() const { return packed_bytes(packing_, width_, columns_); }
  /// Appends the bytes of further codes, which come in row-major order. What does not fill a unit waits for the next call; the end
  /// of a row fills its own.
  void append(std::span<const std::uint64_t> codes, std::vector<std::byte>& bytes);

 private:
  Packing packing_;
  int width_;
  std::uint64_t columns_;
  std::uint64_t left_;  ///< codes of the row that are still to come
  std::vector<std::uint64_t> waiting_;
};

/// The codes of whole rows. Throws InputError unless `bytes` are those of rows of so many codes.
std::vector<std::uint64_t> unpacked_rows(Packing packing, int width, std::uint64_t columns, std::span<const std::uint8_t> bytes);

}  // namespace halfulp::tool
