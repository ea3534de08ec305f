// AttentionPlan: a kernel spec with its sizes and models as plain numbers, for device code and for files.
//
// Made from KernelSpec and the model registry (prepare.cpp); the kernels read nothing else.
#pragma once

#include <cstdint>

#include "halfulp/config.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::gpu {

/// Limits of the kernels: rows of one block, keys of a tile, channels of a head.
inline constexpr unsigned kRows = 16, kMaxTile = 128, kMaxDim = 64, kAttentionThreads = 128;

enum ProductScheme : std::uint32_t { kFusedProduct, kWidenedHalves, kIntegerProduct };

/// The accumulation model of one product.
struct ProductPlan {
  std::uint32_t scheme = kFusedProduct;
  std::uint32_t chunk = 32;
  std::int32_t fraction_bits = 13, f32_fraction_bits = 13;
  std::uint32_t f16_output = 0;
  FormatSpec a, b;
};

/// KernelSpec and Shape by the same names; `has_x` says whether x is given.
struct AttentionPlan {
  std::uint32_t query_heads = 1, kv_heads = 1, queries = 1, keys = 0, head_dim = 1, value_dim = 1;
  std::uint32_t tile = 64, descending = 0, split = 0;
  ProductPlan qk, pv;
  std::uint32_t has_softcap = 0, has_threshold = 0, has_prescale = 0;
  float cap = 0, cap_scale = 0, offset = 8, threshold = 0, prescale = 0;
  std::uint32_t sum_quantized = 0, lanes = 1, two_level = 0, interval = 0;
  FormatSpec out;
  std::uint32_t causal = 0, has_window = 0, has_sink = 0;
  std::int64_t before = 0, after = 0, prefix = 0;
  std::uint32_t page_size = 0;  ///< of a paged cache
  std::uint32_t quantized_keys = 0, quantized_values = 0, code_bits = 0, group = 0, residual = 0;  ///< of a KIVI cache

  HALFULP_HD std::uint32_t rows() const { return query_heads * queries; }
  HALFULP_HD std::uint32_t rows_per_kv_head() const { return query_heads / kv_heads * queries; }
  /// Keys of one part of split KV; at least one tile.
  HALFULP_HD std::uint32_t part_keys() const { return split != 0 ? split : keys > tile ? (keys + tile - 1) / tile * tile : tile; }
  HALFULP_HD std::uint32_t parts() const { return keys == 0 ? 1 : (keys + part_keys() - 1) / part_keys(); }
  HALFULP_HD std::uint32_t tiles() const { return (keys + tile - 1) / tile; }
  HALFULP_HD std::uint32_t row_tiles() const { return (rows_per_kv_head() + kRows - 1) / kRows; }
  /// Units of work: one block takes kRows rows of one KV head and one part at a time.
  HALFULP_HD std::uint32_t items() const { return kv_heads * row_tiles() * parts(); }
};

/// Calls visit(name, member) for every number and format of a plan.
template <class Plan, class Visit>
void for_each_member(Plan& p, Visit&& visit) {
  visit("query_heads", p.query_heads), visit("kv_heads", p.kv_heads), visit("queries", p.queries), visit("keys", p.keys);
  visit("head_dim", p.head_dim), visit("value_dim", p.value_dim);
  visit("tile", p.tile), visit("descending", p.descending), visit("split", p.split);
  const auto product = [&](const char* const (&names)[7], auto& x) {
    visit(names[0], x.scheme), visit(names[1], x.chunk), visit(names[2], x.fraction_bits), visit(names[3], x.f32_fraction_bits);
    visit(names[4], x.f16_output), visit(names[5], x.a), visit(names[6], x.b);
  };
  product({"qk_scheme", "qk_chunk", "qk_fraction_bits", "qk_f32_fraction_bits", "qk_f16_output", "qk_a", "qk_b"}, p.qk);
  product({"pv_scheme", "pv_chunk", "pv_fraction_bits", "pv_f32_fraction_bits", "pv_f16_output", "pv_a", "pv_b"}, p.pv);
  visit("has_softcap", p.has_softcap), visit("has_threshold", p.has_threshold), visit("has_prescale", p.has_prescale);
  visit("cap", p.cap), visit("cap_scale", p.cap_scale), visit("offset", p.offset), visit("threshold", p.threshold), visit("prescale", p.prescale);
  visit("sum_quantized", p.sum_quantized), visit("lanes", p.lanes), visit("two_level", p.two_level), visit("interval", p.interval);
  visit("out", p.out), visit("causal", p.causal), visit("has_window", p.has_window), visit("has_sink", p.has_sink);
  visit("before", p.before), visit("after", p.after), visit("prefix", p.prefix), visit("page_size", p.page_size);
  visit("quantized_keys", p.quantized_keys), visit("quantized_values", p.quantized_values), visit("code_bits", p.code_bits);
  visit("group", p.group), visit("residual", p.residual);
}

}  // namespace halfulp::gpu
