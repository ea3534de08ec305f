// The layout of a safetensors file, equal to that of the reference implementation, and writing into it.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "halfulp/tensors/safetensors.hpp"

namespace halfulp::tensors {
namespace {

std::size_t rank_of(std::string_view dtype) {
  std::size_t i = 0;
  while (i < kFileTypes.size() && kFileTypes[i].safetensors != dtype) ++i;
  return i;
}

/// A JSON string as serde_json writes it.
std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw InputError("'" + text + "'", "it is not UTF-8", "name tensors and metadata in UTF-8");
  }
}

}  // namespace

std::string safetensors_dtype(const ElementType& type) {
  const FileType* row = file_type(type.name);
  if (row != nullptr && row->bits % 8 == 0) return std::string(row->safetensors);
  return "U" + std::to_string(type.word_bytes * 8);
}

SafetensorsLayout lay_out_safetensors(std::span<const TensorPlan> plans, const Metadata& metadata) {
  std::vector<std::pair<std::size_t, const TensorPlan*>> order;  // rank of the dtype
  for (const TensorPlan& plan : plans) {
    order.emplace_back(rank_of(plan.dtype), &plan);
    if (order.back().first == kFileTypes.size() || plan.name == "__metadata__") {
      throw InputError("tensor '" + plan.name + "' of dtype " + plan.dtype, "it cannot be written",
                       "use a dtype of safetensors, and a name other than __metadata__");
    }
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
  });
  SafetensorsLayout layout;
  std::string text = "{";
  if (!metadata.empty()) {
    text += "\"__metadata__\":{";
    for (const auto& [key, value] : metadata)
      text += (text.back() == '{' ? "" : ",") + quoted(key) + ":" + quoted(value);
    text += "}";
  }
  std::uint64_t offset = 0;
  std::vector<std::string_view> names;
  for (const auto& [rank, plan] : order) {
    const auto count = element_count(plan->shape);
    std::uint64_t bits = 0;
    if (!count ||
        __builtin_mul_overflow(*count, static_cast<std::uint64_t>(kFileTypes[rank].bits), &bits) ||
        bits % 8 != 0 || bits / 8 > (1ull << 62) - offset) {
      throw InputError("tensor '" + plan->name + "'",
                       "the shape " + shape_text(plan->shape) + " of " + plan->dtype +
                           " is too large or does not fill whole bytes",
                       "change the shape");
    }
    names.push_back(plan->name);
    text += (text.size() == 1 ? "" : ",") + quoted(plan->name) + ":{\"dtype\":\"" + plan->dtype +
            "\",\"shape\":[";
    for (std::size_t i = 0; i < plan->shape.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(plan->shape[i]);
    text +=
        "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(offset + bits / 8) + "]}";
    layout.tensors.push_back({plan->name, plan->dtype, plan->shape, offset, bits / 8});
    offset += bits / 8;
  }
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    throw InputError("tensor '" + std::string(*twice) + "'", "it is there twice",
                     "give each tensor a name of its own");
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLargestSafetensorsHeader)
    throw InputError("the header", "it exceeds 100 MB", "write several files");
  for (std::size_t i = 0; i < 8; ++i) layout.bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  layout.bytes += text;
  for (Tensor& tensor : layout.tensors) tensor.offset += layout.bytes.size();
  layout.file_size = layout.bytes.size() + offset;
  return layout;
}

SafetensorsWriter::SafetensorsWriter(const std::string& path, std::span<const TensorPlan> plans,
                                     const Metadata& metadata)
    : file_(path),
      plans_(plans.begin(), plans.end()),
      layout_(lay_out_safetensors(plans, metadata)),
      written_(plans.size()) {
  for (std::size_t i = 0; i < layout_.tensors.size(); ++i) index_[layout_.tensors[i].name] = i;
  file_.write(layout_.bytes);
}

void SafetensorsWriter::write(std::string_view name, std::span<const std::byte> bytes) {
  const auto found = index_.find(name);
  if (found == index_.end()) {
    throw InputError("tensor '" + std::string(name) + "'", "the file was not planned with it",
                     "plan it first");
  }
  const Tensor& tensor = layout_.tensors[found->second];
  std::uint64_t& done = written_[found->second];
  if (bytes.size() > tensor.length - done) {
    throw InputError("tensor '" + tensor.name + "'", "more bytes come than its shape has",
                     "write what the shape says");
  }
  file_.write_at(tensor.offset + done, bytes);
  done += bytes.size();
}

void SafetensorsWriter::replace_metadata(const Metadata& metadata) {
  SafetensorsLayout layout = lay_out_safetensors(plans_, metadata);
  if (layout.bytes.size() != layout_.bytes.size()) {
    throw InputError("file '" + file_.path() + "'", "the new metadata take another number of bytes",
                     "plan metadata of the size that they will have");
  }
  file_.write_at(0, std::as_bytes(std::span(layout.bytes)));
  layout_ = std::move(layout);
}

void SafetensorsWriter::commit() {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    if (written_[i] == layout_.tensors[i].length) continue;
    throw InputError("tensor '" + layout_.tensors[i].name + "'",
                     std::to_string(layout_.tensors[i].length - written_[i]) + " bytes of it are missing",
                     "write what the shape says");
  }
  file_.commit();
}

}  // namespace halfulp::tensors
