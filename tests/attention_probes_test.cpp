// Probes of attention: every proof holds, every legitimate kernel gives the forced answers, and the ideal
// softmax agrees.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "../vectors/mutants/attention_kernel.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/probes.hpp"
#include "halfulp/vectors/attention/judge.hpp"
#include "halfulp/vectors/attention/kernels.hpp"
#include "halfulp/vectors/attention/rows.hpp"

namespace halfulp {
namespace {

using namespace attention;
using vectors::AttentionPlan;

/// Softmax attention of the codes in long double: no tiles, no casts.
std::vector<long double> ideal(const KernelSpec& spec, const Case& c) {
  const Gathered g = gathered(spec, c);
  const Shape& s = g.shape;
  const FormatSpec q = format_named(spec.q_format), k = format_named(spec.k_format),
                   v = format_named(spec.v_format);
  const std::size_t group = s.query_heads / s.kv_heads;
  std::vector<long double> O;
  for (std::size_t row = 0; row < s.query_heads * s.queries; ++row) {
    const std::size_t head = row / s.queries, kv = head / group;
    std::vector<long double> exponents(s.keys, -INFINITY);
    long double most =
        g.sink.empty() ? -INFINITY : static_cast<long double>(g.sink[head]) * g.logit_scale[head];
    for (std::size_t key = 0; key < s.keys; ++key) {
      if (!is_visible(spec, s, row % s.queries, key)) continue;
      long double score = 0;
      for (std::size_t d = 0; d < s.head_dim; ++d)
        score += static_cast<long double>(value_of(q, g.q[row * s.head_dim + d])) *
                 value_of(k, g.k[(kv * s.keys + key) * s.head_dim + d]);
      if (spec.softcap) score = spec.softcap->cap * std::tanh(score * spec.softcap->scale);
      exponents[key] = score * g.logit_scale[head];
      most = std::max(most, exponents[key]);
    }
    long double sum =
        g.sink.empty() ? 0 : std::exp2(static_cast<long double>(g.sink[head]) * g.logit_scale[head] - most);
    for (const long double x : exponents) sum += std::isinf(x) ? 0 : std::exp2(x - most);
    for (std::size_t d = 0; d < s.value_dim; ++d) {
      long double o = 0;
      for (std::size_t key = 0; key < s.keys; ++key) {
        if (!std::isinf(exponents[key]))
          o += std::exp2(exponents[key] - most) * value_of(v, g.v[(kv * s.keys + key) * s.value_dim + d]);
      }
      O.push_back(sum == 0 ? 0 : o / sum * c.v_scale[kv]);
    }
  }
  return O;
}

std::vector<std::string> specs() {
  std::vector<std::string> list;
  for (const Preset& preset : presets()) list.push_back(preset.spec.name);
  for (const char* preset : {"fa3_like", "sage_like", "flashinfer_like", "fa4_like", "no_prescale"}) {
    for (const char* more : {",out=bf16", ",out=e4m3", ",causal=yes", ",window=20:3,visible_prefix=4",
                             ",causal=yes,window=40:0", ",softcap=50:0.02", ",split=128",
                             ",tile=32,split=0", ",order=ascending,lanes=1", ",sum_of=quantized"})
      list.push_back(std::string(preset) + more);
  }
  return list;
}

const Frame kFrame{.page_size = 16, .sinks = true};

TEST(AttentionProbes, TheReferenceKernelAndTheSmallOneGiveWhatIsForced) {
  for (const std::string& text : specs()) {
    const KernelSpec spec = parse_spec(text);
    AttentionPlan plan;
    plan.kernel = spec;
    plan.frame = kFrame;
    plan.stages = true;
    std::vector<vectors::AttentionAnswer> answers;
    vectors::ClaimTally claims;
    const std::vector<Probe> list = probes(spec, kFrame);
    for (const Probe& probe : list) {
      const Gathered given = gathered(spec, probe.input);
      const Stages stages = run(spec, given.problem(), Keep::all);
      answers.push_back(vectors::answer_of(plan, stages));
      EXPECT_EQ(answers.back(), vectors::answer_of(plan, vectors::run_with(spec, given.problem(), {})))
          << text << " " << probe.kind << " " << probe.title;
      claims.add(vectors::judge_probe(
          plan, probe, answers.back(),
          probe.same_as < 0 ? nullptr : &answers[static_cast<std::size_t>(probe.same_as)]));
    }
    EXPECT_EQ(claims.violated, 0u) << text << ": " << claims.first;
    EXPECT_GT(claims.forced, 100u) << text;
  }
}

TEST(AttentionProbes, ClaimsAreWhatSoftmaxGivesWithoutAnyRounding) {
  std::uint64_t claims = 0;
  for (const std::string& text : specs()) {
    const KernelSpec spec = parse_spec(text);
    for (const Probe& probe : probes(spec, kFrame)) {
      if (probe.kind == "rounded_weights") continue;  // claims what the casts of P make of it
      const std::vector<long double> O = ideal(spec, probe.input);
      for (std::size_t i = 0; i < O.size(); ++i) {
        if (!probe.output[i].made) continue;
        ++claims;
        const long double room = 1e-12L * (1 + std::fabs(O[i]));
        EXPECT_GE(O[i], probe.output[i].low - room)
            << text << " " << probe.kind << " " << probe.title << " " << i;
        EXPECT_LE(O[i], probe.output[i].high + room)
            << text << " " << probe.kind << " " << probe.title << " " << i;
      }
    }
  }
  EXPECT_GT(claims, 10000u);
}

/// More rows or heads than channels, odd counts, groups of every size: what a probe asks of one row it must not take from another.
TEST(AttentionProbes, ClaimsHoldInEveryShape) {
  const std::array<std::size_t, 5> shapes[] = {{4, 2, 3, 8, 4}, {16, 2, 2, 8, 4},  {10, 2, 2, 8, 4}, {8, 2, 2, 11, 4}, {12, 3, 5, 9, 5},
                                               {6, 6, 7, 8, 6}, {32, 4, 2, 64, 4}, {4, 2, 40, 8, 4}, {8, 8, 2, 13, 7}, {8, 2, 1, 8, 4}};
  std::uint64_t claims = 0;
  for (const char* text : {"reference", "fa3_like,causal=yes", "sage_like,window=20:3,visible_prefix=4", "no_prescale"}) {
    const KernelSpec spec = parse_spec(text);
    std::set<std::string> all;
    for (const Probe& probe : probes(spec, kFrame)) all.insert(probe.kind);
    for (const auto& [heads, kv_heads, queries, head_dim, value_dim] : shapes) {
      Frame frame = kFrame;
      frame.shape = {.query_heads = heads, .kv_heads = kv_heads, .queries = queries, .keys = 320, .head_dim = head_dim, .value_dim = value_dim};
      AttentionPlan plan;
      plan.kernel = spec;
      plan.frame = frame;
      std::set<std::string> kinds;
      for (const Probe& probe : probes(spec, frame)) {
        kinds.insert(probe.kind);
        const Gathered given = gathered(spec, probe.input);
        const auto answer = vectors::answer_of(plan, run(spec, given.problem(), Keep::output));
        const vectors::ClaimTally tally = vectors::judge_probe(plan, probe, answer, nullptr);
        EXPECT_EQ(tally.violated, 0u) << text << " " << heads << ":" << kv_heads << " " << queries << " " << head_dim << ": " << tally.first;
        if (probe.kind == "rounded_weights") continue;
        const std::vector<long double> O = ideal(spec, probe.input);
        for (std::size_t i = 0; i < O.size(); ++i) {
          if (!probe.output[i].made) continue;
          ++claims;
          const long double room = 1e-12L * (1 + std::fabs(O[i]));
          ASSERT_GE(O[i], probe.output[i].low - room) << text << " " << heads << ":" << kv_heads << " " << probe.kind << " " << probe.title << " " << i;
          ASSERT_LE(O[i], probe.output[i].high + room) << text << " " << heads << ":" << kv_heads << " " << probe.kind << " " << probe.title << " " << i;
        }
      }
      if (head_dim % 4 != 0 || head_dim > 16) kinds.insert("permutation");  // needs a symmetric sum
      EXPECT_EQ(kinds, all) << text << " " << heads << ":" << kv_heads << " " << queries << " " << head_dim;
    }
  }
  EXPECT_GT(claims, 50'000u);
}

/// Where the arithmetic is open, what reciprocals of hardware may be off is no violation, and what is far off is one.
TEST(AttentionProbes, OpenArithmeticWidensClaimsOnO) {
  AttentionPlan plan = vectors::parse_attention_spec("attention:no_prescale,order=unknown,sinks=yes,causal=yes");
  const vectors::AttentionRows rows = vectors::attention_rows(plan, vectors::Level::specials, 0);
  const auto answers = vectors::reference_answers(plan, rows.cases, 1);
  for (const auto& [factor, accused] : {std::pair{1 + 0x1p-22f, false}, {1 - 0x1p-22f, false}, {1 + 0x1p-12f, true}}) {
    vectors::ClaimTally tally;
    for (std::size_t i = 0; i < rows.probes.size(); ++i) {
      if (rows.probes[i].same_as >= 0) continue;
      vectors::AttentionAnswer answer = vectors::answer_of(plan, answers[i]);
      for (std::uint32_t& word : answer.back()) word = std::bit_cast<std::uint32_t>(std::bit_cast<float>(word) * factor);
      tally.add(vectors::judge_probe(plan, rows.probes[i], answer, nullptr));
    }
    EXPECT_EQ(tally.violated > 0, accused) << factor << ": " << tally.first;
  }
}

TEST(AttentionProbes, EveryProofIsThereAndItsInequalitiesHold) {
  std::map<std::string, int> kinds;
  for (const std::string& text : specs()) {
    for (const Probe& probe : probes(parse_spec(text), kFrame)) {
      ++kinds[probe.kind];
      EXPECT_FALSE(probe.proof.empty()) << probe.kind;
      EXPECT_FALSE(probe.fails.empty()) << probe.kind;
      EXPECT_TRUE(!probe.checks.empty() || probe.kind == "no_keys") << probe.kind;
      for (const Inequality& line : probe.checks)
        EXPECT_TRUE(line.holds()) << probe.kind << ": " << line.text;
    }
  }
  const std::set<std::string> rows = {"one_key",    "one_hot",      "equal_scores",    "integer_scores",
                                      "no_keys",    "permutation",  "ones_equal",      "ones_any",
                                      "far_keys",   "late_maximum", "rounded_weights", "scale_witness",
                                      "mask_edges", "sink",         "soft_cap"};
  for (const std::string& kind : rows) EXPECT_GT(kinds[kind], 0) << kind;
}

/// No probe is lost without notice: those of the preset of each family, by count.
TEST(AttentionProbes, WhichProbesHoldForWhichFamily) {
  const auto count = [](const char* text, const char* kind) {
    int n = 0;
    for (const Probe& probe : probes(parse_spec(text), kFrame)) n += probe.kind == kind ? 1 : 0;
    return n;
  };
  for (const char* family :
       {"fa3_like", "fa4_like", "flashinfer_like", "sage_like", "flashinfer_like_e5m2"}) {
    EXPECT_EQ(count(family, "one_hot"), 2) << family;
    EXPECT_EQ(count(family, "equal_scores"), 3) << family;
    EXPECT_EQ(count(family, "late_maximum"), 3) << family;
    EXPECT_EQ(count(family, "scale_witness"), 3) << family;
    EXPECT_EQ(count(family, "far_keys"), 1) << family;
  }
  EXPECT_EQ(count("no_prescale", "far_keys"), 0);          // 2^-10 ties to zero
  EXPECT_EQ(count("fa4_like_faulty", "late_maximum"), 0);  // its own threshold lets P saturate
  EXPECT_EQ(count("sage_like_f16", "equal_scores"), 2);    // 256 keys overflow float16
  EXPECT_EQ(count("fa3_like,causal=yes", "mask_edges"), 3);
  EXPECT_EQ(count("fa3_like,window=20:3,visible_prefix=4", "mask_edges"), 6);
}

TEST(AttentionProbes, AStaleMaximumIsCaughtWithoutKnowingTheKernel) {
  for (const char* mask : {"", ",causal=yes"}) {
    const KernelSpec stated = parse_spec(std::string("fa4_like,out=e4m3") + mask), faulty = parse_spec(std::string("fa4_like_faulty,out=e4m3") + mask);
    for (const std::size_t queries : {1u, 2u, 3u, 4u, 8u}) {
      AttentionPlan plan;
      plan.kernel = stated;
      plan.frame.shape.queries = queries;
      std::uint64_t violated = 0;
      for (const Probe& probe : probes(stated, plan.frame)) {
        if (probe.kind != "late_maximum") continue;
        const auto answer = vectors::answer_of(plan, run(faulty, gathered(faulty, probe.input).problem()));
        violated += vectors::judge_probe(plan, probe, answer, nullptr).violated;
      }
      EXPECT_GT(violated, 0u) << mask << " " << queries;
    }
  }
}

/// Masks under which no row sees all keys: the claims of the mask probes hold the V scales.
TEST(AttentionProbes, ADroppedVScaleIsSeenUnderEveryMask) {
  for (const char* mask : {"window=0:0", "window=100:-1", "causal=yes,window=3:0", "window=0:0,causal=yes,visible_prefix=4"}) {
    const AttentionPlan plan = vectors::parse_attention_spec(std::string("attention:any,out=bf16,") + mask);
    const vectors::AttentionRows rows = vectors::attention_rows(plan, vectors::Level::specials, 0);
    std::uint64_t violated = 0;
    for (std::size_t i = 0; i < rows.cases.size(); ++i) {
      Case c = rows.cases[i];
      std::ranges::fill(c.v_scale, 1.0f);
      const auto answer = vectors::answer_of(plan, run(plan.kernel, gathered(plan.kernel, c).problem()));
      if (rows.probes[i].same_as < 0) violated += vectors::judge_probe(plan, rows.probes[i], answer, nullptr).violated;
    }
    EXPECT_GT(violated, 0u) << mask;
  }
}

TEST(AttentionProbes, KiviGroupsOfEverySequenceReadBackExactly) {
  const KernelSpec spec = parse_spec(
      "reference,qk_model=hopper_f16,pv_model=hopper_f16,q_format=f16,k_format=f16,p_format=f16,v_format="
      "f16,offset=0,out=f16");
  AttentionPlan plan;
  plan.kernel = spec;
  plan.cache = vectors::AttentionCache::kivi_k;
  std::vector<Probe> list = kivi_probes(spec);
  ASSERT_EQ(list.size(), 6u);
  std::vector<Case> cases;
  for (const Probe& probe : list) cases.push_back(probe.input);
  EXPECT_EQ(vectors::through_cache(plan, cases), cases);
  EXPECT_NE(vectors::through_cache(plan, cases, true), cases);
  for (const Probe& probe : list)
    EXPECT_EQ(vectors::judge_probe(
                  plan, probe, vectors::answer_of(plan, run(spec, gathered(spec, probe.input).problem())),
                  nullptr)
                  .violated,
              0u)
        << probe.title;
}

TEST(AttentionProbes, FramesThatDoNotHoldThemAreRefused) {
  Frame small;
  small.shape.keys = 64;
  EXPECT_THROW(probes(parse_spec("fa3_like"), small), InputError);
  Frame large;
  large.shape = {
      .query_heads = 6, .kv_heads = 3, .queries = 3, .keys = 400, .head_dim = 16, .value_dim = 5};
  AttentionPlan plan;
  plan.kernel = parse_spec("fa3_like");
  plan.frame = large;
  for (const Probe& probe : probes(plan.kernel, large))
    EXPECT_EQ(vectors::judge_probe(
                  plan, probe,
                  vectors::answer_of(plan, run(plan.kernel, gathered(plan.kernel, probe.input).problem())),
                  nullptr)
                  .violated,
              0u)
        << probe.kind;
}

}  // namespace
}  // namespace halfulp
