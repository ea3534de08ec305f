// The reference kernel: the same bits at every level, thread count and split of work; masks, heads, special values, lessons.
#include "halfulp/attention/kernel.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "attention_problems.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"

namespace halfulp::test {
namespace {

using namespace attention;  // NOLINT: the subject

constexpr std::uint32_t kNan = 0x7fffffff, kOne = 0x3f800000;
std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float number(std::uint32_t word) { return std::bit_cast<float>(word); }

Stages run_all(const KernelSpec& spec, const OwnedProblem& p, unsigned threads = 1) { return run(spec, p.view(), Keep::all, threads); }

/// One head of one channel: the codes of K are the scores under q = 1.
OwnedProblem scores_of(std::vector<std::uint32_t> k, std::vector<std::uint32_t> v, std::size_t queries = 1) {
  OwnedProblem p;
  p.shape = {1, 1, queries, k.size(), 1, k.empty() ? 1 : v.size() / k.size()};
  p.q.assign(queries, 0x38);
  p.k = std::move(k);
  p.v = std::move(v);
  return p;
}

TEST(AttentionKernel, EveryLevelAndThreadCountGivesTheSameBits) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    AttentionMaker maker(seed);
    const KernelSpec spec = maker.spec();
    Shape shape = maker.shape();
    if (seed % 10 == 0) shape.queries = 70 + seed % 3;  // more than one block of rows
    const OwnedProblem p = maker.problem(spec, shape, seed % 2 == 0);
    if (!set_simd_level("SCALAR")) {  // built for one level
      ASSERT_TRUE(set_simd_level(simd_targets().back()));
    }
    const Stages expected = run_all(spec, p);
    for (const std::string_view level : simd_targets()) {
      ASSERT_TRUE(set_simd_level(level));
      EXPECT_EQ(first_difference(run_all(spec, p, seed % 4 == 0 ? 3 : 1), expected), "") << seed << " " << level << " " << text_of(spec);
      ++compared;
    }
    set_simd_level("");
    const Stages output = run(spec, p.view());
    EXPECT_EQ(output.O, expected.O);
    EXPECT_EQ(output.row_sum, expected.row_sum);
    EXPECT_EQ(output.m_last, expected.m_last);
    EXPECT_TRUE(output.S.empty() && output.O_tile.empty());
  }
  EXPECT_GE(compared, 60u);
}

/// What one row alone sees of masks, by the words of the documentation.
bool sees(const KernelSpec& spec, const Shape& shape, std::size_t query, std::size_t key) {
  const auto j = static_cast<std::int64_t>(key), place = static_cast<std::int64_t>(query) +
                                                         static_cast<std::int64_t>(shape.keys) -
                                                         static_cast<std::int64_t>(shape.queries);
  const bool in_window = !spec.window || (place - spec.window->before <= j && j <= place + spec.window->after) || j < spec.visible_prefix;
  return in_window && (!spec.causal || j <= place);
}

TEST(AttentionKernel, MaskedKeysAreNeverUsed) {
  std::size_t masked = 0, rows = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    AttentionMaker maker(seed + 1000);
    KernelSpec spec = maker.spec();
    if (spec.q_format == "int8") continue;
    if (!spec.causal && !spec.window) spec.causal = true;
    Shape shape = maker.shape();
    shape.keys += 3;
    const OwnedProblem clean = maker.problem(spec, shape, false);
    const Stages expected = run_all(spec, clean);
    for (std::size_t query = 0; query < shape.queries; ++query) {  // NaN wherever this query does not look
      OwnedProblem p = clean;
      const auto nan_of = [](const std::string& format) { return static_cast<std::uint32_t>(find_format(format)->spec.magnitude_mask()); };
      for (std::size_t h = 0; h < shape.kv_heads; ++h) {
        for (std::size_t key = 0; key < shape.keys; ++key) {
          if (sees(spec, shape, query, key)) continue;
          ++masked;
          for (std::size_t d = 0; d < shape.head_dim; ++d) p.k[(h * shape.keys + key) * shape.head_dim + d] = nan_of(spec.k_format);
          for (std::size_t d = 0; d < shape.value_dim; ++d) p.v[(h * shape.keys + key) * shape.value_dim + d] = nan_of(spec.v_format);
        }
      }
      const Stages got = run_all(spec, p);
      for (std::size_t h = 0; h < shape.query_heads; ++h) {
        const std::size_t row = h * shape.queries + query;
        ++rows;
        for (std::size_t d = 0; d < shape.value_dim; ++d)
          ASSERT_EQ(got.O[row * shape.value_dim + d], expected.O[row * shape.value_dim + d])
              << seed << text_of(spec);
        ASSERT_EQ(got.row_sum[row], expected.row_sum[row]);
        for (std::size_t key = 0; key < shape.keys; ++key) {
          const std::size_t at = row * shape.keys + key;
          ASSERT_EQ(got.S[at], expected.S[at]);
          if (!sees(spec, shape, query, key)) {
            ASSERT_EQ(got.S[at] | got.t[at] | got.P[at] | got.P_code[at], 0u);
          }
        }
      }
    }
  }
  EXPECT_GT(masked, 1000u);
  EXPECT_GT(rows, 300u);
}

