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

TEST(Compile, ASoftwareCastInTheHeadersPlaceFailsTheAssertions) {
  const std::pair<std::string, std::vector<std::string>> expected[] = {
      {"90a", {"header: cvt.rn.satfinite.e4m3x2.f16x2: 0, not 1", "header: cvt.rn.satfinite.e5m2x2.f16x2: 0, not 1"}},
      {"120a", {"header: cvt.rn.satfinite.e2m1x2.f32: 0, not 2", "header: cvt.rn.f16x2.e2m1x2: 0, not 1"}}};
  for (const auto& [architecture, findings] : expected) {
    const Compiled made = compiler().compile("casts", architecture, "-DHALFULP_SEED_SOFTWARE_HEADER");
    ASSERT_TRUE(made.assembled) << made.log;
    const std::string wrong = lines(wrong_in_casts(made, architecture));
    for (const std::string& finding : findings) EXPECT_NE(wrong.find(finding), std::string::npos) << finding << "\n" << wrong;
  }
}

/// Every instruction of the header in turn is taken for another one.
TEST(Compile, EveryCastOfTheHeaderIsAsserted) {
  for (const std::string architecture : {"89", "103a"}) {
    const Compiled& made = matrix().at({"casts", architecture});
    std::size_t seen = 0;
    for (const std::string& statement : statements_of(ptx_of(made.ptx, "sweepILNS0_10CastMethodE1E"))) {
      const std::string opcode = opcode_in(statement);
      const bool narrow = opcode.find("x2.f") != std::string::npos || opcode.find("16x2") != std::string::npos;
      if (opcode.compare(0, 4, "cvt.") != 0 || !narrow) continue;
      Compiled changed = made;
      for (std::size_t at = changed.ptx.find(opcode); at != std::string::npos; at = changed.ptx.find(opcode, at + 1)) changed.ptx.replace(at, 4, "cvx.");
      EXPECT_NE(lines(wrong_in_casts(changed, architecture)).find("header: " + opcode + ": 0, not "), std::string::npos) << architecture << " " << opcode;
      ++seen;
    }
    EXPECT_GE(seen, architecture == "89" ? 6u : 21u) << architecture;
  }
}

