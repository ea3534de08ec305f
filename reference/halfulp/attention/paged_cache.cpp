// See paged_cache.hpp.
#include "halfulp/attention/paged_cache.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/plan.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"

namespace halfulp::attention {
namespace {

using recipes::Quantized;

constexpr FormatSpec kF16 = spec_of("f16"), kF64 = spec_of("f64");
constexpr CastPolicy kIeee = {.overflow = Overflow::overflow};

constexpr auto kLayouts = std::to_array<CacheLayout>({
    {"fp8", "kv_fp8/vllm", "kv_fp8/vllm", "e4m3", "codes are read as they are; with via_f16 as kv_fp8/vllm_half reads them"},
    {"int8", "int8_per_token/vllm", "int8_per_token/vllm", "int8", "one scale per token and head"},
    {"int4", "int_sym/quarot", "int_sym/quarot", "int4", "one scale per token and head"},
    {"nvfp4", "nvfp4_kv/vllm", "nvfp4_kv/vllm", "e2m1", "one scale per 16 channels and one per tensor or KV head"},
    {"kivi2", "kivi/k", "kivi/v", "uint2", "keys per channel and group of tokens, values per token and group of channels"},
    {"kivi4", "kivi/k", "kivi/v", "uint4", "the same in 4 bits"},
    {"kvquant4", "kvquant/k", "kvquant/v", "uint4", "keys before RoPE: the rotation is the caller's"},
});

InputError does_not_fit(const std::string& what, const std::string& why, const std::string& mend) { return InputError("paged cache, " + what, why, mend); }

const CacheLayout& layout_named(const std::string& name) {
  std::vector<std::string_view> names;
  for (const CacheLayout& layout : kLayouts) {
    if (layout.name == name) return layout;
    names.push_back(layout.name);
  }
  const std::string near = nearest_names(name, names);
  throw does_not_fit("layout '" + name + "'", "no layout has that name", near.empty() ? "layouts are fp8, int8, int4, nvfp4, kivi2, kivi4, kvquant4" : "nearest names: " + near);
}

std::uint32_t word_in(const FormatSpec& format, double x) { return static_cast<std::uint32_t>(cast(kF64, std::bit_cast<std::uint64_t>(x), format, kIeee).code); }
double number_of(const FormatSpec& format, std::uint64_t code) { return std::bit_cast<double>(cast(format, code, kF64, kIeee).code); }

float of_head(const std::vector<float>& scales, std::size_t head) { return scales[scales.size() == 1 ? 0 : head]; }

}  // namespace

std::span<const CacheLayout> cache_layouts() { return kLayouts; }

PagedCache::PagedCache(CacheSpec spec, std::vector<std::size_t> free_pages, std::size_t sequences)
    : spec_(std::move(spec)),
      layout_(&layout_named(spec_.layout)),
      k_{layout_->k_recipe, spec_.head_dim, &Slot::k, &CacheSpec::k_scale, true},
      v_{layout_->v_recipe, spec_.value_dim, &Slot::v, &CacheSpec::v_scale, false},
      pages_(free_pages.size()),
      free_(free_pages.rbegin(), free_pages.rend()),
      sequences_(sequences) {
  if (spec_.page_size == 0 || spec_.kv_heads == 0 || spec_.head_dim == 0 || spec_.value_dim == 0) throw does_not_fit("sizes", "one is 0", "give at least 1 of each");
  std::sort(free_pages.begin(), free_pages.end());
  for (std::size_t i = 0; i < free_pages.size(); ++i) {
    if (free_pages[i] != i) throw does_not_fit("pages", "not a permutation of 0 to n - 1", "name every page once");
  }
  if (spec_.read != "f16" && spec_.read != "bf16") throw does_not_fit("read=" + spec_.read, "tokens are read as f16 or bf16", "choose one of them");
  if (spec_.via_f16 && !is_fp8()) throw does_not_fit("via_f16", "only FP8 codes can be read in two ways", "leave it out");
  for (const auto* scale : {&spec_.k_scale, &spec_.v_scale}) {
    if (scale->size() != 1 && scale->size() != spec_.kv_heads) throw does_not_fit("scales", "neither one nor one per KV head", "give one of these");
  }
  if (is_kivi()) {
    if (spec_.group < 1 || spec_.residual < 1 || spec_.residual % spec_.group != 0) throw does_not_fit("residual", "not whole groups", "give a multiple of the group");
    if (spec_.value_dim % static_cast<std::size_t>(spec_.group) != 0) throw does_not_fit("value_dim", "not whole groups of channels", "give a multiple of the group");
  }
  if (layout_->k_recipe == "kvquant/k") {
    const std::size_t channels = spec_.kv_heads * spec_.head_dim;
    if (spec_.k_lower.size() != channels || spec_.k_upper.size() != channels) throw does_not_fit("thresholds", "not one pair per channel of every KV head", "calibrate them all");
    if (spec_.codebook.size() != std::size_t{1} << find_format(layout_->element)->spec.width) throw does_not_fit("codebook", "not one entry per code", "give them all");
  }
  for (auto& page : pages_) {
    page.resize(spec_.page_size);
    for (Slot& each : page) {
      each.k.resize(spec_.kv_heads);
      each.v.resize(spec_.kv_heads);
    }
  }
}

StoredVector& PagedCache::stored(const Sequence& sequence, std::size_t token, const Side& side, std::size_t head) {
  return (pages_[sequence.pages[token / spec_.page_size]][token % spec_.page_size].*side.stored)[head];
}
const StoredVector& PagedCache::stored(const Sequence& sequence, std::size_t token, const Side& side, std::size_t head) const {
  return (pages_[sequence.pages[token / spec_.page_size]][token % spec_.page_size].*side.stored)[head];
}

recipes::QuantRecipe PagedCache::recipe(const Side& side) const {
  const auto& named = recipes::recipe_elements(side.recipe).empty() ? recipes::named_recipe(side.recipe) : recipes::named_recipe(side.recipe, layout_->element);
  if (!is_kivi()) return named;
  return side.keys ? recipes::with_granularity(named, recipes::Granularity::tile, spec_.group, 1)
                   : recipes::with_granularity(named, recipes::Granularity::group, 1, spec_.group);
}

recipes::Inputs PagedCache::inputs(const Side& side, std::size_t head) const {
  if (is_fp8()) return {{"scale", {of_head(spec_.*side.scale, head)}}};
  if (side.recipe == "nvfp4_kv/vllm") return {{"k_scale", {of_head(spec_.*side.scale, head)}}};
  if (side.recipe == "kvquant/v") return {{"codebook", spec_.codebook}};
  if (side.recipe != "kvquant/k") return {};
  const auto channels = [&](const std::vector<double>& all) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(head * spec_.head_dim);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(spec_.head_dim));
  };
  return {{"codebook", spec_.codebook}, {"outlier_lower", channels(spec_.k_lower)}, {"outlier_upper", channels(spec_.k_upper)}};
}

