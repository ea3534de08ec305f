#include "gpu_check/compile/matrix_code.hpp"

#include <algorithm>

#include "gpu_check/compile/assembly.hpp"

namespace halfulp::gpu {
namespace {

using enum MmaInstruction;

struct MatrixText {
  MmaInstruction instruction;
  std::string_view opcode;
  std::uint32_t descriptor = 0;  ///< instruction descriptor of tcgen05.mma, by the PTX ISA: it holds the types and the shape
};
// clang-format off
constexpr MatrixText kTexts[] = {
    {f16_f32,        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
    {f16_f16,        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"},
    {bf16_f32,       "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
    {tf32_f32,       "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
    {e4m3_f32,       "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {e5m2_f32,       "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"},
    {e4m3_f16,       "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16"},
    {e5m2_f16,       "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16"},
    {s8_s32,         "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    {e3m2_f32,       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e3m2.f32"},
    {e2m3_f32,       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e2m3.f32"},
    {e2m1_f32,       "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"},
    {e4m3_e2m1_f32,  "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32"},
    {mx_e4m3,        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0"},
    {mx_e5m2,        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e5m2.e5m2.f32.ue8m0"},
    {mx_e2m1,        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0"},
    {mx_e3m2_e2m3,   "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e3m2.e2m3.f32.ue8m0"},
    {mxf4,           "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0"},
    {nvf4,           "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"},
    {wgmma_e4m3_f32, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3"},
    {wgmma_e5m2_f32, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2"},
    {wgmma_e4m3_f16, "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3"},
    {tcgen05_e4m3_f32,      "tcgen05.mma.cta_group::1.kind::f8f6f4", 0x08040010},
    {tcgen05_e5m2_f32,      "tcgen05.mma.cta_group::1.kind::f8f6f4", 0x08040490},
    {tcgen05_e4m3_f16,      "tcgen05.mma.cta_group::1.kind::f8f6f4", 0x08040000},
    {tcgen05_e3m2_e2m3_f32, "tcgen05.mma.cta_group::1.kind::f8f6f4", 0x08040e10},
    {tcgen05_e4m3_e2m1_f32, "tcgen05.mma.cta_group::1.kind::f8f6f4", 0x08041410},
    {tcgen05_mx_e4m3,       "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X", 0x48840010},
    {tcgen05_mx_e5m2_e3m2,  "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X", 0x48841090},
    {tcgen05_mxf4,          "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X", 0x48840480},
    {tcgen05_nvf4,          "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X", 0x08040480},
};
// clang-format on
static_assert(std::size(kTexts) == std::size(kMmaKinds));

const MatrixText& text_of(MmaInstruction instruction) {
  return *std::find_if(std::begin(kTexts), std::end(kTexts), [&](const MatrixText& one) { return one.instruction == instruction; });
}

bool begins_with(std::string_view text, std::string_view part) { return text.substr(0, part.size()) == part; }
bool ends_with(std::string_view text, std::string_view part) { return text.size() >= part.size() && text.substr(text.size() - part.size()) == part; }

/// "a, b" of "op x, a, b".
std::vector<std::string> operands_of(std::string_view statement) {
  std::vector<std::string> all{""};
  for (const char c : statement.substr(std::min(statement.size(), statement.find(' ')))) {
    if (c == ',') all.emplace_back();
    else if (c != ' ') all.back() += c;
  }
  return all;
}

/// A conditional branch after statement `at` leads back to the last label before it, and no other label comes between.
bool is_repeated(const std::vector<std::string>& statements, std::size_t at) {
  std::size_t label = at;
  while (label > 0 && statements[label].back() != ':') --label;
  const std::string target = statements[label].substr(0, statements[label].size() - 1);
  for (std::size_t i = at + 1; i < statements.size() && statements[i].back() != ':'; ++i) {
    if (opcode_in(statements[i]) == "bra") return statements[i][0] == '@' && ends_with(statements[i], " " + target);
  }
  return false;
}

}  // namespace

std::string_view matrix_opcode(MmaInstruction instruction) { return text_of(instruction).opcode; }

void add_group_order(OpcodeTable& table, std::size_t times) {
  for (const char* one : {"wgmma.fence.sync.aligned", "wgmma.commit_group.sync.aligned", "wgmma.wait_group.sync.aligned"}) table[one] += times;
}

OpcodeTable tensor_memory_order(bool scaled) {
  OpcodeTable table = {{"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", 1},
                       {"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", 1},
                       {"mbarrier.init.shared::cta.b64", 1},
                       {"tcgen05.st.sync.aligned.32x32b.x16.b32", 1},
                       {"tcgen05.wait::st.sync.aligned", 1},
                       {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64", 1},
                       {"mbarrier.try_wait.parity.shared::cta.b64", 1},
                       {"tcgen05.ld.sync.aligned.32x32b.x16.b32", 1},
                       {"tcgen05.wait::ld.sync.aligned", 1},
                       {"tcgen05.dealloc.cta_group::1.sync.aligned.b32", 1},
                       {"tcgen05.fence::before_thread_sync", 3},
                       {"tcgen05.fence::after_thread_sync", 4},
                       {"bar.warp.sync", 1}};
  if (scaled) table["tcgen05.cp.cta_group::1.32x128b.warpx4"] = 2;
  return table;
}

std::vector<std::string> wrong_opcodes(const std::string& name, const std::string& ptx, const OpcodeTable& right) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> found_and_right;
  for (const std::string& statement : statements_of(ptx)) {
    const std::string opcode = opcode_in(statement);
    for (const char* family : {"mma.", "wmma.", "wgmma.", "tcgen05.", "mbarrier.", "fence.", "bar.", "barrier."}) {
      if (begins_with(opcode, family)) ++found_and_right[opcode].first;
    }
  }
  for (const auto& [opcode, times] : right) found_and_right[opcode].second = times;
  std::vector<std::string> findings;
  for (const auto& [opcode, counts] : found_and_right) {
    if (counts.first != counts.second) findings.push_back(name + ": " + opcode + " in PTX: " + std::to_string(counts.first) + ", not " + std::to_string(counts.second));
  }
  return findings;
}

std::vector<std::string> wrong_group_operands(const std::string& name, const std::string& ptx) {
  std::vector<std::string> findings;
  for (const std::string& statement : statements_of(ptx)) {
    const std::string opcode = opcode_in(statement);
    if (begins_with(opcode, "wgmma.mma_async.") && !ends_with(statement, ", 1, 1, 1")) findings.push_back(name + ": wgmma without c or with a sign: " + statement);
    if (begins_with(opcode, "wgmma.wait_group.") && !ends_with(statement, " 0")) findings.push_back(name + ": does not wait for the last group: " + statement);
  }
  return findings;
}

std::vector<std::string> wrong_tensor_operands(const std::string& name, const std::string& ptx, MmaInstruction instruction) {
  std::vector<std::string> findings;
  const std::vector<std::string> statements = statements_of(ptx);
  for (std::size_t i = 1; i < statements.size(); ++i) {
    const std::string opcode = opcode_in(statements[i]);
    if (begins_with(opcode, "tcgen05.mma.")) {
      const std::vector<std::string> operands = operands_of(statements[i]);
      const std::string truth = "setp.ne.b32 " + operands.back() + ", 1, 0";
      if (statements[i][0] == '@' || statements[i - 1] != truth) findings.push_back(name + ": tcgen05.mma not under " + truth + ": " + statements[i - 1]);
      const std::string descriptor = operands.size() > 3 ? "mov.b32 " + operands[3] + ", " + std::to_string(text_of(instruction).descriptor) : "four operands";
      if (std::find(statements.begin(), statements.begin() + static_cast<std::ptrdiff_t>(i), descriptor) == statements.begin() + static_cast<std::ptrdiff_t>(i)) {
        findings.push_back(name + ": instruction descriptor: no " + descriptor);
      }
    }
    if (begins_with(opcode, "mbarrier.try_wait.") && !is_repeated(statements, i)) findings.push_back(name + ": mbarrier.try_wait is not repeated");
  }
  return findings;
}

}  // namespace halfulp::gpu
