// Attention kernels with one seeded fault each: found, and named by thread, array or stage. And what must not matter does not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

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