Quantized PagedCache::quantized(const Side& side, std::size_t head, std::int64_t tokens, std::span<const double> values) const {
  return recipes::quantize(recipe(side), {tokens, static_cast<std::int64_t>(side.channels), values}, inputs(side, head));
}

void PagedCache::append(std::size_t sequence, std::span<const double> keys, std::span<const double> values) {
  if (sequence >= sequences_.size()) throw does_not_fit("sequence " + std::to_string(sequence), "no such sequence", "count from 0");
  const std::size_t of_key = spec_.kv_heads * spec_.head_dim, of_value = spec_.kv_heads * spec_.value_dim, count = keys.size() / of_key;
  if (keys.size() % of_key != 0 || values.size() != count * of_value) {
    throw does_not_fit("tokens", "not whole tokens, as many keys as values", "append tokens x heads x channels of each");
  }
  Sequence& s = sequences_[sequence];
  const std::size_t pages = (s.tokens + count + spec_.page_size - 1) / spec_.page_size - s.pages.size();
  if (pages > free_.size()) throw does_not_fit("pages", "none left", "give the pool more pages");
  for (std::size_t i = 0; i < pages; ++i) {
    s.pages.push_back(free_.back());
    free_.pop_back();
  }
  for (std::size_t i = 0; i < count; ++i, ++s.tokens) {
    for (std::size_t head = 0; head < spec_.kv_heads; ++head) {
      for (const Side* side : {&k_, &v_}) {
        const auto x = (side->keys ? keys : values).subspan((i * spec_.kv_heads + head) * side->channels, side->channels);
        StoredVector& place = stored(s, s.tokens, *side, head);
        place = {};
        if (is_kivi()) {
          place.exact = true;
          for (const double each : x) place.content.codes.push_back(word_in(kF16, each));
        } else {
          place.content = quantized(*side, head, 1, x);
        }
      }
    }
    if (!is_kivi()) continue;
    const auto residual = static_cast<std::size_t>(spec_.residual), now = s.tokens + 1;
    if (now % residual == 0) flush(s, k_, now - residual, residual);
    if (now > residual) flush(s, v_, now - residual - 1, 1);
  }
}

