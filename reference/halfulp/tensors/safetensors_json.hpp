// The JSON of a safetensors header, read straight into entries: no document is built, so a hostile header
// costs no more memory than its own length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/tensors/safetensors.hpp"

namespace halfulp::tensors {

struct SafetensorsEntry {
  std::string name, dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  ///< data_offsets
  std::uint64_t at = 0;  ///< byte of the file at which the entry ends in the header, for messages
};

struct SafetensorsJson {
  std::vector<SafetensorsEntry> entries;  ///< as they stand
  Metadata metadata;
};

/// `offset` is where `text` starts in `file`, for messages. Throws InputError.
SafetensorsJson parse_safetensors_json(std::string_view text, const std::string& file,
                                       std::uint64_t offset);

}  // namespace halfulp::tensors
