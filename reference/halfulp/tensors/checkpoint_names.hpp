// Names that producers give the parts of a quantized weight in checkpoints, and what each part does to the
// values.
//
// The last part of a tensor's name (after the last dot) says what it is; what stands before is the layer. A
// name alone can mislead - weight_scale_inv multiplies, weight_global_scale divides - so the direction is a
// field of the table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/tensors/tensor.hpp"

namespace halfulp::tensors {

enum class PartRole : std::uint8_t {
  weight,         ///< element codes, one per word or packed in bytes
  packed_weight,  ///< element codes packed in int32 words or in bytes
  weight_shape,   ///< the shape before packing
  block_scale,    ///< per tensor, channel, group or block: the shape tells
  tensor_scale,   ///< second level, one for the tensor
  zero_point,
  group_index,         ///< which group each input channel belongs to
  input_scale,         ///< static scale of the activations
  input_tensor_scale,  ///< second level of the activations' scales
  input_zero_point,
  input_smoothing,  ///< the activations are multiplied by it before quantization
  output_scale,
  query_scale,
  key_scale,
  value_scale,
  probability_scale,
  cache_scale,  ///< one for both keys and values
};

/// How a part makes values: multiplier: value = code * part; divisor: value = code / part.
enum class Direction : std::uint8_t { none, multiplier, divisor };

struct CheckpointName {
  std::string_view suffix;
  PartRole role;
  Direction direction;
  std::string_view producer;  ///< empty: several
  std::string_view fact = {};
};

inline constexpr auto kCheckpointNames = std::to_array<CheckpointName>({
    {"weight", PartRole::weight, Direction::none, ""},
    {"weight_packed", PartRole::packed_weight, Direction::none, "compressed-tensors"},
    {"weight_shape", PartRole::weight_shape, Direction::none, "compressed-tensors"},
    {"weight_scale", PartRole::block_scale, Direction::multiplier, "",
     "compressed-tensors, ModelOpt, vLLM"},
    {"weight_scale_inv", PartRole::block_scale, Direction::multiplier, "DeepSeek",
     "a multiplier in spite of its name"},
    {"weight_global_scale", PartRole::tensor_scale, Direction::divisor, "compressed-tensors", "2688/A"},
    {"weight_scale_2", PartRole::tensor_scale, Direction::multiplier, "ModelOpt", "A/2688"},
    {"per_tensor_scale", PartRole::tensor_scale, Direction::multiplier, "torchao", "A/2688"},
    {"weight_zero_point", PartRole::zero_point, Direction::none, "compressed-tensors"},
    {"weight_g_idx", PartRole::group_index, Direction::none, "compressed-tensors"},
    {"input_scale", PartRole::input_scale, Direction::multiplier, "", "compressed-tensors, ModelOpt, vLLM"},
    {"input_global_scale", PartRole::input_tensor_scale, Direction::divisor, "compressed-tensors",
     "2688/A"},
    {"input_zero_point", PartRole::input_zero_point, Direction::none, "compressed-tensors"},
    {"prequant_scaling_factor", PartRole::input_smoothing, Direction::multiplier, "ModelOpt",
     "applied to the activations"},
    {"output_scale", PartRole::output_scale, Direction::multiplier, "compressed-tensors"},
    {"q_scale", PartRole::query_scale, Direction::multiplier, "", "-1.0 means absent"},
    {"k_scale", PartRole::key_scale, Direction::multiplier, "", "-1.0 means absent"},
    {"v_scale", PartRole::value_scale, Direction::multiplier, "", "-1.0 means absent"},
    {"prob_scale", PartRole::probability_scale, Direction::multiplier, "vLLM"},
    {"kv_scale", PartRole::cache_scale, Direction::multiplier, "vLLM", "serves keys and values"},
    {"kv_cache_scaling_factor", PartRole::cache_scale, Direction::multiplier, "ModelOpt"},
    {"kv_scale_orig_quant", PartRole::cache_scale, Direction::divisor, "TensorRT-LLM", "1/s"},
    {"kv_scale_quant_orig", PartRole::cache_scale, Direction::multiplier, "TensorRT-LLM", "s"},
    {"rowwise_data", PartRole::weight, Direction::none, "Transformer Engine"},
    {"rowwise_scale_inv", PartRole::block_scale, Direction::multiplier, "Transformer Engine"},
    {"columnwise_data", PartRole::weight, Direction::none, "Transformer Engine",
     "quantized from the original, not transposed"},
    {"columnwise_scale_inv", PartRole::block_scale, Direction::multiplier, "Transformer Engine"},
});

/// The row of the last part of a tensor's name, or nullptr.
const CheckpointName* checkpoint_name(std::string_view tensor_name);

/// The parts of one layer: all tensors with the same name before the last dot whose last part is in the
/// table.
struct LayerParts {
  struct Part {
    const CheckpointName* name;
    std::size_t tensor;  ///< index in the list that was given
  };
  std::string layer;        ///< `model.layers.0.mlp.up_proj`
  std::vector<Part> parts;  ///< in the order of the table

  /// The first part with that role, or nullptr.
  const Part* find(PartRole role) const;
  /// A weight with a scale.
  bool is_quantized_weight() const;
  /// Whose names these are; empty when several producers use them, or names of two producers are mixed.
  std::string_view producer() const;
};

/// All layers that have parts, in order of name; attention scales outside a weight's layer are layers of
/// their own.
std::vector<LayerParts> group_checkpoint(std::span<const Tensor> tensors);

/// The parts that belong to one weight, named as a layer or as any of its tensors. Throws InputError with
/// the nearest layers when it has no parts, or when it is no quantized weight.
LayerParts find_quantized_weight(std::span<const Tensor> tensors, std::string_view name);

}  // namespace halfulp::tensors
