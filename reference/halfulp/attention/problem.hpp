// Problem: the tensors of one sequence, dequantized as far as the kernel's cache reader does. Stages: every intermediate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halfulp::attention {

/// Sizes of one sequence. query_heads is a multiple of kv_heads; KV head = query head div (query_heads / kv_heads).
struct Shape {
  std::size_t query_heads = 1, kv_heads = 1;
  std::size_t queries = 1, keys = 0;
  std::size_t head_dim = 1, value_dim = 1;
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Codes are container words of the spec's formats, row-major. Scales are float32.
struct Problem {
  Shape shape;
  std::span<const std::uint32_t> q;   ///< [query head, query, head_dim]
  std::span<const std::uint32_t> k;   ///< [KV head, key, head_dim]
  std::span<const std::uint32_t> v;   ///< [KV head, key, value_dim]
  std::span<const float> logit_scale; ///< L: one, or one per query head; empty: 1
  std::span<const float> v_scale;     ///< one, one per KV head, or one per [KV head, value_dim]; empty: 1
  std::span<const float> sink;        ///< extra raw score per query head; empty: none
};

/// Every stage of a run as bits: float32 words, codes of the P format, codes of the output format.
/// rows = query heads * queries; tiles in processing order; S, t and P of keys that are not visible are +0.
struct Stages {
  std::size_t rows = 0, keys = 0, tiles = 0, lanes = 1, value_dim = 0;
  std::vector<std::uint32_t> L;        ///< [row]
  std::vector<std::uint32_t> S;        ///< [row, key], before the soft cap
  std::vector<std::uint32_t> m;        ///< [row, tile]
  std::vector<std::uint32_t> t, P;     ///< [row, key]
  std::vector<std::uint32_t> P_code;   ///< [row, key]
  std::vector<std::uint32_t> alpha;    ///< [row, tile]; 1 where nothing was rescaled
  std::vector<std::uint32_t> l;        ///< [row, tile, lane], before the final adds
  std::vector<std::uint32_t> row_sum;  ///< [row]
  std::vector<std::uint32_t> O_tile;   ///< [row, tile, value_dim]
  std::vector<std::uint32_t> O;        ///< [row, value_dim], codes of the output format
  std::vector<std::uint32_t> m_last;   ///< [row], the maximum that row_sum belongs to
};

}  // namespace halfulp::attention
