// Checks a safetensors header against its file, and opens tensors.
#include "halfulp/tensors/safetensors.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "halfulp/tensors/npz.hpp"
#include "halfulp/tensors/safetensors_json.hpp"

namespace halfulp::tensors {
namespace {

constexpr const char* kAgain = "save it again with safetensors";

const FileType* type_of(std::string_view dtype) {
  for (const FileType& row : kFileTypes) {
    if (row.safetensors == dtype) return &row;
  }
  return nullptr;
}

/// Bytes that shape and dtype give, or why there is no such number.
std::uint64_t byte_length(const SafetensorsEntry& entry, const FileType& type, const std::string& file) {
  const auto bad = [&](const std::string& why) {
    return malformed(file, entry.at, "tensor '" + entry.name + "': " + why, kAgain);
  };
  const auto count = element_count(entry.shape);
  std::uint64_t bits = 0;
  if (!count || __builtin_mul_overflow(*count, static_cast<std::uint64_t>(type.bits), &bits) ||
      bits >> 63 != 0) {
    throw bad("its shape " + shape_text(entry.shape) + " has more than 2^63 - 1 bits");
  }
  if (bits % 8 != 0) throw bad("its elements do not fill whole bytes");
  return bits / 8;
}

}  // namespace

SafetensorsHeader read_safetensors_header(const ByteSource& bytes) {
  const std::string& file = bytes.name();
  if (bytes.size() < 8) throw malformed(file, bytes.size(), "the file ends in its header length", kAgain);
  std::array<std::byte, 8> start{};
  bytes.read(0, start);
  const std::uint64_t length = little(start);
  if (length > kLargestSafetensorsHeader) {
    throw malformed(
        file, 0,
        "the header is said to have " + std::to_string(length) + " bytes, and 100000000 is the most",
        "give a .safetensors file");
  }
  if (length > bytes.size() - 8) {
    throw malformed(file, 0,
                    "the header is said to have " + std::to_string(length) + " bytes, and the file has " +
                        std::to_string(bytes.size() - 8) + " after byte 8",
                    kAgain);
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  bytes.read(8, std::as_writable_bytes(std::span(text)));
  if (text.empty() || text[0] != '{')
    throw malformed(file, 8, "the header does not start with '{'", "give a .safetensors file");
  SafetensorsJson parsed = parse_safetensors_json(text, file, 8);

  SafetensorsHeader header{
      .tensors = {}, .metadata = std::move(parsed.metadata), .data_offset = 8 + length};
  std::vector<SafetensorsEntry>& entries = parsed.entries;
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  const std::uint64_t data = bytes.size() - header.data_offset;
  std::uint64_t next = 0;
  for (SafetensorsEntry& entry : entries) {
    const auto bad = [&](const std::string& why) {
      return malformed(file, entry.at, "tensor '" + entry.name + "': " + why, kAgain);
    };
    const std::string range = std::to_string(entry.begin) + " to " + std::to_string(entry.end);
    if (entry.end < entry.begin) throw bad("data_offsets " + range + " run backwards");
    if (entry.begin < next)
      throw bad("data_offsets " + range + " overlap the tensor before, which ends at " +
                std::to_string(next));
    if (entry.begin > next)
      throw bad("data_offsets " + range + " leave a gap after " + std::to_string(next));
    if (entry.end > data)
      throw bad("data_offsets " + range + " lie beyond the " + std::to_string(data) + " bytes of data");
    if (const FileType* type = type_of(entry.dtype)) {
      if (const std::uint64_t need = byte_length(entry, *type, file); need != entry.end - entry.begin) {
        throw bad(entry.dtype + " of shape " + shape_text(entry.shape) + " takes " + std::to_string(need) +
                  " bytes, and data_offsets " + range + " are " + std::to_string(entry.end - entry.begin));
      }
    } else if (!element_count(entry.shape)) {
      throw bad("its shape " + shape_text(entry.shape) + " has more than 2^63 - 1 elements");
    }
    next = entry.end;
    header.tensors.push_back({std::move(entry.name), std::move(entry.dtype), std::move(entry.shape),
                              header.data_offset + entry.begin, entry.end - entry.begin});
  }
  if (next != data) {
    throw malformed(file, header.data_offset + next,
                    std::to_string(data - next) + " bytes belong to no tensor", kAgain);
  }
  return header;
}

SafetensorsFile::SafetensorsFile(Bytes bytes)
    : bytes_(std::move(bytes)), header_(read_safetensors_header(*bytes_)) {}

TensorSource SafetensorsFile::open(std::string_view name, std::optional<std::string_view> dtype) const {
  for (const Tensor& tensor : header_.tensors) {
    if (tensor.name != name) continue;
    const FileType* type = type_of(tensor.dtype);
    if (type == nullptr) {
      throw InputError("tensor '" + tensor.name + "' of '" + bytes_->name() + "'",
                       "its dtype " + tensor.dtype + " is not one that halfulp reads",
                       "convert it, for example to F32");
    }
    Tensor named = tensor;
    named.dtype = type->name;
    const TensorSource source(std::move(named), element_type(type->name), bytes_,
                              {.packing = type->packing});
    return dtype ? source.as(*dtype) : source;
  }
  std::vector<std::string> names;
  for (const Tensor& tensor : header_.tensors) names.push_back(tensor.name);
  throw no_such_member(bytes_->name(), name, names);
}

}  // namespace halfulp::tensors
