// The compile tier: every kernel for every architecture, the expected refusals, assertions on PTX and cubins, and code that was changed
// so that the assertions must fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <thread>

#include "gpu_check/compile/assembly.hpp"
#include "gpu_check/compile/assertions.hpp"

namespace halfulp::gpu {
namespace {

const std::string kArchitectures[] = {"89", "90", "90a", "100a", "103a", "120a"};

const Compiler& compiler() {
  static const Compiler one(HALFULP_NVCC, HALFULP_SOURCE_DIR);
  return one;
}

/// Runs tasks 0..count-1 on as many threads as there are processors.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::vector<std::future<void>> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (std::size_t at = next++; at < count; at = next++) task(at);
    }));
  }
  for (auto& thread : threads) thread.get();
}

struct Unit {
  const char* name;
  std::vector<std::string> (*wrong)(const Compiled&, const std::string&);
};
const Unit kUnits[] = {{"casts", wrong_in_casts}, {"mma", wrong_in_mma}, {"mufu", wrong_in_mufu}};

const std::map<std::pair<std::string, std::string>, Compiled>& matrix() {
  static const auto all = [] {
    std::map<std::pair<std::string, std::string>, Compiled> made;
    std::vector<std::pair<std::string, std::string>> keys;
    for (const Unit& unit : kUnits) {
      for (const std::string& architecture : kArchitectures) keys.emplace_back(unit.name, architecture);
    }
    for (const auto& key : keys) made[key];
    in_parallel(keys.size(), [&](std::size_t i) { made[keys[i]] = compiler().compile(keys[i].first, keys[i].second); });
    return made;
  }();
  return all;
}

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  return text;
}

TEST(Compile, TheOpcodeTableHoldsOnKnownKernels) {
  struct Known {
    const char* kernel;
    Opcode opcode;
    const char* architecture = "";  ///< empty: all
  };
  const Known known[] = {{"known_add", kFadd},
                         {"known_multiply", kFmul},
                         {"known_fma", kFfma},
                         {"known_mufu_ex2", kMufu},
                         {"known_pack", kF2fp},
                         {"known_tensor_mma", kTensorMma, "100a"},
                         {"known_scaled_tensor_mma", kTensorMma, "100a"},
                         {"known_tensor_copy", kTensorCopy, "100a"},
                         {"known_tensor_store", kTensorStore, "100a"},
                         {"known_tensor_load", kTensorLoad, "100a"},
                         {"known_qmma", kQmma, "120a"},
                         {"known_scaled_qmma", kQmma, "120a"},
                         {"known_omma", kOmma, "120a"}};
  for (const std::string architecture : {"89", "90a", "100a", "120a"}) {
    const Compiled made = compiler().compile("known", architecture);
    ASSERT_TRUE(made.assembled) << made.log;
    for (const Known& one : known) {
      const Opcodes opcodes = opcodes_of(made.cubin, one.kernel);
      const bool there = one.architecture[0] == '\0' || one.architecture == architecture;
      EXPECT_EQ(opcodes.empty(), !there) << architecture << " " << one.kernel;
      for (const Known& other : known) EXPECT_EQ(count(opcodes, other.opcode), there && other.opcode == one.opcode ? 1u : 0u) << architecture << " " << one.kernel;
      EXPECT_EQ(count_form(opcodes, kScaledQmma), there && std::string(one.kernel) == "known_scaled_qmma" ? 1u : 0u) << architecture << " " << one.kernel;
    }
  }
}

TEST(Compile, TheFunctionsOfMufuHoldOnKnownKernels) {
  using Functions = std::map<std::uint32_t, std::size_t>;
  const std::map<std::string, std::uint32_t> known = {
      {"known_mufu_cos", kMufuCos},   {"known_mufu_sin", kMufuSin},       {"known_mufu_ex2", kMufuEx2},      {"known_mufu_lg2", kMufuLg2},
      {"known_mufu_rcpP", kMufuRcp},  {"known_mufu_rsqP", kMufuRsq},      {"known_mufu_sqrt", kMufuSqrt},    {"known_mufu_tanh", kMufuTanh},
      {"known_mufu_half_ex2", kMufuEx2}, {"known_mufu_half_tanh", kMufuTanh}, {"known_mufu_rcp64", kMufuRcp64}, {"known_mufu_rsq64", kMufuRsq64}};
  for (const std::string& architecture : kArchitectures) {
    const Compiled made = compiler().compile("known", architecture);
    ASSERT_TRUE(made.assembled) << made.log;
    for (const auto& [kernel, function] : known) EXPECT_EQ(mufu_functions_of(made.cubin, kernel), (Functions{{function, 1}})) << architecture << " " << kernel;
    // What exact divisions are built on.
    for (const char* kernel : {"known_divide", "known_reciprocal", "known_quotient"}) {
      const Functions found = mufu_functions_of(made.cubin, kernel);
      EXPECT_TRUE(found.contains(kMufuRcp)) << architecture << " " << kernel;
      for (const auto& [function, times] : found) EXPECT_TRUE(function == kMufuRcp || function == (kMufuRsq | kMufuOfConstant)) << mufu_name(function) << " " << times;
    }
    EXPECT_EQ(mufu_functions_of(made.cubin, "known_add"), Functions{}) << architecture;
  }
}