TEST(AttentionKernel, HeadsShareTheirKvHead) {
  for (const std::size_t ratio : {1u, 2u, 3u, 7u}) {
    AttentionMaker maker(ratio);
    const KernelSpec spec = parse_spec("fa3_like,tile=16,causal=yes");
    const Shape shape = {2 * ratio, 2, 3, 40, 33, 5};
    OwnedProblem p = maker.problem(spec, shape, false);
    p.logit_scale.clear();
    p.v_scale.clear();
    for (std::size_t h = 0; h < 2 * ratio; ++h) p.logit_scale.push_back(0.25f + static_cast<float>(h));
    p.v_scale = {0.5f, 3.0f};
    const Stages all = run_all(spec, p);
    for (std::size_t h = 0; h < 2 * ratio; ++h) {
      OwnedProblem one;
      one.shape = {1, 1, 3, 40, 33, 5};
      const std::size_t kv = h / ratio;
      one.q.assign(p.q.begin() + static_cast<long>(h * 3 * 33), p.q.begin() + static_cast<long>((h + 1) * 3 * 33));
      one.k.assign(p.k.begin() + static_cast<long>(kv * 40 * 33), p.k.begin() + static_cast<long>((kv + 1) * 40 * 33));
      one.v.assign(p.v.begin() + static_cast<long>(kv * 40 * 5), p.v.begin() + static_cast<long>((kv + 1) * 40 * 5));
      one.logit_scale = {p.logit_scale[h]};
      one.v_scale = {p.v_scale[kv]};
      if (!p.sink.empty()) one.sink = {p.sink[h]};
      const Stages alone = run_all(spec, one);
      EXPECT_TRUE(std::equal(alone.O.begin(), alone.O.end(), all.O.begin() + static_cast<long>(h * 3 * 5))) << ratio << " " << h;
    }
  }
}

TEST(AttentionKernel, NothingToSee) {
  for (const char* text : {"reference", "fa3_like", "flashinfer_like", "sage_like", "reference,split=64"}) {
    const KernelSpec spec = parse_spec(text);
    OwnedProblem p;
    p.shape = {2, 1, 3, 0, 4, 2};
    p.q.assign(2 * 3 * 4, 0x38);
    const Stages empty = run_all(spec, p);
    EXPECT_EQ(empty.tiles, 0u);
    EXPECT_EQ(empty.O, std::vector<std::uint32_t>(12, 0)) << text;
    EXPECT_EQ(empty.row_sum, std::vector<std::uint32_t>(6, 0));
    EXPECT_EQ(empty.m_last, std::vector<std::uint32_t>(6, 0xff800000));
    p.sink = {1.0f, -2.0f};  // all weight on the sink, which has no V
    const Stages sink = run_all(spec, p);
    EXPECT_EQ(sink.O, std::vector<std::uint32_t>(12, 0));
    EXPECT_EQ(sink.row_sum[0], bits(std::exp2(spec.offset))) << text;
  }
  KernelSpec causal = parse_spec("reference,causal=yes,tile=2");  // five queries, three keys: queries 0 and 1 see none
  const Stages got = run_all(causal, scores_of({0x38, 0x38, 0x38}, {0x40, 0x40, 0x7f}, 5));
  EXPECT_EQ(got.O, (std::vector<std::uint32_t>{0, 0, 0x40000000, 0x40000000, kNan}));
  EXPECT_EQ(got.row_sum[1], 0u);
}