/// Wrong types, a wrong descriptor, missing waits and fences, c left out: the text of the PTX is changed.
TEST(Compile, ChangedPtxOfMatrixKernelsFailsTheAssertions) {
  struct Change {
    const char *architecture, *from, *to, *finding;
  };
  const Change changes[] = {
      {"89", "f32.e5m2.e5m2.f32", "f32.e4m3.e4m3.f32", "mma_e5m2_f32: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 in PTX: 0, not 1"},
      {"90", "f32.bf16.bf16.f32", "f32.f16.f16.f32", "mma_bf16_f32: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 in PTX: 1, not 0"},
      {"100a", "s32.s8.s8.s32", "s32.u8.u8.s32", "mma_s8_s32: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 in PTX: 0, not 1"},
      {"120a", "row.col.s32.s8", "row.col.satfinite.s32.s8", "mma_s8_s32: mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 in PTX: 1, not 0"},
      {"103a", "f16.e5m2.e5m2.f16", "f16.e4m3.e5m2.f16", "mma_e5m2_f16: mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16 in PTX: 0, not 1"},
      {"120a", "f32.e3m2.e2m3.f32.ue8m0", "f32.e2m3.e3m2.f32.ue8m0", "mma_mx_e3m2_e2m3: mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m3.f32.ue8m0 in PTX: 0, not 1"},
      {"90a", "m64n8k32.f32.e5m2.e5m2", "m64n8k32.f32.e4m3.e4m3", "wgmma_e5m2_f32: wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2 in PTX: 0, not 1"},
      {"90a", ", 1, 1, 1;", ", 1, 1, -1;", "wgmma_e4m3_f16: wgmma without c or with a sign"},
      {"90a", ", 1, 1, 1;", ", 0, 1, 1;", "wgmma_e4m3_f32: wgmma without c or with a sign"},
      {"90a", "wgmma.wait_group.sync.aligned 0;", "", "wgmma_e4m3_f32: wgmma.wait_group.sync.aligned in PTX: 0, not 1"},
      {"90a", "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", "wgmma_e5m2_f32: does not wait for the last group"},
      {"90a", "wgmma.fence.sync.aligned;", "", "wgmma_e4m3_f16: wgmma.fence.sync.aligned in PTX: 0, not 1"},
      {"90a", "fence.proxy.async.shared::cta;", "", "wgmma_e4m3_f16: fence.proxy.async.shared::cta in PTX: 0, not 1"},
      {"100a", "fence.proxy.async.shared::cta;", "", "tcgen05_nvf4: fence.proxy.async.shared::cta in PTX: 0, not 1"},
      {"100a", "kind::mxf4.block_scale.scale_vec::2X", "kind::mxf4nvf4.block_scale.scale_vec::2X", "tcgen05_mxf4: tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X in PTX: 0, not 1"},
      {"100a", ", 134481040;", ", 134479888;", "tcgen05_e5m2_f32: instruction descriptor: no mov.b32 "},
      {"103a", "setp.ne.b32 p, 1, 0;", "setp.ne.b32 p, 0, 0;", "tcgen05_mx_e4m3: tcgen05.mma not under setp.ne.b32 p, 1, 0"},
      {"103a", "tcgen05.mma.", "@q tcgen05.mma.", "tcgen05_e4m3_f16: tcgen05.mma not under setp.ne.b32 p, 1, 0"},
      {"100a", "tcgen05.wait::st.sync.aligned;", "", "tcgen05_e4m3_f32: tcgen05.wait::st.sync.aligned in PTX: 0, not 1"},
      {"100a", "tcgen05.wait::ld.sync.aligned;", "", "tcgen05_e4m3_f32: tcgen05.wait::ld.sync.aligned in PTX: 0, not 1"},
      {"100a", "tcgen05.commit.", "tcgen05.shift.", "tcgen05_mxf4: tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 in PTX: 0, not 1"},
      {"100a", "mbarrier.try_wait.", "mbarrier.test_wait.", "tcgen05_nvf4: mbarrier.try_wait.parity.shared::cta.b64 in PTX: 0, not 1"},
      {"100a", "mbarrier.try_wait.", "ret;\nagain:\nmbarrier.try_wait.", "tcgen05_nvf4: mbarrier.try_wait is not repeated"},
      {"103a", "// end inline asm", "bra out;", "tcgen05_e4m3_f32: mbarrier.try_wait is not repeated"},
      {"100a", "bar.sync \t0;", "", "tcgen05_e4m3_f32: bar.sync in PTX: 0, not 3"},
  };
  for (const Change& change : changes) {
    Compiled made = matrix().at({"mma", change.architecture});
    std::size_t times = 0;
    const std::string from = change.from, to = change.to;
    for (std::size_t at = made.ptx.find(from); at != std::string::npos; at = made.ptx.find(from, at + to.size()), ++times) made.ptx.replace(at, from.size(), to);
    EXPECT_NE(times, 0u) << from << " is not in the code for sm_" << change.architecture;
    const std::string wrong = lines(wrong_in_mma(made, change.architecture));
    EXPECT_NE(wrong.find(change.finding), std::string::npos) << change.architecture << " " << change.finding << "\n" << wrong;
  }
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
  for (const char* wrong : {"mma_nvf4: OMMA: 0, not 1", "mma_mx_e4m3: QMMA with scales: 0, not 1", "mma_e2m1_f32: QMMA: 0, not 1", "mma_mxf4: mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 in PTX: 0, not 1"}) {
    EXPECT_NE(sm120.find(wrong), std::string::npos) << wrong << "\n" << sm120;
  }
  for (const char* wrong : {"tcgen05_e4m3_f32: tcgen05.mma in the cubin: 0, not 1", "tcgen05_nvf4: tcgen05.cp in the cubin: 0, not 2", "tcgen05_mx_e4m3: tcgen05.dealloc.cta_group::1.sync.aligned.b32 in PTX: 0, not 1"}) {
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
  EXPECT_EQ(statements_of(body), (std::vector<std::string>{".reg .f32 f<3>", "LOOP:", "@%p1 fma.rn.f32 f0, f1, f2, f0", "mma.kind::x.f32 {f0}, {f1}",
                                                           "ex2.approx.ftz.f32 f0, f1", "@%p1 bra LOOP", "ret"}));
  EXPECT_EQ(opcode_in("@%p1 fma.rn.f32 f0, f1, f2, f0"), "fma.rn.f32");
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
