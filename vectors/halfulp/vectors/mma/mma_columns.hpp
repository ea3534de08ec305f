// Columns of a pack of an accumulation model: a, b, c, scale_a and scale_b in, d out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "halfulp/vectors/kernels/plugged.hpp"
#include "halfulp/vectors/mma/mma_row.hpp"

namespace halfulp::vectors {

/// What a kernel gets, in the order of the pack.
std::vector<KernelColumn> mma_inputs(const MmaPlan& plan);
/// What it gives: d.
KernelColumn mma_output(const MmaPlan& plan);

/// The bytes of one row of every input column.
void put_inputs(const MmaPlan& plan, const MmaRow& row, std::span<const std::span<std::byte>> columns);
/// Throws InputError for words that do not fit their format.
MmaRow get_inputs(const MmaPlan& plan, std::span<const std::span<const std::byte>> columns);

/// One little-endian word of the output format.
void put_word(std::uint32_t word, std::span<std::byte> bytes);
std::uint32_t get_word(std::span<const std::byte> bytes);

/// Row `row` of `rows` in every column.
template <class Byte>
std::vector<std::span<Byte>> cells_of(const std::vector<std::span<Byte>>& columns, std::uint64_t row,
                                      std::uint64_t rows) {
  std::vector<std::span<Byte>> cells;
  for (const std::span<Byte> column : columns) {
    const std::size_t bytes = column.size() / static_cast<std::size_t>(rows);
    cells.push_back(column.subspan(static_cast<std::size_t>(row) * bytes, bytes));
  }
  return cells;
}

}  // namespace halfulp::vectors