TEST(AttentionKernel, OneTokenGivesItsV) {
  for (const Preset& preset : presets()) {
    const KernelSpec& spec = preset.spec;
    if (spec.prescale || spec.offset != std::floor(spec.offset)) continue;  // 448 and 8.807: not a power of two
    for (std::uint32_t code = 0; code < 256; ++code) {
      if ((code & 0x7f) == 0x7f) continue;
      const Stages got = run_all(spec, scores_of({0x44}, {code}));
      const FormatSpec e4m3 = spec_of("e4m3");
      const auto expected = static_cast<std::uint32_t>(cast(e4m3, code == 0x80 ? 0 : code, spec_of("f32"), CastPolicy{}).code);
      ASSERT_EQ(got.O[0], expected) << spec.name << " " << code;
    }
  }
}

TEST(AttentionKernel, SpecialValues) {
  const KernelSpec spec = parse_spec("reference,qk_model=hopper_f16,q_format=f16,k_format=f16,tile=2");
  const std::uint32_t one = 0x3c00, inf = 0x7c00, nan = 0x7e00;
  for (const std::uint32_t bad : {inf, inf | 0x8000u, nan}) {
    OwnedProblem p;
    p.shape = {1, 1, 2, 5, 1, 1};
    p.q = {one, bad};
    p.k = {one, one, one, one, one};
    p.v = {0x38, 0x38, 0x38, 0x38, 0x38};
    const Stages q = run_all(spec, p);  // one bad row beside a good one
    EXPECT_EQ(q.O, (std::vector<std::uint32_t>{kOne, kNan}));
    EXPECT_EQ(q.row_sum[1], kNan);
    EXPECT_EQ(q.m_last[1], kNan);
    p.q = {one, one};
    p.k[2] = bad;  // NaN from its tile on
    const Stages k = run_all(spec, p);
    EXPECT_EQ(k.O, (std::vector<std::uint32_t>{kNan, kNan})) << std::hex << bad;
    EXPECT_EQ(k.m[0], kOne);
    EXPECT_EQ(k.m[1], kNan);
    EXPECT_EQ(k.m[2], kNan);
    EXPECT_EQ(k.P_code[3], 0x7fu);
    const std::pair<const char*, std::uint32_t> outs[] = {{"bf16", 0x7fc0}, {"f16", 0x7e00}, {"e4m3", 0x7f}, {"e5m2", 0x7e}};
    for (const auto& [out, code] : outs) {
      KernelSpec other = spec;
      other.out = out;
      EXPECT_EQ(run_all(other, p).O[0], code) << out;
    }
  }
  OwnedProblem p = scores_of({0x38, 0x38}, {0x38, 0x30, 0x38, 0x7f});  // a NaN in one channel of V
  EXPECT_EQ(run_all(parse_spec("reference"), p).O, (std::vector<std::uint32_t>{kOne, kNan}));
  p.v_scale = {std::numeric_limits<float>::infinity(), 1.0f};
  EXPECT_EQ(run_all(parse_spec("reference"), p).O, (std::vector<std::uint32_t>{0x7f800000, kNan}));
}

