// Reads a tensor with one of its axes as columns.
#include <algorithm>
#include <bit>

#include "halfulp/error.hpp"
#include "halfulp/recipes/operations.hpp"
#include "quantize_stream.hpp"

namespace halfulp::tool {
namespace {

FormatSpec spec_of_source(const tensors::TensorSource& source) {
  if (source.type().spec) return *source.type().spec;
  throw InputError("tensor of " + source.type().name, "its elements are of no format", "name one with --from");
}

}  // namespace

TensorRows::TensorRows(tensors::TensorSource source, int axis)
    : source_(std::move(source)), spec_(spec_of_source(source_)), shape_(source_.tensor().shape) {
  if (shape_.empty()) shape_ = {1};
  const auto rank = static_cast<int>(shape_.size());
  const int at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) {
    throw InputError("axis " + std::to_string(axis), "the tensor has " + std::to_string(rank) + (rank == 1 ? " axis" : " axes"),
                     "choose from 0 to " + std::to_string(rank - 1) + ", or -1 for the last");
  }
  axis_ = static_cast<std::size_t>(at);
  for (int i = at + 1; i < rank; ++i) inner_ *= static_cast<std::int64_t>(shape_[static_cast<std::size_t>(i)]);
  columns_ = static_cast<std::int64_t>(shape_[static_cast<std::size_t>(at)]);
  rows_ = columns_ == 0 ? 0 : static_cast<std::int64_t>(source_.size()) / columns_;
  std::rotate(shape_.begin() + at, shape_.begin() + at + 1, shape_.end());
}

void TensorRows::read_run(std::int64_t first, std::int64_t count, double* out, std::int64_t stride) const {
  constexpr std::int64_t kPiece = 1 << 13;
  std::uint64_t words[kPiece];
  std::uint32_t floats[kPiece];
  const bool is_f32 = spec_ == spec_of("f32");
  for (std::int64_t done = 0; done < count; done += kPiece) {
    const auto n = static_cast<std::size_t>(std::min(kPiece, count - done));
    const auto from = static_cast<std::uint64_t>(first + done);
    if (is_f32) source_.read(from, std::span(floats, n));
    else source_.read(from, std::span(words, n));
    for (std::size_t i = 0; i < n; ++i, out += stride)
      *out = is_f32 ? static_cast<double>(std::bit_cast<float>(floats[i])) : recipes::decode(spec_, words[i]);
  }
}

std::vector<double> TensorRows::read(std::int64_t first, std::int64_t count) const {
  std::vector<double> values(static_cast<std::size_t>(count));
  if (inner_ == 1) {
    read_run(first, count, values.data(), 1);
    return values;
  }
  const std::int64_t end = (first + count) / columns_;
  for (std::int64_t row = first / columns_; row < end;) {  // rows of one outer index lie side by side
    const std::int64_t outer = row / inner_, inside = row % inner_, together = std::min(inner_ - inside, end - row);
    double* out = values.data() + row * columns_ - first;
    for (std::int64_t k = 0; k < columns_; ++k) read_run((outer * columns_ + k) * inner_ + inside, together, out + k, columns_);
    row += together;
  }
  return values;
}

}  // namespace halfulp::tool
