// A paged KV cache, and how its tokens are read into a Problem. What is read depends on the live tokens alone: not on the order
// of pages, not on other slots, not on other sequences.
//
// FP8 tokens are read as codes, exactly: their scales enter through L and v_scale. All other layouts are dequantized by the
// steps of their recipe (recipes/registry_cache.cpp) and rounded once to `read`, ties to even.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/recipes/tensor.hpp"

namespace halfulp::attention {

/// A way to store tokens: a recipe for keys, one for values, and their element.
struct CacheLayout {
  std::string_view name, k_recipe, v_recipe, element;
  std::string_view note = {};
};
/// fp8, int8, int4, nvfp4, kivi2, kivi4, kvquant4.
std::span<const CacheLayout> cache_layouts();

struct CacheSpec {
  std::string layout = "fp8";
  std::size_t page_size = 16;  ///< tokens per page
  std::size_t kv_heads = 1, head_dim = 128, value_dim = 128;
  std::string read = "f16";    ///< what tokens other than FP8 codes are read as: f16 or bf16
  bool via_f16 = false;        ///< fp8: the reader rounds code * scale to f16, and the scales are used up
  std::vector<float> k_scale = {1}, v_scale = {1};  ///< fp8, nvfp4: one, or one per KV head
  std::vector<double> k_lower, k_upper;             ///< kvquant: outlier thresholds, [KV head, channel of K]
  std::vector<double> codebook;                     ///< kvquant: one entry per code
  int group = 32, residual = 128;                   ///< kivi; the residual is a multiple of the group
};

/// One token of one head as it is stored.
struct StoredVector {
  bool exact = false;           ///< kivi: not quantized yet; the codes are f16 words
  recipes::Quantized content;   ///< of 1 x channels; of a kivi key the scales of its group stand at the group's first token
};
struct Slot {
  std::vector<StoredVector> k, v;  ///< by KV head
};

/// Live tokens of a sequence, [KV head, key, channel] as Problem wants them.
struct GatheredTokens {
  std::size_t keys = 0;
  std::vector<std::uint32_t> k, v;
};

class PagedCache {
 public:
  /// `free_pages`: the pages of the pool in the order in which they are handed out, a permutation of 0 to n - 1. Throws InputError
  /// where the parts do not fit.
  PagedCache(CacheSpec spec, std::vector<std::size_t> free_pages, std::size_t sequences = 1);

  /// Adds tokens: keys and values, [token, KV head, channel], numbers of binary64. Throws InputError for anything but whole
  /// tokens, as many keys as values, or when no page is left (then nothing is added).
  void append(std::size_t sequence, std::span<const double> keys, std::span<const double> values);

  std::size_t tokens(std::size_t sequence) const { return sequences_.at(sequence).tokens; }
  const std::vector<std::size_t>& page_table(std::size_t sequence) const { return sequences_.at(sequence).pages; }
  /// A slot of the pool, live or dead.
  Slot& slot(std::size_t page, std::size_t index) { return pages_.at(page).at(index); }

  GatheredTokens gather(std::size_t sequence) const;

  /// `base` with the formats and models that read this cache: e4m3 keys and values for FP8, else `read` and hopper_f16 twice.
  /// FP8 keeps the models of `base`.
  KernelSpec kernel(KernelSpec base) const;
  /// L per query head: softmax_scale * log2(e) * q_scale * k_scale, from the left in float32; the k_scale only where codes are
  /// read. `q_scale`: one, or one per query head; empty: 1.
  std::vector<float> logit_scales(std::size_t query_heads, float softmax_scale, std::span<const float> q_scale = {}) const;
  /// v_scale of a Problem: one per KV head, 1 where values are dequantized.
  std::vector<float> value_scales() const;

 private:
  struct Sequence {
    std::size_t tokens = 0;
    std::vector<std::size_t> pages;
  };
  /// Keys or values.
  struct Side {
    std::string_view recipe;
    std::size_t channels;
    std::vector<StoredVector> Slot::*stored;
    std::vector<float> CacheSpec::*scale;
    bool keys;
  };
  bool is_fp8() const { return layout_->name == "fp8"; }
  bool is_kivi() const { return layout_->k_recipe == "kivi/k"; }
  bool reads_codes() const { return is_fp8() && !spec_.via_f16; }
  const StoredVector& stored(const Sequence& sequence, std::size_t token, const Side& side, std::size_t head) const;
  StoredVector& stored(const Sequence& sequence, std::size_t token, const Side& side, std::size_t head);
  recipes::QuantRecipe recipe(const Side& side) const;
  recipes::Inputs inputs(const Side& side, std::size_t head) const;
  recipes::Quantized quantized(const Side& side, std::size_t head, std::int64_t tokens, std::span<const double> values) const;
  void flush(const Sequence& sequence, const Side& side, std::size_t first, std::size_t count);
  std::vector<std::uint32_t> read(const Sequence& sequence, const Side& side) const;

  CacheSpec spec_;
  const CacheLayout* layout_;
  Side k_, v_;
  std::vector<std::vector<Slot>> pages_;
  std::vector<std::size_t> free_;  ///< the next page last
  std::vector<Sequence> sequences_;
};

}  // namespace halfulp::attention