TEST(AttentionKernel, SplitsThatNeedNoRoundingChangeNothing) {
  // Scores are 0 or one hot key far above: all sums are exact, so parts, tiles, orders and lanes give the same O.
  std::vector<std::uint32_t> k(64, 0), v(64);
  for (std::size_t i = 0; i < 64; ++i) v[i] = i % 3 == 0 ? 0x38 : i % 3 == 1 ? 0xb8 : 0x40;
  std::vector<std::uint32_t> hot = k;
  hot[37] = 0x7a;  // 320
  for (const auto* scores : {&k, &hot}) {
    const std::uint32_t expected = run_all(parse_spec("reference"), scores_of(*scores, v)).O[0];
    for (const char* text : {"reference,tile=8,split=8", "reference,tile=8,split=24",
                             "reference,tile=16,split=32,order=descending,lanes=4",
                             "fa3_like,tile=4,split=8", "reference,tile=64,split=64",
                             "reference,tile=64,split=128", "reference,tile=16,pv=two_level,interval=3"}) {
      EXPECT_EQ(run_all(parse_spec(text), scores_of(*scores, v)).O[0], expected) << text;
    }
  }
  EXPECT_EQ(run_all(parse_spec("reference,tile=8,split=8"), scores_of(hot, v)).m_last[0], bits(320.0f));
}

TEST(AttentionKernel, LessonOfTheStaleMaximum) {  // scores 0 then 3 above, V 0 then 1: P = 2^11 saturates at 448
  std::vector<std::uint32_t> k(256, 0), v(256, 0);
  for (std::size_t i = 128; i < 256; ++i) k[i] = 0x44, v[i] = 0x38;
  const OwnedProblem p = scores_of(k, v);
  EXPECT_EQ(run_all(parse_spec("fa4_like_faulty"), p).O[0], bits(448.0f / 2304.0f));
  EXPECT_NEAR(number(run_all(parse_spec("fa4_like"), p).O[0]), 8.0f / 9.0f, 1e-7f);
  EXPECT_EQ(run_all(parse_spec("fa4_like,out=e4m3"), p).O[0], 0x36u);  // 0.875
  EXPECT_EQ(run_all(parse_spec("fa4_like_faulty"), p).m_last[0], 0u);
}

