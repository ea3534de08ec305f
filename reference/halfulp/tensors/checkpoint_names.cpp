#include "halfulp/tensors/checkpoint_names.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "halfulp/tensors/npz.hpp"

namespace halfulp::tensors {
namespace {

/// Layer and last part of a name.
std::pair<std::string_view, std::string_view> split(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

const CheckpointName* checkpoint_name(std::string_view tensor_name) {
  const std::string_view suffix = split(tensor_name).second;
  for (const CheckpointName& row : kCheckpointNames) {
    if (row.suffix == suffix) return &row;
  }
  return nullptr;
}

const LayerParts::Part* LayerParts::find(PartRole role) const {
  for (const Part& part : parts) {
    if (part.name->role == role) return &part;
  }
  return nullptr;
}

bool LayerParts::is_quantized_weight() const {
  return (find(PartRole::weight) || find(PartRole::packed_weight)) &&
         (find(PartRole::block_scale) || find(PartRole::tensor_scale));
}

std::string_view LayerParts::producer() const {
  std::string_view found;
  for (const Part& part : parts) {
    if (part.name->producer.empty() || part.name->producer == found) continue;
    if (!found.empty()) return {};
    found = part.name->producer;
  }
  return found;
}

std::vector<LayerParts> group_checkpoint(std::span<const Tensor> tensors) {
  std::map<std::string_view, LayerParts> layers;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (const CheckpointName* row = checkpoint_name(tensors[i].name)) {
      layers[split(tensors[i].name).first].parts.push_back({row, i});
    }
  }
  std::vector<LayerParts> out;
  for (auto& [layer, parts] : layers) {
    parts.layer = layer;
    std::sort(parts.parts.begin(), parts.parts.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    out.push_back(std::move(parts));
  }
  return out;
}

LayerParts find_quantized_weight(std::span<const Tensor> tensors, std::string_view name) {
  std::vector<std::string> known;
  const std::string_view layer = checkpoint_name(name) != nullptr ? split(name).first : name;
  for (LayerParts& parts : group_checkpoint(tensors)) {
    if (parts.is_quantized_weight()) {
      if (parts.layer == layer) return std::move(parts);
      known.push_back(parts.layer);
    } else if (parts.layer == layer) {
      throw InputError("layer '" + std::string(layer) + "'", "it has no weight with a scale",
                       "name a quantized weight");
    }
  }
  throw no_such_member("the checkpoint", layer, known);
}

}  // namespace halfulp::tensors
