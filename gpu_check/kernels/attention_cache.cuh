// Where keys and values come from: one type per layout. key() and value() give the code of channel i of token `key` of a KV
// head; nothing else of a cache is read.
#pragma once

#include "gpu_check/attention/plan.hpp"
#include "gpu_check/kernels/attention_product.cuh"

namespace halfulp::gpu {

/// Faults that tests seed: what a wrong kernel would do.
enum Fault : int {
  kNoFault,
  kMissingBarrier,  ///< the next tile is loaded while others still multiply
  kWrongIndex,      ///< keys of a neighbour: token, slot or group
  kLibraryExp2,     ///< exp2f of the C library for the weights
  kDeadSlot,        ///< values behind the end and of keys that are not visible take part, with weight 0
  kSpecialScores,   ///< NaN and infinite scores are taken like numbers
  kThresholdMet,    ///< the maximum moves at the threshold, not above it
  kAnyZero,         ///< of equal maxima every lane keeps its own, not the first
  kEmptyPart,       ///< a part that saw nothing is joined like any other
  kStaleMaximum,    ///< the first maximum is kept
  kLastChannel,     ///< alpha leaves the last channel of O out
};

/// [KV head, token, channel].
template <class T>
struct ContiguousCache {
  using Code = T;
  In<T> k, v;

  template <int kFault>
  HALFULP_DEVICE T key(const AttentionPlan& p, unsigned head, unsigned key, unsigned i) const {
    if constexpr (kFault == kWrongIndex) key = key == 0 ? 0 : key - 1;
    return k[(static_cast<std::size_t>(head) * p.keys + key) * p.head_dim + i];
  }
  HALFULP_DEVICE T value(const AttentionPlan& p, unsigned head, unsigned key, unsigned i) const {
    return v[(static_cast<std::size_t>(head) * p.keys + key) * p.value_dim + i];
  }
};

/// [page, slot, KV head, channel]; pages[b] is the page of tokens b * page_size and on.
struct PagedCache {
  using Code = std::uint8_t;
  In<std::uint8_t> k, v;
  In<std::uint32_t> pages;

  HALFULP_DEVICE std::size_t slot(const AttentionPlan& p, unsigned head, unsigned key) const {
    return (static_cast<std::size_t>(pages[key / p.page_size]) * p.page_size + key % p.page_size) * p.kv_heads + head;
  }
  template <int kFault>
  HALFULP_DEVICE std::uint8_t key(const AttentionPlan& p, unsigned head, unsigned key, unsigned i) const {
    if constexpr (kFault == kWrongIndex) key = key / p.page_size * p.page_size;
    return k[slot(p, head, key) * p.head_dim + i];
  }
  HALFULP_DEVICE std::uint8_t value(const AttentionPlan& p, unsigned head, unsigned key, unsigned i) const {
    return v[slot(p, head, key) * p.value_dim + i];
  }
};

/// KIVI: codes packed in 32-bit words, keys along tokens ([head, token / per word, channel]), values along channels
/// ([head, token, channel / per word]); steps and minima as f16, keys per [head, token / group, channel], values per
/// [head, token, channel / group]; the tokens behind the quantized ones as f16 in a buffer of `residual` tokens a head.
struct KiviCache {
  using Code = std::uint16_t;
  In<std::uint32_t> k_codes, v_codes;
  In<std::uint16_t> k_step, k_minimum, v_step, v_minimum, k_recent, v_recent;

  /// rn(rn(code * step) + minimum) in f16. The float32 product is exact, and so nearly is the sum: 24 >= 2 * 11 + 2.
  HALFULP_DEVICE static std::uint16_t dequantized(unsigned code, std::uint16_t step, std::uint16_t minimum) {
    const float product = static_cast<float>(code) * float_of_half(step);
    return half_of(float_of_half(half_of(product)) + float_of_half(minimum));
  }

  template <int kFault>
  HALFULP_DEVICE std::uint16_t key(const AttentionPlan& p, unsigned head, unsigned key, unsigned i) const {
    if (key >= p.quantized_keys) return k_recent[(static_cast<std::size_t>(head) * p.residual + key - p.quantized_keys) * p.head_dim + i];
    const unsigned per_word = 32 / p.code_bits, words = p.quantized_keys / per_word, groups = p.quantized_keys / p.group;
    const std::uint32_t word = k_codes[(static_cast<std::size_t>(head) * words + key / per_word) * p.head_dim + i];
    unsigned group = key / p.group;
    if constexpr (kFault == kWrongIndex) group = 0;
    const std::size_t at = (static_cast<std::size_t>(head) * groups + group) * p.head_dim + i;
    return dequantized(word >> key % per_word * p.code_bits & ((1u << p.code_bits) - 1), k_step[at], k_minimum[at]);
  }
  HALFULP_DEVICE std::uint16_t value(const AttentionPlan& p, unsigned head, unsigned key, unsigned i) const {
    if (key >= p.quantized_values) return v_recent[(static_cast<std::size_t>(head) * p.residual + key - p.quantized_values) * p.value_dim + i];
    const unsigned per_word = 32 / p.code_bits;
    const std::size_t token = static_cast<std::size_t>(head) * p.quantized_values + key;
    const std::uint32_t word = v_codes[token * (p.value_dim / per_word) + i / per_word];
    const std::size_t at = token * (p.value_dim / p.group) + i / p.group;
    return dequantized(word >> i % per_word * p.code_bits & ((1u << p.code_bits) - 1), v_step[at], v_minimum[at]);
  }
};

}  // namespace halfulp::gpu
