// RowKernel: a kernel under test as a function of columns: rows of inputs in, rows of answers out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>
#include "halfulp/vectors/pack/manifest.hpp"
namespace halfulp::vectors {
/// One stretch of rows. Columns lie in the order of the pack's input and expected columns; words little-endian.
struct RowJob {
  std::uint64_t first = 0;  ///< index of the first row in the pack
  std::uint64_t rows = 0;
  std::vector<std::span<const std::byte>> inputs;
  std::vector<std::span<std::byte>> answers;
};
/// Fills the answers. Called from one thread at a time, rows in order. Throws KernelFailure.
using RowKernel = std::function<void(const RowJob&)>;
}  // namespace halfulp::vectors
