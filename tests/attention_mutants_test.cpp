// The kill matrix of attention: every mutant is killed by the pack of the SPEC it claims to follow; what
// needs no knowledge of the kernel kills most; data with a tolerance, the public practice, misses many.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "generated_document.hpp"
#include "halfulp/vectors/attention/verify.hpp"

namespace halfulp::vectors {
namespace {

using attention::Case;

struct Pack {
  AttentionPlan plan;
  AttentionRows rows;
  std::vector<AttentionAnswer> expected;
  std::vector<Case> normal;  ///< N(0, 1) data, as many rows
  std::vector<AttentionAnswer> normal_expected;
};

std::vector<AttentionAnswer> answers(const AttentionPlan& plan, const std::vector<Case>& cases) {
  return attention_kernel("halfulp")(plan, cases);
}

const Pack& pack_of(const std::string& spec) {
  static std::map<std::string, Pack> known;
  const auto found = known.find(spec);
  if (found != known.end()) return found->second;
  Pack pack;
  pack.plan = parse_attention_spec(spec);
  pack.rows = attention_rows(pack.plan, Level::stratified, 0);
  pack.expected = answers(pack.plan, pack.rows.cases);
  pack.normal = normal_cases(pack.plan, pack.rows.cases.size(), 1);
  pack.normal_expected = answers(pack.plan, pack.normal);
  return known.emplace(spec, std::move(pack)).first->second;
}

/// Largest and mean square difference of O; infinite where a NaN stands on one side.
struct Distance {
  double largest = 0, mean_square = 0;
};
Distance distance(const AttentionPlan& plan, const std::vector<AttentionAnswer>& want,
                  const std::vector<AttentionAnswer>& got) {
  const FormatSpec& out = attention::format_named(plan.kernel.out);
  Distance d;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t row = 0; row < want.size(); ++row) {
    for (std::size_t i = 0; i < want[row].back().size(); ++i, ++count) {
      const double x = static_cast<double>(attention::value_of(out, want[row].back()[i])),
                   y = static_cast<double>(attention::value_of(out, got[row].back()[i]));
      const double off = x != x || y != y ? (x != x && y != y ? 0 : HUGE_VAL) : std::fabs(x - y);
      d.largest = std::max(d.largest, off);
      sum += off * off;
    }
  }
  d.mean_square = sum / static_cast<double>(count);
  return d;
}

constexpr char kHead[] =
    "# Kill matrix of attention\n\n"
    "Printed by `tests/attention_mutants_test.cpp`; the test fails when this file differs from what it "
    "would print.\n\n"
    "A mutant is an attention kernel that is wrong in a way seen in real code, or that follows another "
    "SPEC than it says. The pack of a SPEC is\n"
    "its order-free probes and 4 rows of random data. *claims*: probes whose claim it breaks, which needs "
    "no tolerance and no knowledge of tiles,\n"
    "order or split. *bits*: rows of the pack whose O differs from the reference kernel. Beside it the "
    "public practice: as many rows of N(0, 1)\n"
    "data with scales of 1, no padding, judged by a largest error of 0.15, and by a mean square error "
    "below 1.0.\n\n";

TEST(AttentionMutants, EveryMutantIsKilledAndTolerancesMissMany) {
  std::string table;
  int by_claims = 0, tolerance_misses = 0, mse_misses = 0, bits_miss_normal = 0;
  for (const AttentionMutant& mutant : attention_mutants()) {
    const Pack& pack = pack_of(mutant.spec);
    const std::vector<AttentionAnswer> got = mutant.kernel(pack.plan, pack.rows.cases);
    std::size_t bits = 0, claims = 0;
    std::set<std::string> kinds;
    for (std::size_t row = 0; row < got.size(); ++row) {
      bits += wrong_outputs(pack.plan, pack.expected[row], got[row]) > 0 ? 1 : 0;
      if (row >= pack.rows.probes.size()) continue;
      const attention::Probe& probe = pack.rows.probes[row];
      if (judge_probe(pack.plan, probe, got[row],
                      probe.same_as < 0 ? nullptr : &got[static_cast<std::size_t>(probe.same_as)])
              .violated == 0)
        continue;
      ++claims;
      kinds.insert(probe.kind);
    }
    EXPECT_GT(bits, 0u) << mutant.name << " survives " << mutant.spec;
    by_claims += claims > 0 ? 1 : 0;
    const Distance off = distance(pack.plan, pack.normal_expected, mutant.kernel(pack.plan, pack.normal));
    const bool tolerated = off.largest <= 0.15, small_mean = off.mean_square < 1.0;
    tolerance_misses += tolerated ? 1 : 0;
    mse_misses += small_mean ? 1 : 0;
    bits_miss_normal += off.largest == 0 ? 1 : 0;
    std::string killers;
    for (const std::string& kind : kinds) killers += (killers.empty() ? "" : ", ") + kind;
    table += "| " + mutant.name + " | " + mutant.about + " | `" + mutant.spec + "` | " +
             std::to_string(claims) + "/" + std::to_string(pack.rows.probes.size()) + " | " +
             std::to_string(bits) + "/" + std::to_string(got.size()) + " | " +
             (tolerated ? "passes" : "fails") + " | " + (small_mean ? "passes" : "fails") + " | " +
             (killers.empty() ? "none: bits alone" : killers) + " | " + mutant.bug + " |\n";
  }
  const auto all = static_cast<int>(attention_mutants().size());
  EXPECT_GE(all, 40);
  EXPECT_GE(by_claims, 35);
  EXPECT_GT(tolerance_misses, 10);
  EXPECT_GT(mse_misses, 10);
  expect_document("kill_matrix_attention.md",
                  kHead + ("The packs kill " + std::to_string(all) + " of " + std::to_string(all)) +
                      "; the claims of probes alone kill " + std::to_string(by_claims) +
                      ". On N(0, 1) data a tolerance of 0.15 misses " + std::to_string(tolerance_misses) +
                      ", a mean square error below 1.0 misses " + std::to_string(mse_misses) + ", and " +
                      std::to_string(bits_miss_normal) +
                      " give the very same bits.\n\n| mutant | what it does | SPEC | claims | bits | 0.15 "
                      "| MSE | probes that kill it | public bug |\n"
                      "|---|---|---|---|---|---|---|---|---|\n" +
                      table);
}

TEST(AttentionMutants, EveryPublicBugKindHasOne) {
  std::set<std::string> bugs;
  for (const AttentionMutant& mutant : attention_mutants()) bugs.insert(mutant.bug);
  for (const char* kind :
       {"weights do not sum to one", "V = ones must give 1",
        "soft cap by a ratio of exponentials overflows", "head sizes of K and V differ",
        "q_descale missing", "a factor of the logit scale is missing", "tile size changes the bits",
        "cache scales ignored", "loaded scale not used on read", "result scale ignored",
        "fast accumulation where promotion was meant",
        "promotion interval shorter than the K tile is ignored", "split count changes the bits",
        "f16 accumulator drops small terms", "result cast to f16 before the scale",
        "mma.sync taken for the FP8 unit"})
    EXPECT_TRUE(bugs.contains(kind)) << kind;
}

TEST(AttentionMutants, NamesAreUniqueAndTheReferencePassesEverySpec) {
  std::set<std::string> names, specs;
  for (const AttentionMutant& mutant : attention_mutants()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    if (!specs.insert(mutant.spec).second) continue;
    const Pack& pack = pack_of(mutant.spec);
    const AttentionTally tally = judge_attention(pack.plan, pack.rows, pack.expected, pack.expected);
    EXPECT_EQ(tally.rows_wrong, 0u) << mutant.spec;
    EXPECT_EQ(tally.claims.violated, 0u) << mutant.spec << ": " << tally.claims.first;
    EXPECT_GT(tally.claims.forced, 50u) << mutant.spec;
  }
}

TEST(AttentionMutants, DiagnoseNamesEveryMutantAndPreset) {
  std::map<std::string, std::vector<AttentionSuspect>> known;
  for (const AttentionMutant& mutant : attention_mutants()) {
    const Pack& pack = pack_of(mutant.spec);
    if (!known.contains(mutant.spec)) known[mutant.spec] = attention_suspects(pack.plan, pack.rows);
    const auto& suspects = known[mutant.spec];
    EXPECT_GT(suspects.size(), 0u);
    const auto fits = explain_answers(pack.plan, suspects, mutant.kernel(pack.plan, pack.rows.cases), 0);
    bool named = false;
    for (const AttentionFit& fit : fits)
      named |= fit.behaviour == "mutant:" + mutant.name && fit.rows == pack.rows.cases.size();
    EXPECT_TRUE(named) << mutant.name;
  }
  // A preset that claims to be another.
  const Pack& pack = pack_of("attention:fa3_like,out=bf16,page=16,sinks=yes");
  for (const char* preset : {"fa3_like_two_level", "fa4_like", "fa4_like_faulty", "flashinfer_like",
                             "no_prescale", "reference"}) {
    const std::string name = std::string("attention:") + preset + ",out=bf16";
    const auto fits = explain_answers(pack.plan, known["attention:fa3_like,out=bf16,page=16,sinks=yes"],
                                      attention_kernel(name)(pack.plan, pack.rows.cases), 0);
    ASSERT_FALSE(fits.empty()) << preset;
    bool named = false;
    for (const AttentionFit& fit : fits)
      named |= fit.behaviour == name && fit.rows == pack.rows.cases.size();
    EXPECT_TRUE(named) << preset << " " << fits[0].behaviour;
  }
}

TEST(AttentionMutants, WithoutASpecNoLegitimateVariantIsAnError) {
  const AttentionPlan any = parse_attention_spec("attention:any,out=bf16");
  const AttentionRows rows = attention_rows(any, Level::stratified, 0);
  for (const char* variant :
       {"fa3_like", "fa3_like_two_level", "fa4_like", "flashinfer_like", "flashinfer_like_two_level",
        "no_prescale", "reference", "reference,offset=0x410ce979", "reference,sum_of=quantized",
        "fa3_like,split=128", "fa3_like,tile=16", "reference,qk_model=blackwell_f8f6f4,pv_model=ada_fp8",
        "reference,qk_model=hopper_fp8_mma_sync,pv_model=hopper_fp8_mma_sync"}) {
    const auto got = attention_kernel("attention:" + std::string(variant) + ",out=bf16")(any, rows.cases);
    const AttentionTally tally = judge_attention(any, rows, {}, got);
    EXPECT_EQ(tally.claims.violated, 0u) << variant << ": " << tally.claims.first;
    EXPECT_GT(tally.claims.forced, 100u) << variant;
    for (const AttentionProperty& property : tally.properties) {
      if (property.text.starts_with("far_keys")) {
        EXPECT_EQ(property.holds, std::string(variant) != "no_prescale") << variant;
      }
      if (property.text.starts_with("rounded_weights") &&
          std::string(variant).find("quantized") != std::string::npos) {
        EXPECT_FALSE(property.holds) << variant;
      }
    }
  }
  for (const char* mutant : {"mutant:v_scale_dropped", "mutant:stale_maximum", "mutant:padding_read",
                             "mutant:kv_head_by_modulo", "mutant:output_not_rescaled"}) {
    const AttentionTally tally = judge_attention(any, rows, {}, attention_kernel(mutant)(any, rows.cases));
    EXPECT_GT(tally.claims.violated, 0u) << mutant;
  }
}

TEST(AttentionMutants, WithTheOrderUnknownEnclosuresHoldForEveryOrder) {
  const AttentionPlan plan = parse_attention_spec("attention:fa3_like,out=e4m3,order=unknown");
  const AttentionRows rows = attention_rows(plan, Level::stratified, 5);
  for (const char* variant : {"fa3_like,out=e4m3", "fa3_like,out=e4m3,order=ascending,tile=64,lanes=1",
                              "fa3_like,out=e4m3,tile=32,split=96"}) {
    const AttentionTally tally = judge_attention(
        plan, rows, {}, attention_kernel("attention:" + std::string(variant))(plan, rows.cases));
    EXPECT_EQ(tally.claims.violated, 0u) << variant << ": " << tally.claims.first;
    EXPECT_GT(tally.claims.forced, 100u);
  }
}

/// No violation is reported that was found only once, on probes or on random data.
TEST(AttentionMutants, EveryViolationOfEveryMutantIsReChecked) {
  std::size_t enclosed = 0, violating = 0;
  for (const AttentionMutant& mutant : attention_mutants()) {
    AttentionPlan plan = parse_attention_spec(mutant.spec);
    for (const bool order_unknown : {false, true}) {
      plan.order_unknown = order_unknown;
      plan.stages = !order_unknown;
      const AttentionRows rows = attention_rows(plan, Level::stratified, 0);
      const auto expected = order_unknown ? std::vector<AttentionAnswer>{} : answers(plan, rows.cases);
      const AttentionTally tally = judge_attention(plan, rows, expected, mutant.kernel(plan, rows.cases), {}, 2);
      EXPECT_EQ(tally.claims.rechecked, tally.claims.violated) << mutant.name;
      enclosed += tally.claims.enclosed;
      violating += tally.claims.violated > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(violating, 80u);
  EXPECT_GT(enclosed, 500u);
}

/// An answer that lies in every word, with many query rows: more rows violate than any sample would hold.
TEST(AttentionJudge, EveryWordOfALyingAnswerIsReChecked) {
  const AttentionPlan plan = parse_attention_spec("attention:fa3_like,out=bf16,order=unknown,queries=8");
  const AttentionRows rows = attention_rows(plan, Level::stratified, 0);
  std::vector<AttentionAnswer> lies(rows.cases.size(), AttentionAnswer{std::vector<std::uint32_t>(4 * 8 * 4, 0x7f00)});
  const AttentionTally tally = judge_attention(plan, rows, {}, lies, {}, 2);
  EXPECT_EQ(tally.claims.rechecked, tally.claims.violated);
  EXPECT_EQ(tally.claims.enclosed, 4u * 4 * 8 * 4);  // every element of every random row
  EXPECT_EQ(tally.claims.admissible, 0u);
}

/// The second look at a claim is no copy of the first: an oracle casts the ends, and nothing is rounded before.
TEST(AttentionJudge, ExactClaimsExcludeWhatTheyMust) {
  constexpr FormatSpec kBf16 = spec_of("bf16");
  const attention::Claim one = {1, 1, true}, wide = {-0.5, 2, true};
  EXPECT_FALSE(attention::excluded_exactly(kBf16, one, 0, 0x3f80));
  EXPECT_TRUE(attention::excluded_exactly(kBf16, one, 0, 0x3f81));
  EXPECT_TRUE(attention::excluded_exactly(kBf16, one, 0, 0x3f7f));
  EXPECT_TRUE(attention::excluded_exactly(kBf16, one, 0, 0xbf80));
  EXPECT_TRUE(attention::excluded_exactly(kBf16, one, 0, 0x7fc0));  // NaN
  EXPECT_TRUE(attention::excluded_exactly(kBf16, one, 0, 0x7f80));  // Inf
  EXPECT_TRUE(attention::excluded_exactly(kBf16, one, 0, 0xff80));
  // 1 + 2^-8 is the tie between 0x3f80 and 0x3f81, and goes to the even one: only more than that admits 0x3f81.
  EXPECT_TRUE(attention::excluded_exactly(kBf16, one, 0x1p-8, 0x3f81));
  EXPECT_FALSE(attention::excluded_exactly(kBf16, one, 0x1.000001p-8, 0x3f81));
  // A room that a double cannot hold beside the end still counts.
  EXPECT_TRUE(attention::excluded_exactly(kBf16, {1 + 0x1p-8, 1 + 0x1p-8, true}, 0, 0x3f81));
  EXPECT_FALSE(attention::excluded_exactly(kBf16, {1 + 0x1p-8, 1 + 0x1p-8, true}, 0x1p-300, 0x3f81));
  for (const std::uint32_t word : {0x0000u, 0x8000u, 0xbf00u, 0x4000u}) EXPECT_FALSE(attention::excluded_exactly(kBf16, wide, 0, word));
  EXPECT_FALSE(attention::excluded_exactly(kBf16, {0, 0, true}, 0, 0x8000));  // both zeros are one number
}

/// Hardware promises exp2 and reciprocals to 2^-22: results that far off break nothing where the arithmetic is not stated.
TEST(AttentionJudge, ApproximateFunctionsAreNoViolationWhereTheOrderIsUnknown) {
  const AttentionPlan any = parse_attention_spec("attention:any,sinks=yes");
  const AttentionRows rows = attention_rows(any, Level::stratified, 0);
  for (const double off : {0x1p-20, -0x1p-20, 0x1p-9, -0x1p-9}) {
    auto got = attention_kernel("attention:reference")(any, rows.cases);
    for (AttentionAnswer& answer : got) {
      for (std::uint32_t& word : answer.back())
        word = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<double>(std::bit_cast<float>(word)) * (1 + off)));
    }
    const AttentionTally tally = judge_attention(any, rows, {}, got);
    if (std::fabs(off) < 0x1p-15) {
      EXPECT_EQ(tally.claims.violated, 0u) << off << ": " << tally.claims.first;
    } else {
      EXPECT_GT(tally.claims.violated, 100u) << off;
    }
  }
}

}  // namespace
}  // namespace halfulp::vectors
