// Runs of whole units; see row_packer.hpp.
#include "row_packer.hpp"

#include <algorithm>

namespace halfulp::tool {

RowPacker::RowPacker(Packing packing, int width, std::uint64_t columns)
    : packing_(packing), width_(width), columns_(columns), left_(columns) {
  pack<std::uint64_t>(packing, width, {}, {});  // throws
}

void RowPacker::append(std::span<const std::uint64_t> codes, std::vector<std::byte>& bytes) {
  const std::uint64_t unit = packing_unit(packing_, width_).codes;
  while (!codes.empty()) {
    const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(codes.size(), left_));
    waiting_.insert(waiting_.end(), codes.begin(), codes.begin() + static_cast<std::ptrdiff_t>(taken));
    codes = codes.subspan(taken);
    left_ -= taken;
    const std::size_t ready = static_cast<std::size_t>(left_ == 0 ? waiting_.size() : waiting_.size() / unit * unit);
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(packed_bytes(packing_, width_, ready)));
    pack<std::uint64_t>(packing_, width_, std::span(waiting_).first(ready), packed);
    const auto all = std::as_bytes(std::span(packed));
    bytes.insert(bytes.end(), all.begin(), all.end());
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(ready));
    if (left_ == 0) left_ = columns_;
  }
}

std::vector<std::uint64_t> unpacked_rows(Packing packing, int width, std::uint64_t columns, std::span<const std::uint8_t> bytes) {
  const auto row_bytes = static_cast<std::size_t>(packed_bytes(packing, width, columns));
  if (row_bytes == 0) return {};
  const std::size_t rows = bytes.size() / row_bytes;
  std::vector<std::uint64_t> codes(rows * static_cast<std::size_t>(columns));
  for (std::size_t row = 0; row < rows; ++row) {
    unpack<std::uint64_t>(packing, width, bytes.subspan(row * row_bytes, row_bytes),
                          std::span(codes).subspan(row * static_cast<std::size_t>(columns), static_cast<std::size_t>(columns)));
  }
  return codes;
}

}  // namespace halfulp::tool