/// Quantizes exact tokens where they are: groups of keys run over `count` tokens, whole groups.
void PagedCache::flush(const Sequence& sequence, const Side& side, std::size_t first, std::size_t count) {
  for (std::size_t head = 0; head < spec_.kv_heads; ++head) {
    std::vector<double> values;
    for (std::size_t token = first; token < first + count; ++token) {
      for (const std::uint64_t word : stored(sequence, token, side, head).content.codes) values.push_back(number_of(kF16, word));
    }
    const Quantized all = quantized(side, head, static_cast<std::int64_t>(count), values);
    const std::size_t group = side.keys ? static_cast<std::size_t>(spec_.group) : 1, scales = all.scales.size() * group / count;
    for (std::size_t i = 0; i < count; ++i) {
      StoredVector& place = stored(sequence, first + i, side, head);
      place = {};
      const auto part = [&](const std::vector<std::uint64_t>& from, std::size_t index, std::size_t length) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(index * length);
        return std::vector<std::uint64_t>(begin, begin + static_cast<std::ptrdiff_t>(length));
      };
      place.content.codes = part(all.codes, i, side.channels);
      if (i % group != 0) continue;
      place.content.scales = part(all.scales, i / group, scales);
      place.content.zeros = part(all.zeros, i / group, scales);
    }
  }
}

std::vector<std::uint32_t> PagedCache::read(const Sequence& sequence, const Side& side) const {
  std::vector<std::uint32_t> words;
  words.reserve(spec_.kv_heads * sequence.tokens * side.channels);
  const FormatSpec format = find_format(is_fp8() ? "f16" : spec_.read)->spec;
  const recipes::QuantRecipe steps = is_fp8() ? recipes::named_recipe("kv_fp8/vllm_half") : recipe(side);
  for (std::size_t head = 0; head < spec_.kv_heads; ++head) {
    const recipes::Inputs given = inputs(side, head);
    for (std::size_t token = 0; token < sequence.tokens;) {
      const StoredVector& place = stored(sequence, token, side, head);
      if (reads_codes() || place.exact) {
        for (const std::uint64_t code : place.content.codes) words.push_back(reads_codes() ? static_cast<std::uint32_t>(code) : word_in(format, number_of(kF16, code)));
        ++token;
        continue;
      }
      const std::size_t count = is_kivi() && side.keys ? static_cast<std::size_t>(spec_.group) : 1;
      Quantized content = place.content;
      for (std::size_t i = 1; i < count; ++i) {
        const auto& codes = stored(sequence, token + i, side, head).content.codes;
        content.codes.insert(content.codes.end(), codes.begin(), codes.end());
      }
      content.blocks = recipes::blocks_of(steps, static_cast<std::int64_t>(count), static_cast<std::int64_t>(side.channels));
      for (const double x : recipes::dequantize(steps, content, given)) words.push_back(word_in(format, x));
      token += count;
    }
  }
  return words;
}

GatheredTokens PagedCache::gather(std::size_t sequence) const {
  const Sequence& s = sequences_.at(sequence);
  return {s.tokens, read(s, k_), read(s, v_)};
}

KernelSpec PagedCache::kernel(KernelSpec base) const {
  if (reads_codes()) {
    base.k_format = base.v_format = "e4m3";
    return base;
  }
  base.qk_model = base.pv_model = "hopper_f16";
  base.q_format = base.k_format = base.p_format = base.v_format = is_fp8() ? "f16" : spec_.read;
  return base;
}

std::vector<float> PagedCache::logit_scales(std::size_t query_heads, float softmax_scale, std::span<const float> q_scale) const {
  constexpr float kLog2E = std::bit_cast<float>(0x3fb8aa3bu);
  if (query_heads == 0 || query_heads % spec_.kv_heads != 0) throw does_not_fit("query heads", "not a multiple of the KV heads", "give whole groups");
  if (q_scale.size() > 1 && q_scale.size() != query_heads) throw does_not_fit("q_scale", "neither one nor one per query head", "give one of these");
  std::vector<float> scales;
  for (std::size_t head = 0; head < query_heads; ++head) {
    float L = softmax_scale * kLog2E;
    if (!q_scale.empty()) L *= q_scale[q_scale.size() == 1 ? 0 : head];
    if (reads_codes()) L *= of_head(spec_.k_scale, head / (query_heads / spec_.kv_heads));
    scales.push_back(L);
  }
  return scales;
}

std::vector<float> PagedCache::value_scales() const {
  std::vector<float> scales;
  for (std::size_t head = 0; head < spec_.kv_heads; ++head) scales.push_back(reads_codes() ? of_head(spec_.v_scale, head) : 1.0f);
  return scales;
}

}  // namespace halfulp::attention
