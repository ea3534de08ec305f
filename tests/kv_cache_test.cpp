// The streaming KIVI cache: any chunking gives what batch quantization gives; which tokens stay exact.
#include "halfulp/recipes/kv_cache.hpp"

#include <gtest/gtest.h>

#include "halfulp/error.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "recipe_data.hpp"

namespace halfulp::test {
namespace {

using recipes::KiviCache;
using recipes::KiviSettings;

/// Keys or values of n tokens: numbers of binary16, some channels large.
std::vector<double> tokens_of(std::int64_t count, std::int64_t channels, Random& random) {
  std::vector<double> rows;
  for (std::int64_t i = 0; i < count * channels; ++i) {
    const double large = i % channels % 7 == 3 ? 16 : 1;
    rows.push_back(in_format(spec_of("f16"), large * random.normal()));
  }
  return rows;
}

/// A prefix quantized in one go.
recipes::Quantized in_one_go(std::string_view name, const KiviSettings& settings,
                             std::span<const double> rows, std::int64_t count) {
  const bool keys = name == "kivi/k";
  const recipes::QuantRecipe recipe =
      with_granularity(recipes::named_recipe(name, settings.element),
                       keys ? recipes::Granularity::tile : recipes::Granularity::group,
                       keys ? settings.group : 1, keys ? 1 : settings.group);
  return recipes::quantize(
      recipe, {count, settings.channels, rows.first(static_cast<std::size_t>(count * settings.channels))});
}

void expect_state(const KiviCache& cache, const KiviSettings& settings, std::size_t sequence,
                  std::span<const double> keys, std::span<const double> values) {
  const auto n = static_cast<std::int64_t>(keys.size()) / settings.channels;
  ASSERT_EQ(cache.tokens(sequence), n);
  EXPECT_EQ(cache.exact_keys(sequence), n % settings.residual);
  EXPECT_EQ(cache.exact_values(sequence), std::min<std::int64_t>(n, settings.residual));
  EXPECT_TRUE(cache.quantized_keys(sequence) ==
              in_one_go("kivi/k", settings, keys, n - n % settings.residual))
      << n;
  EXPECT_TRUE(cache.quantized_values(sequence) ==
              in_one_go("kivi/v", settings, values, std::max<std::int64_t>(n - settings.residual, 0)))
      << n;
  const auto expect_exact_tail = [&](const std::vector<double>& read, std::span<const double> given,
                                     std::int64_t exact) {
    ASSERT_EQ(read.size(), given.size());
    const auto tail = static_cast<std::size_t>(exact * settings.channels);
    EXPECT_TRUE(
        std::equal(read.end() - static_cast<std::ptrdiff_t>(tail), read.end(), given.last(tail).begin()));
  };
  expect_exact_tail(cache.keys(sequence), keys, n % settings.residual);
  expect_exact_tail(cache.values(sequence), values, std::min<std::int64_t>(n, settings.residual));
}

TEST(KvCache, AnyChunkingGivesTheBatchResult) {
  const KiviSettings small{.element = "uint2", .group = 4, .residual = 8, .channels = 8};
  const KiviSettings four_bits{.element = "uint4", .group = 8, .residual = 8, .channels = 16};
  const KiviSettings usual{.element = "uint2", .group = 32, .residual = 128, .channels = 64};
  std::uint64_t checked = 0;
  for (const KiviSettings& settings : {small, four_bits, usual}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Random random(seed);
      const std::int64_t n = 1 + static_cast<std::int64_t>(
                                     random.below(static_cast<std::uint64_t>(3 * settings.residual + 5)));
      const std::vector<double> keys = tokens_of(n, settings.channels, random),
                                values = tokens_of(n, settings.channels, random);
      KiviCache cache(settings);
      for (std::int64_t at = 0; at < n;) {
        const std::int64_t most = seed % 3 == 0 ? 1 : seed % 3 == 1 ? n : settings.residual + 3;
        const std::int64_t step =
            std::min(n - at, 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most))));
        const auto part = [&](const std::vector<double>& all) {
          return std::span(all).subspan(static_cast<std::size_t>(at * settings.channels),
                                        static_cast<std::size_t>(step * settings.channels));
        };
        cache.append(0, part(keys), part(values));
        at += step;
        const auto prefix = static_cast<std::size_t>(at * settings.channels);
        expect_state(cache, settings, 0, std::span(keys).first(prefix), std::span(values).first(prefix));
        ++checked;
      }
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(checked, 500u);
}

