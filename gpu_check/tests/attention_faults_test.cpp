// Attention kernels with one seeded fault each: found, and named by thread, array or stage. And what must not matter does not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "gpu_check/attention/prepare.hpp"
#include "gpu_check/attention/run.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

const AttentionCase& case_named(std::string_view name) {
  const auto found = std::find_if(kAttentionCases.begin(), kAttentionCases.end(), [&](const AttentionCase& each) { return each.name == name; });
  if (found == kAttentionCases.end()) throw std::logic_error("no such case");
  return *found;
}

/// A kernel, and a case of it in which some rows do not see a key whose value is NaN, or slots behind the end hold NaN.
template <class T, int kIndex>
struct Kernel {
  using Traits = T;
  static constexpr const char* kCases[] = {"causal", "causal, sm_90 mma.sync", "fa3_like_two_level, wgmma", "paged", "sage_like, int8 mma.sync", "kivi 2 bits"};
  static const AttentionFile& file() {
    static const AttentionFile made = make_attention_file(case_named(kCases[kIndex]));
    return made;
  }
};

template <class K>
class AttentionFaults : public ::testing::Test {
 protected:
  void SetUp() override { set_modelled_architecture(90); }
  template <int kFault>
  AttentionOutcome run() {
    return run_attention_kernel<typename K::Traits, kFault>(K::file(), 2);
  }
};
using Kernels = ::testing::Types<Kernel<Prefill, 0>, Kernel<PrefillMmaSync, 1>, Kernel<PrefillWgmmaE4m3, 2>, Kernel<Paged, 3>, Kernel<Int8MmaSync, 4>,
                                 Kernel<Kivi, 5>>;
TYPED_TEST_SUITE(AttentionFaults, Kernels);

std::string text_of(const AttentionOutcome& outcome) {
  std::string text;
  for (const auto* all : {&outcome.faults, &outcome.first}) {
    for (const std::string& each : *all) text += each + "\n";
  }
  return text;
}

TYPED_TEST(AttentionFaults, WithoutOneThereIsNone) {
  const AttentionOutcome outcome = this->template run<kNoFault>();
  EXPECT_EQ(text_of(outcome), "");
  EXPECT_EQ(outcome.mismatches, 0u);
  EXPECT_GT(outcome.words, 0u);
}

TYPED_TEST(AttentionFaults, AMissingBarrierIsARaceWithItsThreads) {
  const AttentionOutcome outcome = this->template run<kMissingBarrier>();
  ASSERT_FALSE(outcome.faults.empty());
  const std::string& fault = outcome.faults[0];
  EXPECT_EQ(fault.find("attention_parts: race: shared array "), 0u) << text_of(outcome);
  EXPECT_NE(fault.find(" by thread "), std::string::npos);
  EXPECT_NE(fault.find(", no barrier between"), std::string::npos);
}

TYPED_TEST(AttentionFaults, AWrongKeyIsAWrongScore) {
  const AttentionOutcome outcome = this->template run<kWrongIndex>();
  EXPECT_TRUE(outcome.faults.empty()) << text_of(outcome);
  ASSERT_FALSE(outcome.first.empty());
  EXPECT_EQ(outcome.first[0].find("S[row "), 0u) << text_of(outcome);
}

/// Weight 0 times NaN is NaN: O shows it, if the read itself is not already outside.
TYPED_TEST(AttentionFaults, ADeadSlotThatIsReadIsNamed) {
  const AttentionOutcome outcome = this->template run<kDeadSlot>();
  const bool outside = !outcome.faults.empty() && outcome.faults[0].find("attention_parts: out of range: ") == 0;
  const bool in_O = !outcome.first.empty() && outcome.first[0].find("O_tile[row ") == 0 && outcome.first[0].find("got 7fffffff") != std::string::npos;
  EXPECT_TRUE(outside || in_O) << text_of(outcome);
}

/// A fault in steps 4, 5 or 8, the case that leads there, and the first word that it changes.
template <int kFault>
std::string first_word(std::string_view case_name) {
  set_modelled_architecture(90);
  const AttentionOutcome outcome = run_attention_kernel<Prefill, kFault>(make_attention_file(case_named(case_name)), 2);
  EXPECT_TRUE(outcome.faults.empty()) << text_of(outcome);
  return outcome.first.empty() ? "" : outcome.first[0].substr(0, outcome.first[0].find(": "));
}

TEST(AttentionEdges, EachFaultChangesTheWordThatItsCaseIsFor) {
  EXPECT_EQ(first_word<kSpecialScores>("NaN in K and Q"), "m[row 0, tile 0]");
  EXPECT_EQ(first_word<kSpecialScores>("Inf in K and Q"), "m[row 0, tile 0]");
  EXPECT_EQ(first_word<kThresholdMet>("at the threshold"), "m[row 0, tile 1]");
  EXPECT_EQ(first_word<kAnyZero>("maxima of both zeros"), "m[row 0, tile 0]");
  EXPECT_EQ(first_word<kStaleMaximum>("at the threshold"), "m[row 0, tile 2]");
  EXPECT_EQ(first_word<kLastChannel>("reference"), "O_tile[row 0, tile 1, channel 23]");
}

