// Any tensor file by the name that a user writes: `x.npy`, `x.npz:name`, `x.safetensors:name`, `x.bin` with
// type and shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/tensors/tensor.hpp"

namespace halfulp::tensors {

struct OpenOptions {
  std::optional<std::string> dtype;  ///< needed by .bin and void types; re-reads words elsewhere
  std::optional<std::vector<std::uint64_t>>
      shape;  ///< needed by .bin; elsewhere it must be the shape of the file
};

/// The file and, after its extension, the tensor in it: `a.npz:w` gives {"a.npz", "w"}. The colon is looked
/// for behind the first `.npz` or `.safetensors`, so that names may have colons, and folders too.
struct TensorName {
  std::string path;
  std::optional<std::string> member;
};
TensorName parse_tensor_name(std::string_view text);

/// Opens a tensor. Without a member an archive must hold exactly one. Throws InputError.
TensorSource open_tensor(std::string_view text, const OpenOptions& options = {});

/// All tensors of a file (one for .npy). Not for .bin. Throws InputError.
std::vector<Tensor> list_tensors(const std::string& path);

/// `2x3`, `2,3` or `4096`; a scalar is `()`. Throws InputError.
std::vector<std::uint64_t> parse_shape(std::string_view text);

}  // namespace halfulp::tensors