TEST(AttentionKernel, TheStaleRuleHoldsUpToItsThreshold) {
  const OwnedProblem p = scores_of({0x00, 0x44, 0x4c}, {0x38, 0x38, 0x38});  // 0, 3, 6: one tile each
  const auto maxima = [&](const char* text) { return run_all(parse_spec(text), p).m; };
  const std::uint32_t three = bits(3), six = bits(6);
  EXPECT_EQ(maxima("reference,tile=1"), (std::vector<std::uint32_t>{0, three, six}));
  EXPECT_EQ(maxima("reference,tile=1,threshold=2.5"), (std::vector<std::uint32_t>{0, three, six}));
  EXPECT_EQ(maxima("reference,tile=1,threshold=3"), (std::vector<std::uint32_t>{0, 0, six}));  // a gap of T stays
  EXPECT_EQ(maxima("reference,tile=1,threshold=6"), (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(maxima("reference,tile=1,threshold=6,order=descending"), (std::vector<std::uint32_t>{six, six, six}));
  EXPECT_EQ(run_all(parse_spec("reference,tile=1,threshold=3"), p).alpha, (std::vector<std::uint32_t>{kOne, kOne, bits(0x1p-6f)}));
}

TEST(AttentionKernel, LessonOfThePrescale) {
  std::vector<std::uint32_t> k(1025, 0xd2), v(1025, 0x38);  // 0 once, -10 1024 times
  k[0] = 0;
  EXPECT_EQ(run_all(parse_spec("no_prescale"), scores_of(k, v)).O[0], bits(0.5f));
  EXPECT_EQ(run_all(parse_spec("reference"), scores_of(k, v)).O[0], kOne);
  OwnedProblem p = scores_of(k, v);
  EXPECT_EQ(run_all(parse_spec("flashinfer_like,out=bf16"), p).O[0], 0x43e0u);  // the prescale of 448 stays in O ...
  p.v_scale = {number(0x3b124925)};                                             // ... until v_scale takes it out: 1/448
  EXPECT_EQ(run_all(parse_spec("flashinfer_like,out=bf16"), p).O[0], 0x3f80u);
}

TEST(AttentionKernel, SoftCapActsOnTheScoreBeforeTheLogitScale) {
  KernelSpec spec = parse_spec("reference,softcap=4:0.25");
  OwnedProblem p = scores_of({0x40, 0x54, 0xd4}, {0x38, 0x38, 0x38});  // 2, 12, -12
  p.logit_scale = {0.5f};
  const Stages got = run_all(spec, p);
  const float capped[] = {4 * tanh_fma(0.5f), 4 * tanh_fma(3.0f), -4 * tanh_fma(3.0f)};
  EXPECT_EQ(got.S, (std::vector<std::uint32_t>{0x40000000, 0x41400000, 0xc1400000}));
  EXPECT_EQ(got.m_last[0], bits(capped[1]));
  const float b = std::fma(-capped[1], 0.5f, 8.0f);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(got.t[i], bits(std::fma(capped[i], 0.5f, b)));
}

TEST(AttentionKernel, SinkIsAKeyWithoutV) {
  OwnedProblem p = scores_of({0x40, 0x40}, {0x38, 0x38});
  p.sink = {2.0f};
  const KernelSpec spec = parse_spec("reference,tile=1");
  EXPECT_EQ(run_all(spec, p).row_sum[0], bits(768.0f));
  EXPECT_NEAR(number(run_all(spec, p).O[0]), 2.0f / 3.0f, 1e-7f);
  p.sink = {3.0f};  // above all scores: it sets the maximum
  EXPECT_EQ(run_all(spec, p).m_last[0], bits(3.0f));
  EXPECT_EQ(run_all(spec, p).row_sum[0], bits(512.0f));
  p.sink = {0.0f};  // below: its weight is rescaled in the first tile
  EXPECT_EQ(run_all(spec, p).row_sum[0], bits(64.0f + 512.0f));
  EXPECT_EQ(run_all(spec, p).alpha[0], bits(0.25f));
}

TEST(AttentionKernel, SizesThatAreNoMultipleOfAChunk) {
  for (const std::size_t dim : {1u, 31u, 32u, 33u, 80u, 127u}) {  // Q = K = ones: S is the head size, exactly
    OwnedProblem p;
    p.shape = {1, 1, 1, 3, dim, 2};
    p.q.assign(dim, 0x38);
    p.k.assign(3 * dim, 0x38);
    p.v.assign(6, 0x40);
    for (const char* text : {"reference", "reference,qk_model=hopper_fp8_mma_sync", "fa4_like", "reference,tile=2"}) {
      const Stages got = run_all(parse_spec(text), p);
      EXPECT_EQ(got.S, std::vector<std::uint32_t>(3, bits(static_cast<float>(dim))));
      EXPECT_EQ(got.O, std::vector<std::uint32_t>(2, 0x40000000));
    }
  }
}

TEST(AttentionKernel, Refusals) {
  const KernelSpec spec = parse_spec("reference");
  const OwnedProblem good = scores_of({0x38, 0x38}, {0x38, 0x38});
  const auto refused = [&](auto change) {
    OwnedProblem p = good;
    change(p);
    EXPECT_THROW(run(spec, p.view()), InputError);
  };
  EXPECT_NO_THROW(run(spec, good.view()));
  refused([](OwnedProblem& p) { p.q.pop_back(); });
  refused([](OwnedProblem& p) { p.k.push_back(0); });
  refused([](OwnedProblem& p) { p.v.clear(); });
  refused([](OwnedProblem& p) { p.k[1] = 0x138; });
  refused([](OwnedProblem& p) { p.shape.kv_heads = 0; });
  refused([](OwnedProblem& p) { p.shape.head_dim = 0; });
  refused([](OwnedProblem& p) { p.logit_scale = {1, 1, 1}; });
  refused([](OwnedProblem& p) { p.logit_scale = {0}; });
  refused([](OwnedProblem& p) { p.logit_scale = {-1}; });
  refused([](OwnedProblem& p) { p.logit_scale = {std::nanf("")}; });
  refused([](OwnedProblem& p) { p.v_scale = {1, 1, 1}; });
  refused([](OwnedProblem& p) { p.sink = {1, 1}; });
  refused([](OwnedProblem& p) { p.sink = {-std::numeric_limits<float>::infinity()}; });
  OwnedProblem p = good;
  p.shape.query_heads = 3, p.shape.kv_heads = 2;
  EXPECT_THROW(run(spec, p.view()), InputError);
}

}  // namespace
}  // namespace halfulp::test