TEST(Compile, EveryKernelCompilesForEveryArchitecture) {
  for (const auto& [key, made] : matrix()) EXPECT_TRUE(made.assembled) << key.first << " for sm_" << key.second << "\n" << made.log;
}

TEST(Compile, TheInstructionsAreTheExpectedOnes) {
  for (const Unit& unit : kUnits) {
    for (const std::string& architecture : kArchitectures) {
      const Compiled& made = matrix().at({unit.name, architecture});
      if (!made.assembled) continue;  // reported above
      EXPECT_EQ(lines(unit.wrong(made, architecture)), "") << unit.name << " for sm_" << architecture;
    }
  }
}

TEST(Compile, ASoftwareCastFailsTheAssertions) {
  const Compiled made = compiler().compile("casts", "90a", "-DHALFULP_SEED_SOFTWARE_CAST");
  ASSERT_TRUE(made.assembled) << made.log;
  const std::string wrong = lines(wrong_in_casts(made, "90a"));
  EXPECT_NE(wrong.find("cast_pairs_e4m3: cvt.rn.satfinite.e4m3x2.f32 in PTX: 0, not 1"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("cast_pairs_e4m3: F2FP in the cubin: 0, not 1"), std::string::npos) << wrong;
}

TEST(Compile, AContractedFmaFailsTheAssertions) {
  const Compiled made = compiler().compile("mma", "90a", "-fmad=true");
  ASSERT_TRUE(made.assembled) << made.log;
  const std::string wrong = lines(wrong_in_mma(made, "90a"));
  EXPECT_NE(wrong.find("promote: fma in PTX: 1, not 0"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("promote: FFMA in the cubin: 1, not 0"), std::string::npos) << wrong;
}

/// The code for one target does not pass as that of another, where the instructions are missing.
TEST(Compile, MissingInstructionsFailTheAssertions) {
  const Compiled& made = matrix().at({"mma", "90"});
  const std::string sm120 = lines(wrong_in_mma(made, "120a")), sm100 = lines(wrong_in_mma(made, "100a"));
  for (const char* wrong : {"mma_nvf4: OMMA: 0, not 1", "mma_mx_e4m3: QMMA with scales: 0, not 1", "mma_e2m1_f32: QMMA: 0, not 1", "mma_mxf4: its types in PTX: 0, not 1"}) {
    EXPECT_NE(sm120.find(wrong), std::string::npos) << wrong << "\n" << sm120;
  }
  for (const char* wrong : {"tcgen05_e4m3_f32: tcgen05.mma in the cubin: 0, not 1", "tcgen05_nvf4: tcgen05.cp in the cubin: 0, not 2", "tcgen05_mx_e4m3: tcgen05.dealloc: 0, not 1"}) {
    EXPECT_NE(sm100.find(wrong), std::string::npos) << wrong << "\n" << sm100;
  }
}

/// Comments and names that look like instructions do not count.
TEST(Compile, OnlyInstructionsAreCounted) {
  const std::string ptx =
      "// cvt.rn.satfinite.e4m3x2.f32\n.visible .entry fma_kernel(\n.param .u64 a) {\n.reg .f32 f<3>;\n/* fma.rn.f32 */ LOOP:\n@%p1 fma.rn.f32 f0, f1, f2, f0;\n"
      "mma.kind::x.f32 {f0}, {f1};\n{ ex2.approx.ftz.f32 f0, f1; }\n@%p1 bra LOOP;\nret;\n}\n.visible .entry other() { fma.rn.f32 a, b, c, d; }\n";
  const std::string body = ptx_of(ptx, "fma_kernel");
  EXPECT_EQ(count_instructions(body, "fma"), 1u);
  EXPECT_EQ(count_instructions(body, "cvt"), 0u);
  EXPECT_EQ(count_instructions(body, "ex2.approx"), 1u);
  EXPECT_EQ(count_instructions(body, "mma.kind::x"), 1u);
  EXPECT_EQ(count_modifier(body, "ftz"), 1u);
  EXPECT_EQ(count_instructions(ptx_of(ptx, "entry"), "fma"), 0u);
}

/// The instruction tables of the design: which assembler accepts what.
TEST(Compile, RefusalsAreTheExpectedOnes) {
  const std::string architectures[] = {"80", "89", "90", "90a", "100", "100a", "103a", "120", "120a", "121a"};
  struct Row {
    const char* instruction;
    const char* accepted;  ///< one letter per architecture
  };
  const Row rows[] = {
      {"cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1;", "-yyyyyyyyy"},
      {"cvt.rn.satfinite.e5m2x2.f32 h0, f0, f1;", "-yyyyyyyyy"},
      {"cvt.rn.satfinite.e4m3x2.f16x2 h0, r0;", "-yyyyyyyyy"},
      {"cvt.rn.f16x2.e4m3x2 r0, h0;", "-yyyyyyyyy"},
      {"cvt.rn.satfinite.e2m1x2.f32 b0, f0, f1;", "-----yy-yy"},
      {"cvt.rn.satfinite.e3m2x2.f32 h0, f0, f1;", "-----yy-yy"},
      {"cvt.rn.satfinite.e2m3x2.f32 h0, f0, f1;", "-----yy-yy"},
      {"cvt.rz.satfinite.ue8m0x2.f32 h0, f0, f1;", "-----yy-yy"},
      {"cvt.rp.ue8m0x2.f32 h0, f0, f1;", "-----yy-yy"},
      {"cvt.rn.bf16x2.ue8m0x2 r0, h0;", "-----yy-yy"},
      {"cvt.rs.satfinite.e4m3x4.f32 r0, {f0, f1, f2, f3}, r1;", "-----yy---"},
      {"cvt.rs.satfinite.e2m1x4.f32 h0, {f0, f1, f2, f3}, r1;", "-----yy---"},
      {"cvt.rn.satfinite.e4m3x2.bf16x2 h0, r0;", "----------"},
      {"cvt.rn.e4m3x2.f32 h0, f0, f1;", "----------"},
      {"cvt.rz.satfinite.e4m3x2.f32 h0, f0, f1;", "----------"},
      {"cvt.rn.satfinite.ue8m0x2.f32 h0, f0, f1;", "----------"},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, f7};", "-yyyyyyyyy"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, {f4, f5, f6, f7};", "--------yy"},
      {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, "
       "{f4, f5, f6, f7}, r6, {0, 0}, r7, {0, 0};",
       "--------yy"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, "
       "{f4, f5, f6, f7}, r6, {0, 0}, r7, {0, 0};",
       "--------yy"},
      {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, "
       "{f4, f5, f6, f7}, r6, {0, 0}, r7, {0, 0};",
       "--------yy"},
      {"wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {f0, f1, f2, f3}, d0, d1, 1, 1, 1;", "---y------"},
      {"tcgen05.mma.cta_group::1.kind::f8f6f4 [r0], d0, d1, r1, p0;", "-----yy---"},
      {"tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [r0], d0, d1, r1, [r2], [r3], p0;", "-----yy---"},
      {"tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X [r0], d0, d1, r1, [r2], [r3], p0;", "-----yy---"},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {r0, r1, r2, r3}, {r4, r5, r6, r7}, {r8, r9}, {r0, r1, r2, r3};", "yyyyyyyyyy"},
  };
  const std::size_t width = std::size(architectures);
  std::vector<std::string> found(std::size(rows), std::string(width, ' ')), logs(std::size(rows) * width);
  in_parallel(std::size(rows) * width, [&](std::size_t i) {
    found[i / width][i % width] = compiler().accepts(rows[i / width].instruction, architectures[i % width], logs[i]) ? 'y' : '-';
  });
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    EXPECT_EQ(found[i], rows[i].accepted) << rows[i].instruction;
    for (std::size_t j = 0; j < width; ++j) {
      if (found[i][j] != '-') continue;
      EXPECT_NE(logs[i * width + j], "") << "a refusal without a reason";
    }
  }
}

}  // namespace
}  // namespace halfulp::gpu