TEST(KvCache, EveryLengthKeepsTheStatedTokensExact) {
  const KiviSettings settings{.element = "uint2", .group = 32, .residual = 128, .channels = 32};
  Random random(5);
  KiviCache cache(settings);
  for (std::int64_t n = 1; n <= 600; ++n) {
    cache.append(0, tokens_of(1, 32, random), tokens_of(1, 32, random));
    EXPECT_EQ(cache.exact_keys(0), n % 128);
    EXPECT_EQ(cache.exact_values(0), n < 128 ? n : 128);
    EXPECT_EQ(cache.quantized_keys(0).blocks.rows, n - n % 128);
  }
}

TEST(KvCache, ReportedFault) {  // tests/data/block.json, block-F11-2: 32 + 168 tokens, residual 32
  const KiviSettings settings{.element = "uint2", .group = 32, .residual = 32, .channels = 32};
  Random random(6);
  KiviCache cache(settings);
  cache.append(0, tokens_of(32, 32, random), tokens_of(32, 32, random));
  EXPECT_EQ(cache.exact_keys(0), 0);
  for (int i = 0; i < 168; ++i) cache.append(0, tokens_of(1, 32, random), tokens_of(1, 32, random));
  EXPECT_EQ(cache.exact_keys(0), 8);
  EXPECT_EQ(cache.quantized_keys(0).blocks.rows, 192);
  EXPECT_EQ(cache.exact_values(0), 32);
}

TEST(KvCache, GroupsNeverCrossSequences) {
  const KiviSettings settings{.element = "uint2", .group = 4, .residual = 8, .channels = 8};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    KiviCache together(settings, 3);
    std::vector<std::vector<double>> keys(3), values(3);
    for (int step = 0; step < 40; ++step) {
      const auto sequence = static_cast<std::size_t>(random.below(3));
      const std::int64_t count = random.between(1, 5);
      const std::vector<double> k = tokens_of(count, 8, random), v = tokens_of(count, 8, random);
      together.append(sequence, k, v);
      keys[sequence].insert(keys[sequence].end(), k.begin(), k.end());
      values[sequence].insert(values[sequence].end(), v.begin(), v.end());
    }
    for (std::size_t s = 0; s < 3; ++s) {
      KiviCache alone(settings);
      alone.append(0, keys[s], values[s]);
      EXPECT_EQ(together.keys(s), alone.keys(0));
      EXPECT_EQ(together.values(s), alone.values(0));
      expect_state(together, settings, s, keys[s], values[s]);
    }
  }
}

TEST(KvCache, OneTokenDoesNotChangeOthers) {  // a value group is one token's, a key group one channel's
  const KiviSettings settings{.element = "uint2", .group = 4, .residual = 4, .channels = 4};
  Random random(9);
  std::vector<double> keys = tokens_of(12, 4, random), values = tokens_of(12, 4, random);
  KiviCache before(settings), after(settings);
  before.append(0, keys, values);
  keys[1] += 100;  // token 0, channel 1
  values[1] += 100;
  after.append(0, keys, values);
  const std::vector<double> k = before.keys(0), K = after.keys(0), v = before.values(0),
                            V = after.values(0);
  for (std::size_t i = 0; i < k.size(); ++i) {
    if (i / 16 != 0 || i % 4 != 1) {
      EXPECT_EQ(k[i], K[i]) << i;
    }
    if (i / 4 != 0) {
      EXPECT_EQ(v[i], V[i]) << i;
    }
  }
}

TEST(KvCache, Refusals) {
  EXPECT_THROW(KiviCache({.group = 32, .residual = 100, .channels = 32}), InputError);
  EXPECT_THROW(KiviCache({.group = 32, .residual = 128, .channels = 80}), InputError);
  EXPECT_THROW(KiviCache({.element = "e4m3"}), InputError);
  KiviCache cache({.group = 4, .residual = 4, .channels = 4});
  const std::vector<double> three(3), four(4), eight(8);
  EXPECT_THROW(cache.append(0, three, three), InputError);
  EXPECT_THROW(cache.append(0, four, eight), InputError);
  EXPECT_THROW(cache.append(1, four, four), InputError);
  cache.append(0, {}, {});
  EXPECT_EQ(cache.tokens(0), 0);
  EXPECT_TRUE(cache.keys(0).empty());
}

TEST(KvCache, ColumnMeans) {
  const std::vector<double> rows = {1, 65504, 0x1p-24, -0.0, 2, 65504, 0, 0.0, 4, 65504, 0, -0.0};
  const std::vector<double> means = recipes::column_means({3, 4, rows}, spec_of("f16"));
  EXPECT_EQ(means, (std::vector<double>{0x1.2acp+1, 65504, 0, 0}));  // 7/3, no overflow on the way, 2^-24/3
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(recipes::column_means({2, 1, std::vector<double>{inf, 1}}, spec_of("f16"))[0], inf);
  EXPECT_TRUE(std::isnan(recipes::column_means({2, 1, std::vector<double>{inf, -inf}}, spec_of("f16"))[0]));
}

}  // namespace
}  // namespace halfulp::test
