// The paged cache: what is read depends on the live tokens alone, and is what the recipes give.
#include "halfulp/attention/paged_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>

#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/kv_cache.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"

namespace halfulp::test {
namespace {

using namespace attention;  // NOLINT: the subject

constexpr FormatSpec kF16 = spec_of("f16"), kF64 = spec_of("f64");
constexpr CastPolicy kIeee = {.overflow = Overflow::overflow};

std::uint32_t word_in(const FormatSpec& format, double x) { return static_cast<std::uint32_t>(cast(kF64, std::bit_cast<std::uint64_t>(x), format, kIeee).code); }
double number_in(const FormatSpec& format, std::uint32_t word) { return std::bit_cast<double>(cast(format, word, kF64, kIeee).code); }

std::vector<double> tokens_of(std::size_t count, std::mt19937_64& random) {
  std::vector<double> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double uniform = static_cast<double>(random() % 4096) / 1024 - 2;
    x[i] = number_in(kF16, word_in(kF16, uniform * uniform * uniform * (i % 7 == 3 ? 4 : 1)));
  }
  return x;
}

/// Two KV heads of 8 channels; groups and windows small enough that a few dozen tokens pass several.
CacheSpec spec_of_layout(std::string_view layout, std::size_t page_size) {
  CacheSpec s;
  s.layout = layout;
  s.page_size = page_size;
  s.kv_heads = 2;
  s.head_dim = s.value_dim = layout == "nvfp4" ? 24 : 8;  // a partial block of 16
  s.group = 4;
  s.residual = 8;
  if (layout == "fp8" || layout == "nvfp4") s.k_scale = {0.25f, 0.5f}, s.v_scale = {0.125f};
  if (layout == "kvquant4") {
    for (std::size_t i = 0; i < 16; ++i) s.k_lower.push_back(-2.5 - 0.125 * static_cast<double>(i)), s.k_upper.push_back(2 + 0.125 * static_cast<double>(i));
    for (int i = 0; i < 16; ++i) s.codebook.push_back((i - 7.5) / 7.5);
  }
  return s;
}

std::vector<std::size_t> pages_in_order(std::size_t count) {
  std::vector<std::size_t> pages(count);
  std::iota(pages.begin(), pages.end(), 0);
  return pages;
}

/// Slots that no sequence reads: NaN codes, NaN scales, sizes that do not fit.
void poison_dead_slots(PagedCache& cache, std::size_t pages, std::size_t page_size, std::size_t sequences) {
  std::vector<bool> live(pages * page_size);
  for (std::size_t s = 0; s < sequences; ++s) {
    for (std::size_t t = 0; t < cache.tokens(s); ++t) live[cache.page_table(s)[t / page_size] * page_size + t % page_size] = true;
  }
  for (std::size_t i = 0; i < live.size(); ++i) {
    if (live[i]) continue;
    Slot& slot = cache.slot(i / page_size, i % page_size);
    for (auto* side : {&slot.k, &slot.v}) {
      for (StoredVector& place : *side) {
        place.exact = i % 2 == 0;
        place.content.codes.assign(3, 0x7f);
        place.content.scales.assign(5, 0x7fc00000);
        place.content.zeros.assign(1, 0x7fff);
        place.content.kept.assign(1, {0, std::numeric_limits<double>::quiet_NaN()});
        place.content.tensor_scale = 0x7fc00000;
      }
    }
  }
}

std::vector<std::uint32_t> output(const PagedCache& cache, std::size_t sequence, const CacheSpec& spec) {
  const GatheredTokens tokens = cache.gather(sequence);
  KernelSpec kernel = cache.kernel(parse_spec("reference,tile=16,causal=yes"));
  kernel.out = "f16";
  const Shape shape = {4, 2, 1, tokens.keys, spec.head_dim, spec.value_dim};
  const std::vector<std::uint32_t> q(4 * spec.head_dim, kernel.q_format == "e4m3" ? 0x38 : kernel.q_format == "f16" ? 0x3c00 : 0x3f80);
  const auto L = cache.logit_scales(4, 0.25f), v_scale = cache.value_scales();
  return run(kernel, {shape, q, tokens.k, tokens.v, L, v_scale, {}}).O;
}

TEST(PagedCache, PagesOrderAndDeadSlotsNeverChangeBits) {
  for (const CacheLayout& layout : cache_layouts()) {
    for (const std::size_t n : {0u, 1u, 7u, 8u, 15u, 16u, 17u, 33u, 70u}) {
      std::mt19937_64 random(n + 1);
      const CacheSpec base = spec_of_layout(layout.name, 1024);
      const std::vector<double> keys = tokens_of(n * 2 * base.head_dim, random), values = tokens_of(n * 2 * base.value_dim, random);
      PagedCache whole(base, {0});
      whole.append(0, keys, values);
      const GatheredTokens expected = whole.gather(0);
      const auto expected_output = output(whole, 0, base);
      ASSERT_EQ(expected.keys, n);
      ASSERT_EQ(expected.k.size(), keys.size());
      for (const std::size_t page_size : {1u, 3u, 16u, 64u}) {
        const std::size_t pages = 80 / page_size + 3;
        std::vector<std::size_t> order = pages_in_order(pages);
        std::shuffle(order.begin(), order.end(), random);
        CacheSpec spec = base;
        spec.page_size = page_size;
        PagedCache cache(spec, order);
        for (std::size_t at = 0; at < n;) {  // a few tokens at a time, garbage in every slot that is not live
          poison_dead_slots(cache, pages, page_size, 1);
          const std::size_t count = std::min<std::size_t>(n - at, 1 + random() % 9), dk = 2 * base.head_dim, dv = 2 * base.value_dim;
          cache.append(0, std::span(keys).subspan(at * dk, count * dk), std::span(values).subspan(at * dv, count * dv));
          at += count;
        }
        poison_dead_slots(cache, pages, page_size, 1);
        const GatheredTokens got = cache.gather(0);
        EXPECT_EQ(got.k, expected.k) << layout.name << " " << n << " " << page_size;
        EXPECT_EQ(got.v, expected.v) << layout.name << " " << n << " " << page_size;
        if (page_size == 16) {
          EXPECT_EQ(output(cache, 0, spec), expected_output) << layout.name << " " << n;
        }
        EXPECT_EQ(cache.page_table(0).size(), (n + page_size - 1) / page_size);
      }
    }
  }
}

TEST(PagedCache, ABatchOfOneAndOfMany) {
  for (const CacheLayout& layout : cache_layouts()) {
    const CacheSpec spec = spec_of_layout(layout.name, 4);
    std::mt19937_64 random(5);
    PagedCache together(spec, pages_in_order(60), 3);
    std::vector<std::vector<double>> keys(3), values(3);
    for (int step = 0; step < 30; ++step) {
      const std::size_t s = random() % 3, count = 1 + random() % 4;
      const auto k = tokens_of(count * 2 * spec.head_dim, random), v = tokens_of(count * 2 * spec.value_dim, random);
      together.append(s, k, v);
      keys[s].insert(keys[s].end(), k.begin(), k.end());
      values[s].insert(values[s].end(), v.begin(), v.end());
    }
    for (std::size_t s = 0; s < 3; ++s) {
      PagedCache alone(spec, pages_in_order(60));
      alone.append(0, keys[s], values[s]);
      EXPECT_EQ(together.gather(s).k, alone.gather(0).k) << layout.name;
      EXPECT_EQ(together.gather(s).v, alone.gather(0).v) << layout.name;
      EXPECT_EQ(output(together, s, spec), output(alone, 0, spec)) << layout.name;
    }
  }
}

/// One head's tokens by the recipes alone, each token a tensor of one row; to the read format.
std::vector<std::uint32_t> by_recipe(const CacheSpec& spec, bool keys, std::size_t head, std::span<const double> rows, const FormatSpec& read) {
  const CacheLayout& layout = *std::find_if(cache_layouts().begin(), cache_layouts().end(), [&](const CacheLayout& l) { return l.name == spec.layout; });
  const recipes::QuantRecipe& recipe = recipes::named_recipe(keys ? layout.k_recipe : layout.v_recipe);
  recipes::Inputs inputs;
  if (spec.layout == "nvfp4") inputs["k_scale"] = {keys ? spec.k_scale[head] : spec.v_scale[0]};
  if (spec.layout == "kvquant4") {
    inputs["codebook"] = spec.codebook;
    if (keys) {
      inputs["outlier_lower"] = {spec.k_lower.begin() + static_cast<long>(head * 8), spec.k_lower.begin() + static_cast<long>(head * 8 + 8)};
      inputs["outlier_upper"] = {spec.k_upper.begin() + static_cast<long>(head * 8), spec.k_upper.begin() + static_cast<long>(head * 8 + 8)};
    }
  }
  std::vector<std::uint32_t> words;
  for (std::size_t at = 0; at < rows.size(); at += spec.head_dim) {
    const auto stored = recipes::quantize(recipe, {1, static_cast<std::int64_t>(spec.head_dim), rows.subspan(at, spec.head_dim)}, inputs);
    for (const double x : recipes::dequantize(recipe, stored, inputs)) words.push_back(word_in(read, x));
  }
  return words;
}

TEST(PagedCache, TokensReadBackAsTheirRecipesSay) {
  std::mt19937_64 random(9);
  for (const char* layout : {"int8", "int4", "nvfp4", "kvquant4"}) {
    for (const char* read : {"f16", "bf16"}) {
      CacheSpec spec = spec_of_layout(layout, 16);
      spec.read = read;
      const std::size_t n = 21, d = spec.head_dim;
      const auto keys = tokens_of(n * 2 * d, random), values = tokens_of(n * 2 * d, random);
      PagedCache cache(spec, pages_in_order(4));
      cache.append(0, keys, values);
      const GatheredTokens got = cache.gather(0);
      for (std::size_t head = 0; head < 2; ++head) {
        std::vector<double> k, v;
        for (std::size_t t = 0; t < n; ++t) {
          k.insert(k.end(), keys.begin() + static_cast<long>((t * 2 + head) * d), keys.begin() + static_cast<long>((t * 2 + head + 1) * d));
          v.insert(v.end(), values.begin() + static_cast<long>((t * 2 + head) * d), values.begin() + static_cast<long>((t * 2 + head + 1) * d));
        }
        const FormatSpec format = find_format(read)->spec;
        const auto expected_k = by_recipe(spec, true, head, k, format), expected_v = by_recipe(spec, false, head, v, format);
        EXPECT_TRUE(std::equal(expected_k.begin(), expected_k.end(), got.k.begin() + static_cast<long>(head * n * d))) << layout << read;
        EXPECT_TRUE(std::equal(expected_v.begin(), expected_v.end(), got.v.begin() + static_cast<long>(head * n * d))) << layout << read;
      }
      const KernelSpec kernel = cache.kernel(parse_spec("fa3_like"));
      EXPECT_EQ(kernel.qk_model, "hopper_f16");
      EXPECT_EQ(kernel.pv_model, "hopper_f16");
      EXPECT_EQ(kernel.p_format, read);
      EXPECT_EQ(kernel.lanes, 4);
      EXPECT_EQ(cache.value_scales(), (std::vector<float>{1, 1}));
    }
  }
}

/// KIVI in pages against the streaming cache of the recipes, head by head.
TEST(PagedCache, KiviKeepsTheStatedTokensExact) {
  for (const bool usual : {false, true}) {
    CacheSpec spec = spec_of_layout("kivi2", 16);
    if (usual) spec.group = 32, spec.residual = 128, spec.head_dim = spec.value_dim = 32;
    const std::size_t d = spec.head_dim, window = static_cast<std::size_t>(spec.residual);
    std::mt19937_64 random(3);
    PagedCache cache(spec, pages_in_order(64));
    std::vector<recipes::KiviCache> heads(2, recipes::KiviCache({"uint2", spec.group, spec.residual, static_cast<std::int64_t>(d)}));
    for (std::size_t n = 1; n <= (usual ? 300u : 60u); ++n) {
      const auto keys = tokens_of(2 * d, random), values = tokens_of(2 * d, random);
      cache.append(0, keys, values);
      for (std::size_t h = 0; h < 2; ++h) heads[h].append(0, std::span(keys).subspan(h * d, d), std::span(values).subspan(h * d, d));
      std::size_t exact_k = 0, exact_v = 0;
      for (std::size_t t = 0; t < n; ++t) {
        const Slot& slot = cache.slot(cache.page_table(0)[t / 16], t % 16);
        exact_k += slot.k[1].exact;
        exact_v += slot.v[1].exact;
      }
      ASSERT_EQ(exact_k, n % window);
      ASSERT_EQ(exact_v, std::min(n, window));
      if (usual && n % 43 != 0) continue;
      const GatheredTokens got = cache.gather(0);
      std::vector<std::uint32_t> k, v;
      for (const auto& head : heads) {
        for (const double x : head.keys(0)) k.push_back(word_in(kF16, x));
        for (const double x : head.values(0)) v.push_back(word_in(kF16, x));
      }
      ASSERT_EQ(got.k, k) << n;
      ASSERT_EQ(got.v, v) << n;
    }
  }
}

TEST(PagedCache, Fp8ScalesEnterThroughLAndVScale) {
  CacheSpec spec = spec_of_layout("fp8", 16);
  const std::size_t d = 8;
  std::vector<double> x(2 * d);
  const double row[] = {1, -0.5, 1000, -1000, 0x1p-20, 0.3, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < 2 * d; ++i) x[i] = row[i % d];
  PagedCache cache(spec, {0});
  cache.append(0, x, x);
  const GatheredTokens got = cache.gather(0);
  // x / 0.25 and x / 0.5: 4 -2 448 -448 0 1.25 NaN 448, 2 -1 448 -448 0 0.625 NaN 448; x / 0.125 for both heads of V
  EXPECT_EQ(got.k, (std::vector<std::uint32_t>{0x48, 0xc0, 0x7e, 0xfe, 0, 0x3a, 0x7f, 0x7e, 0x40, 0xb8, 0x7e, 0xfe, 0, 0x32, 0x7f, 0x7e}));
  EXPECT_EQ(std::vector<std::uint32_t>(got.v.begin(), got.v.begin() + 8), (std::vector<std::uint32_t>{0x50, 0xc8, 0x7e, 0xfe, 0, 0x42, 0x7f, 0x7e}));
  const float log2e = std::bit_cast<float>(0x3fb8aa3bu);
  const std::vector<float> q_scale = {3, 5, 7, 9};
  const auto L = cache.logit_scales(4, 0.1f, q_scale);
  const float first = 0.1f * log2e;
  EXPECT_EQ(L, (std::vector<float>{first * 3 * 0.25f, first * 5 * 0.25f, first * 7 * 0.5f, first * 9 * 0.5f}));
  EXPECT_EQ(cache.value_scales(), (std::vector<float>{0.125f, 0.125f}));
  EXPECT_EQ(cache.kernel(parse_spec("fa4_like")).qk_model, "blackwell_f8f6f4");

  spec.via_f16 = true;  // the reader multiplies: 0x01 times 0.3 is rounded to half
  spec.k_scale = {0.3f};
  PagedCache halves(spec, {0});
  const std::vector<double> small(2 * d, 0x1p-9 * 0.3f);
  halves.append(0, small, small);
  EXPECT_EQ(halves.gather(0).k[0], word_in(kF16, static_cast<double>(0x1p-9f * 0.3f)));
  EXPECT_EQ(halves.gather(0).v[0], word_in(kF16, 0x1p-11));  // 0.0047 in steps of 2^-9: 2, times 0.125
  EXPECT_EQ(halves.kernel(parse_spec("reference")).k_format, "f16");
  EXPECT_EQ(halves.logit_scales(2, 0.1f)[1], first);
  EXPECT_EQ(halves.value_scales()[0], 1.0f);
}

TEST(PagedCache, Refusals) {
  const auto refused = [](auto change, std::vector<std::size_t> pages = {0}) {
    CacheSpec spec = spec_of_layout("fp8", 2);
    change(spec);
    EXPECT_THROW(PagedCache(spec, pages), InputError);
  };
  refused([](CacheSpec& s) { s.layout = "fp9"; });
  refused([](CacheSpec& s) { s.page_size = 0; });
  refused([](CacheSpec& s) { s.read = "f32"; });
  refused([](CacheSpec& s) { s.k_scale = {1, 2, 3}; });
  refused([](CacheSpec& s) { s.layout = "int8", s.via_f16 = true; });
  refused([](CacheSpec& s) { s.layout = "kivi2", s.residual = 10; });
  refused([](CacheSpec& s) { s.layout = "kivi2", s.value_dim = 10; });
  refused([](CacheSpec& s) { s.layout = "kvquant4"; });
  refused([](CacheSpec&) {}, {0, 2});
  PagedCache cache(spec_of_layout("fp8", 2), {1, 0});
  const std::vector<double> token(16), five(5 * 16);
  EXPECT_THROW(cache.append(0, token, five), InputError);
  EXPECT_THROW(cache.append(0, std::span(token).first(9), token), InputError);
  EXPECT_THROW(cache.append(1, token, token), InputError);
  EXPECT_THROW(cache.append(0, five, five), InputError);  // 5 tokens in 2 pages of 2
  EXPECT_EQ(cache.tokens(0), 0u);
  EXPECT_TRUE(cache.page_table(0).empty());
  EXPECT_THROW(cache.logit_scales(3, 1), InputError);
}

}  // namespace
}  // namespace halfulp::test
