#include "gpu_check/compile/attention_assertions.hpp"

#include "gpu_check/compile/assembly.hpp"
#include "gpu_check/compile/matrix_code.hpp"

namespace halfulp::gpu {
namespace {

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// A kernel by a part of its mangled name, and its matrix instruction: of QK, and as often of PV.
struct Entry {
  std::string name;
  bool in_integers;             ///< no matrix instruction at all
  MmaInstruction instruction = MmaInstruction::e4m3_f32;
  bool scores_only = false;     ///< PV in integers
};

std::string unit(const char* name, MmaInstruction instruction) {
  const std::string text = name;
  return std::to_string(text.size()) + text + "ILNS0_14MmaInstructionE" + std::to_string(static_cast<int>(instruction)) + "E";
}

std::vector<Entry> entries() {
  using enum MmaInstruction;
  const std::string fp8 = "6KernelINS0_15ContiguousCacheIhEENS0_", paged = "6KernelINS0_10PagedCacheENS0_", kivi = "6KernelINS0_9KiviCacheENS0_";
  return {{fp8 + "12EmulatedUnit", true},
          {fp8 + unit("MmaSyncUnit", e4m3_f32), false, e4m3_f32},
          {fp8 + unit("WgmmaUnit", wgmma_e4m3_f32), false, wgmma_e4m3_f32},
          {fp8 + unit("WgmmaUnit", wgmma_e5m2_f32), false, wgmma_e5m2_f32},
          {fp8 + unit("MmaSyncUnit", s8_s32), false, s8_s32, true},
          {paged + "12EmulatedUnit", true},
          {paged + unit("MmaSyncUnit", e4m3_f32), false, e4m3_f32},
          {kivi + "12EmulatedUnit", true},
          {kivi + unit("MmaSyncUnit", f16_f32), false, f16_f32}};
}

}  // namespace

std::vector<std::string> wrong_in_attention_kernels(const Compiled& made, const std::string& architecture) {
  std::vector<std::string> findings;
  const auto exactly = [&](const std::string& what, std::size_t found, std::size_t right) {
    if (found != right) findings.push_back(what + ": " + std::to_string(found) + ", not " + std::to_string(right));
  };
  const auto no_approximation = [&](const std::string& name, const std::string& ptx) {
    for (const char* modifier : {"approx", "ftz"}) exactly(name + ": ." + modifier, count_modifier(ptx, modifier), 0);
    // Without .rn an operation may be fused later.
    for (const char* instruction : {"ex2", "mad.f32", "mad.rn.f32", "mul.f32", "add.f32", "sub.f32"}) exactly(name + ": " + instruction, count_instructions(ptx, instruction), 0);
  };
  // In the cubin no function of the approximate unit but RCP, which seeds divisions: exp2 is a polynomial.
  const auto divisions_only = [&](const std::string& name) {
    if (opcodes_of(made.cubin, name).empty()) findings.push_back(name + ": not in the cubin");
    for (const auto& [function, times] : mufu_functions_of(made.cubin, name)) {
      if (function != kMufuRcp && function != (kMufuRsq | kMufuOfConstant)) exactly(name + ": MUFU." + mufu_name(function) + " in the cubin", times, 0);
    }
  };
  // Every exp2_p6 adds 1.5 * 2^23 once and has six fma. A kernel holds four of them (rescale, weight, sink, tanh) and 15 more
  // fma: b, t, two of the sink, eleven of tanh.
  const auto fused = [&](const std::string& name, const std::string& ptx, std::size_t least_exp2, std::size_t others) {
    const std::size_t exp2 = occurrences(ptx, "0f4B400000");
    if (exp2 < least_exp2) findings.push_back(name + ": exp2_p6 found " + std::to_string(exp2) + " times");
    exactly(name + ": fma beside those of exp2_p6", count_instructions(ptx, "fma.rn.f32") - 6 * exp2, others);
    exactly(name + ": other fma", count_instructions(ptx, "fma"), count_instructions(ptx, "fma.rn.f32"));
  };
  for (const Entry& entry : entries()) {
    const std::string ptx = ptx_of(made.ptx, entry.name);
    if (ptx.empty()) {
      findings.push_back(entry.name + ": not found");
      continue;
    }
    no_approximation(entry.name, ptx);
    divisions_only(entry.name);
    fused(entry.name, ptx, 4, 15);
    const bool wgmma = entry.name.find("WgmmaUnit") != std::string::npos, any_wgmma = wgmma && architecture == "90a";
    const std::size_t places = entry.scores_only ? 1 : 2;
    OpcodeTable right = {{"bar.sync", 5}, {"bar.warp.sync", 1}};
    if (std::stoi(architecture) >= 90) right["fence.proxy.async.shared::cta"] = 2;
    if (any_wgmma) add_group_order(right, places);
    if (!entry.in_integers && any_wgmma == wgmma) right[std::string(matrix_opcode(entry.instruction))] = places;
    const auto add = [&](const std::vector<std::string>& more) { findings.insert(findings.end(), more.begin(), more.end()); };
    add(wrong_opcodes(entry.name, ptx, right));
    add(wrong_group_operands(entry.name, ptx));
    if (any_wgmma) exactly(entry.name + ": QGMMA in the cubin", count(opcodes_of(made.cubin, entry.name), kQgmma), places);
  }
  const std::string combine = ptx_of(made.ptx, "attention_combine");
  no_approximation("attention_combine", combine);
  divisions_only("attention_combine");
  fused("attention_combine", combine, 2, 0);
  if (count_instructions(combine, "div.rn.f32") + count_instructions(combine, "rcp.rn.f32") == 0) findings.push_back("attention_combine: no IEEE division");
  return findings;
}

}  // namespace halfulp::gpu
