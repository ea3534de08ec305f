// The attention kernels through nvcc: every architecture, assertions on the code, and changes that must fail them.
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "gpu_check/compile/attention_assertions.hpp"

namespace halfulp::gpu {
namespace {

const Compiler& compiler() {
  static const Compiler one(HALFULP_NVCC, HALFULP_SOURCE_DIR);
  return one;
}

Compiled compile(const std::string& architecture, const std::string& more = "") {
  return compiler().compile("attention_kernels", architecture, "-I " HALFULP_SOURCE_DIR "/reference " + more);
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  return text;
}

const std::map<std::string, Compiled>& matrix() {
  static const auto all = [] {
    std::map<std::string, std::future<Compiled>> tasks;
    for (const char* architecture : {"89", "90", "90a", "100a", "103a", "120a"}) {
      tasks[architecture] = std::async(std::launch::async, [architecture] { return compile(architecture); });
    }
    std::map<std::string, Compiled> made;
    for (auto& [architecture, task] : tasks) made[architecture] = task.get();
    return made;
  }();
  return all;
}

TEST(AttentionCompile, EveryKernelForEveryArchitecture) {
  for (const auto& [architecture, made] : matrix()) {
    EXPECT_TRUE(made.assembled) << "sm_" << architecture << "\n" << made.log;
    if (!made.assembled) continue;
    EXPECT_EQ(lines(wrong_in_attention_kernels(made, architecture)), "") << "sm_" << architecture;
  }
}

/// Wrong types, missing waits and fences, a missing kernel: the text of the PTX is changed.
TEST(AttentionCompile, ChangedPtxFailsTheAssertions) {
  struct Change {
    const char *architecture, *from, *to, *finding;
  };
  const Change changes[] = {
      {"120a", "m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k16.row.col.f32.f16.f16.f32", "10PagedCacheENS0_11MmaSyncUnitILNS0_14MmaInstructionE4E: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 in PTX: 0, not 2"},
      {"90a", "m16n8k32.row.col.f32.e4m3.e4m3.f32", "m16n8k32.row.col.f32.e5m2.e5m2.f32", "MmaInstructionE4E: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 in PTX: 2, not 0"},
      {"89", "s32.s8.s8.s32", "s32.u8.s8.s32", "MmaInstructionE8E: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 in PTX: 0, not 1"},
      {"100a", "m16n8k16.row.col.f32.f16.f16.f32", "m16n8k16.row.col.f32.bf16.bf16.f32", "MmaInstructionE0E: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 in PTX: 0, not 2"},
      {"90a", "m64n8k32.f32.e5m2.e5m2", "m64n8k32.f32.e4m3.e4m3", "MmaInstructionE20E: wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2 in PTX: 0, not 2"},
      {"90a", "wgmma.wait_group.sync.aligned 0;", "", "MmaInstructionE19E: wgmma.wait_group.sync.aligned in PTX: 0, not 2"},
      {"90a", "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", "MmaInstructionE19E: does not wait for the last group"},
      {"90a", "wgmma.fence.sync.aligned;", "", "MmaInstructionE20E: wgmma.fence.sync.aligned in PTX: 0, not 2"},
      {"90a", "fence.proxy.async.shared::cta;", "", "MmaInstructionE19E: fence.proxy.async.shared::cta in PTX: 0, not 2"},
      {"90a", ", 1, 1, 1;", ", 0, 1, 1;", "MmaInstructionE19E: wgmma without c or with a sign"},
      {"103a", "bar.sync \t0;", "", "9KiviCacheENS0_12EmulatedUnit: bar.sync in PTX: 0, not 5"},
      {"90a", "KernelINS0_9KiviCache", "KernelINS0_9NoneCache", "9KiviCacheENS0_12EmulatedUnit: not found"},
      {"89", "KernelINS0_10PagedCache", "KernelINS0_10NoneeCache", "10PagedCacheENS0_11MmaSyncUnitILNS0_14MmaInstructionE4E: not found"},
  };
  for (const Change& change : changes) {
    Compiled made = matrix().at(change.architecture);
    std::size_t times = 0;
    const std::string from = change.from, to = change.to;
    for (std::size_t at = made.ptx.find(from); at != std::string::npos; at = made.ptx.find(from, at + to.size()), ++times) made.ptx.replace(at, from.size(), to);
    EXPECT_NE(times, 0u) << from << " is not in the code for sm_" << change.architecture;
    const std::string wrong = lines(wrong_in_attention_kernels(made, change.architecture));
    EXPECT_NE(wrong.find(change.finding), std::string::npos) << change.architecture << " " << change.finding << "\n" << wrong;
  }
}

TEST(AttentionCompile, AContractedKernelFailsTheAssertions) {
  const Compiled made = compile("90a", "-DHALFULP_SEED_CONTRACTED -fmad=true");
  ASSERT_TRUE(made.assembled) << made.log;
  const std::string wrong = lines(wrong_in_attention_kernels(made, "90a"));
  // The compiler leaves operations without .rn to the assembler, which fuses them.
  EXPECT_NE(wrong.find("12EmulatedUnit: mul.f32: "), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("attention_combine: add.f32: "), std::string::npos) << wrong;
}

TEST(AttentionCompile, TheLibrarysExp2FailsTheAssertions) {
  const Compiled made = compile("90a", "-DHALFULP_SEED_EXP2F");
  ASSERT_TRUE(made.assembled) << made.log;
  const std::string wrong = lines(wrong_in_attention_kernels(made, "90a"));
  EXPECT_NE(wrong.find("12EmulatedUnit: MUFU.EX2 in the cubin: 1, not 0"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("12EmulatedUnit: ex2: 1, not 0"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("12EmulatedUnit: .approx: 1, not 0"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("12EmulatedUnit: exp2_p6 found 3 times"), std::string::npos) << wrong;
}

}  // namespace
}  // namespace halfulp::gpu
