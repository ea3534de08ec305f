// The attention kernels through nvcc: every architecture, assertions on the code, and changes that must fail them.
#include <gtest/gtest.h>

#include <future>

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

TEST(AttentionCompile, EveryKernelForEveryArchitecture) {
  std::vector<std::pair<std::string, std::future<Compiled>>> all;
  for (const char* architecture : {"89", "90", "90a", "100a", "103a", "120a"}) {
    all.emplace_back(architecture, std::async(std::launch::async, [architecture] { return compile(architecture); }));
  }
  for (auto& [architecture, made] : all) {
    const Compiled one = made.get();
    EXPECT_TRUE(one.assembled) << "sm_" << architecture << "\n" << one.log;
    if (!one.assembled) continue;
    EXPECT_EQ(lines(wrong_in_attention_kernels(one, architecture)), "") << "sm_" << architecture;
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
