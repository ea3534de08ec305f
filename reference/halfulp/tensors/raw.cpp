#include "halfulp/tensors/raw.hpp"

#include <algorithm>
#include <utility>

namespace halfulp::tensors {

TensorSource open_raw(Bytes bytes, std::string_view dtype, std::span<const std::uint64_t> shape) {
  ElementType type = element_type(dtype);
  const auto count = element_count(shape);
  const auto word = static_cast<std::uint64_t>(type.word_bytes);
  if (!count || *count > (~0ull >> 1) / word) {
    throw InputError("shape " + shape_text(shape), "it has more than 2^63 - 1 bytes",
                     "give the shape of the file");
  }
  if (*count * word != bytes->size()) {
    const std::uint64_t need = *count * word;
    const bool is_short = bytes->size() < need;
    throw malformed(bytes->name(), std::min(need, bytes->size()),
                    (is_short ? "the file ends here, and " : std::to_string(bytes->size() - need) + " bytes too many: ") +
                        shape_text(shape) + " elements of " + type.name + " take " + std::to_string(need) + " bytes",
                    "give the type and shape of the file");
  }
  Tensor tensor{.name = "",
                .dtype = type.name,
                .shape = {shape.begin(), shape.end()},
                .offset = 0,
                .length = bytes->size()};
  return TensorSource(std::move(tensor), std::move(type), std::move(bytes));
}

}  // namespace halfulp::tensors