/// The cases are at their edges: rows with and without the edge, by what the reference says.
TEST(AttentionEdges, AreReached) {
  using Words = std::vector<std::uint32_t>;
  for (const char* name : {"NaN in K and Q", "Inf in K and Q"}) {
    Words nan_rows;
    const AttentionFile file = make_attention_file(case_named(name));
    for (std::uint32_t row = 0; row < file.plan.rows(); ++row) {
      if (file.stages.at("m_last")[row] == kNanWord) nan_rows.push_back(row);
    }
    EXPECT_EQ(nan_rows, (Words{0, 2, 3, 6, 7})) << name;
  }
  std::set<std::uint32_t> infinite;
  const AttentionFile e5m2 = make_attention_file(case_named("Inf in K and Q"));
  for (const std::uint32_t row : {2u, 6u}) infinite.insert(e5m2.stages.at("S")[row * e5m2.plan.keys + e5m2.plan.keys - 2]);
  EXPECT_EQ(infinite, (std::set<std::uint32_t>{0x7f800000, 0xff800000}));

  EXPECT_EQ(make_attention_file(case_named("maxima of both zeros")).stages.at("m_last"), (Words{0x80000000, 0, 0x80000000, 0}));

  const AttentionFile threshold = make_attention_file(case_named("at the threshold"));
  Words moved;
  for (std::uint32_t row = 0; row < threshold.plan.rows(); row += threshold.plan.queries) {
    const Words& m = threshold.stages.at("m");
    moved.push_back(m[row * 3 + 1] != m[row * 3] ? 1 : 0);
    EXPECT_NE(m[row * 3 + 2], m[row * 3]) << row;
  }
  EXPECT_EQ(moved, (Words{0, 1, 0, 0, 0}));

  const AttentionFile parts = make_attention_file(case_named("empty parts"));
  std::set<std::uint32_t> empty;  // bit i: the row sees nothing of part i
  for (std::uint32_t row = 0; row < parts.plan.rows(); ++row) {
    std::uint32_t none = 0;
    for (std::uint32_t part = 0; part < parts.plan.parts(); ++part) none |= 1u << part;
    const Words& P = parts.stages.at("P");
    for (std::uint32_t key = 0; key < parts.plan.keys; ++key) {
      if (P[row * parts.plan.keys + key] != 0) none &= ~(1u << key / parts.plan.part_keys());
    }
    empty.insert(none);
  }
  for (const std::uint32_t before_and_behind : {1u, 4u, 6u}) EXPECT_EQ(empty.count(before_and_behind), 1u) << before_and_behind;
}

template <int kFault>
HALFULP_KERNEL joined(AttentionPlan p, In<float> logit_scale, In<float> v_scale, In<std::uint32_t> m, In<std::uint32_t> sum, In<std::uint32_t> O,
                      StageBuffers out) {
  join_parts<kFault>(p, logit_scale, v_scale, m, sum, O, out);
}

/// One row, `parts` parts of which all but part `at` saw nothing. O of that one is -0 and -2: no unit leaves -0 (a sum of zero is
/// +0), so no problem leads here. The words of O, row_sum, m_last.
template <int kFault>
std::vector<std::uint32_t> join(std::uint32_t parts, std::size_t at) {
  AttentionPlan plan;
  plan.value_dim = 2, plan.tile = plan.split = 16, plan.keys = parts * 16;
  plan.out = spec_of("f32");
  std::vector<std::uint32_t> m(parts, 0xff800000), sum(parts), O(parts * 2);
  m[at] = word_of(1.5f), sum[at] = word_of(3), O[2 * at] = 0x80000000, O[2 * at + 1] = word_of(-2);
  const Buffer<float> L("logit_scale", std::vector<float>{0.25f}), v_scale("v_scale", std::vector<float>{1, 1});
  const Buffer<std::uint32_t> part_m("part m", m), part_sum("part sum", sum), part_O("part O", O);
  const StageMemory stages(plan);
  const Launched launched = launch("joined", joined<kFault>, {1, 64}, plan, L.in(), v_scale.in(), part_m.in(), part_sum.in(), part_O.in(), stages.all());
  EXPECT_TRUE(launched.faults.empty());
  std::vector<std::uint32_t> words;
  for (const char* stage : {"O", "row_sum", "m_last"}) {
    for (const std::uint32_t word : stages.buffer(stage).download()) words.push_back(word);
  }
  return words;
}

TEST(AttentionParts, ThatSawNothingAddNothing) {
  set_modelled_architecture(90);
  const std::vector<std::uint32_t> alone = join<kNoFault>(1, 0);
  ASSERT_EQ(alone[0], 0x80000000);
  for (std::size_t at = 0; at < 3; ++at) {
    EXPECT_EQ(join<kNoFault>(3, at), alone) << at;
    std::vector<std::uint32_t> wrong = join<kEmptyPart>(3, at);
    EXPECT_EQ(wrong[0], 0u) << "the fault was meant to lose the sign of O[row 0, channel 0]";
    wrong[0] = alone[0];
    EXPECT_EQ(wrong, alone) << at;
  }
}

/// Slots without a token hold anything; not even NaN or the page behind the end of the table reach a stage.
TEST(AttentionCaches, DeadSlotsDoNotMatter) {
  set_modelled_architecture(90);
  std::size_t differing = 0;
  for (const AttentionCase& each : kAttentionCases) {
    if (each.page_size == 0 && each.code_bits == 0) continue;
    const AttentionFile base = make_attention_file(each);
    for (const std::uint32_t dead : {0x00u, 0x3cu, 0xffu}) {
      const AttentionFile other = make_attention_file(each, dead);
      EXPECT_EQ(other.stages, base.stages) << each.name;
      differing += other.inputs != base.inputs ? 1 : 0;
      const AttentionOutcome outcome = run_attention_case(each.kernel, other, 1);
      EXPECT_EQ(text_of(outcome), "") << each.name << " " << dead;
    }
  }
  EXPECT_GE(differing, 12u) << "the dead slots were meant to hold other codes";
}

TEST(AttentionFiles, ComeBackAsTheyWere) {
  const std::string path = ::testing::TempDir() + "halfulp_attention_" + std::to_string(::getpid()) + ".bin";
  for (const char* name : {"window, prefix, soft cap", "kivi 2 bits", "no keys"}) {
    const AttentionFile file = make_attention_file(case_named(name));
    write_attention_file(path, file);
    const AttentionFile again = read_attention_file(path);
    EXPECT_EQ(again.inputs, file.inputs);
    EXPECT_EQ(again.stages, file.stages);
    std::vector<std::string> one, other;
    const auto record = [](std::vector<std::string>& into) {
      return [&into](const char* member, const auto& value) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, FormatSpec>) into.push_back(member + std::to_string(value.width) + std::to_string(value.bias));
        else into.push_back(member + std::to_string(value));
      };
    };
    for_each_member(file.plan, record(one));
    for_each_member(again.plan, record(other));
    EXPECT_EQ(one, other);
  }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
  EXPECT_THROW(read_attention_file(path), std::runtime_error);
  std::filesystem::remove(path);
  EXPECT_THROW(read_attention_file(path), std::runtime_error);
}

/// One expected bit turned: the step fails and names the word.
TEST(AttentionFiles, AWrongExpectationFailsTheStep) {
  set_modelled_architecture(90);
  const std::string folder = ::testing::TempDir() + "halfulp_attention_wrong_" + std::to_string(::getpid());
  prepare_attention(folder);
  AttentionFile file = make_attention_file(case_named("reference"));
  file.stages["alpha"][5] ^= 1;
  write_attention_file(attention_path(folder, "reference"), file);
  const StepReport report = run_attention({folder, "", true, find_device()});
  std::filesystem::remove_all(folder);
  ASSERT_EQ(report.rows[0].test, "reference");
  EXPECT_EQ(report.rows[0].status, Status::failed);
  ASSERT_FALSE(report.rows[0].first.empty());
  EXPECT_NE(report.rows[0].first[0].find("alpha[row 2, tile 1]: expected "), std::string::npos) << report.rows[0].first[0];
  EXPECT_EQ(exit_status(report), kExitFailed);
}

TEST(AttentionPlans, WhatTheKernelsLackIsRefused) {
  const auto plan = [](const char* text, std::uint32_t head_dim = 32) {
    AttentionCase sizes{"", AttentionKernel::prefill, text, 1, 1, 1, 8, head_dim, 16};
    AttentionCase named = sizes;
    named.spec = text;
    return make_attention_file(named);
  };
  EXPECT_NO_THROW(plan("reference"));
  EXPECT_THROW(plan("reference,qk_model=f32_sequential"), std::invalid_argument);
  EXPECT_THROW(plan("reference,qk_model=exact"), std::invalid_argument);
  EXPECT_THROW(plan("reference,tile=256"), std::invalid_argument);
  EXPECT_THROW(plan("reference", 128), std::invalid_argument);
  EXPECT_THROW(plan("reference,out=e5m2fnuz"), std::invalid_argument);
}

}  // namespace
}  // namespace halfulp::gpu
