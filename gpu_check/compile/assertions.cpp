#include "gpu_check/compile/assertions.hpp"

#include "gpu_check/cast_cases.hpp"
#include "gpu_check/compile/assembly.hpp"
#include "gpu_check/compile/matrix_code.hpp"
#include "gpu_check/mma_kinds.hpp"

namespace halfulp::gpu {
namespace {

class Findings {
 public:
  void expect(bool right, const std::string& what) {
    if (!right) all_.push_back(what);
  }
  void count(const std::string& what, std::size_t found, std::size_t least, std::size_t most) {
    expect(found >= least && found <= most, what + ": " + std::to_string(found) + ", not " + std::to_string(least) + (most == least ? "" : " or more"));
  }
  void exactly(const std::string& what, std::size_t found, std::size_t right) { count(what, found, right, right); }
  void add(const std::vector<std::string>& more) { all_.insert(all_.end(), more.begin(), more.end()); }
  void some(const std::string& what, std::size_t found) { count(what, found, 1, ~std::size_t{0}); }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::vector<std::string> all_;
};

int number_of(const std::string& architecture) { return std::stoi(architecture); }

/// Mangled names of template kernels hold their arguments as E<number>E.
std::string sweep_kernel(CastMethod method) { return "sweepILNS0_10CastMethodE" + std::to_string(static_cast<int>(method)) + "E"; }
std::string mma_kernel(const MmaKind& kind) {
  const bool scaled = kind.scales() != 0;
  const char* name = kind.unit() == MmaUnit::tcgen05 ? "13tcgen05_tiles"
                     : kind.unit() == MmaUnit::wgmma ? "11wgmma_tiles"
                     : scaled                        ? "16mma_scaled_tiles"
                                                     : "9mma_tiles";
  return std::string(name) + "ILNS0_14MmaInstructionE" + std::to_string(static_cast<int>(kind.instruction)) + "E";
}
/// Every opcode of the matrix units that the kernel of a kind holds.
OpcodeTable opcodes_of_kind(const MmaKind& kind, int architecture, bool there) {
  OpcodeTable right;
  if (there && kind.unit() == MmaUnit::tcgen05) right = tensor_memory_order(kind.scales() != 0);
  if (there && kind.unit() == MmaUnit::wgmma) add_group_order(right, 1);
  if (there) right[std::string(matrix_opcode(kind.instruction))] = 1;
  if (kind.m == 16) return right;
  right["bar.sync"] = kind.unit() == MmaUnit::tcgen05 ? 3 : 1;
  if (architecture >= 90) right["fence.proxy.async.shared::cta"] = 1;
  return right;
}

/// Instructions of NVIDIA's header where the architecture has them, as often as nvcc 13.0 leaves them: those of float32 also serve bf16 to FP8 and
/// f16 to FP4, and saturating or not may share one.
struct HeaderCast {
  std::string_view instruction;
  Available available;
  std::size_t times = 1;
};
constexpr HeaderCast kHeaderCasts[] = {{"cvt.rn.satfinite.e4m3x2.f32", Available::from_sm_89, 3},
                                       {"cvt.rn.satfinite.e5m2x2.f32", Available::from_sm_89, 3},
                                       {"cvt.rn.satfinite.e4m3x2.f16x2", Available::from_sm_89},
                                       {"cvt.rn.satfinite.e5m2x2.f16x2", Available::from_sm_89},
                                       {"cvt.rn.f16x2.e4m3x2", Available::from_sm_89},
                                       {"cvt.rn.f16x2.e5m2x2", Available::from_sm_89},
                                       {"cvt.rn.satfinite.e2m1x2.f32", Available::blackwell_a, 2},
                                       {"cvt.rn.satfinite.e2m3x2.f32", Available::blackwell_a},
                                       {"cvt.rn.satfinite.e3m2x2.f32", Available::blackwell_a},
                                       {"cvt.rn.f16x2.e2m1x2", Available::blackwell_a},
                                       {"cvt.rn.f16x2.e2m3x2", Available::blackwell_a},
                                       {"cvt.rn.f16x2.e3m2x2", Available::blackwell_a},
                                       {"cvt.rz.ue8m0x2.f32", Available::blackwell_a},
                                       {"cvt.rp.ue8m0x2.f32", Available::blackwell_a},
                                       {"cvt.rz.satfinite.ue8m0x2.f32", Available::blackwell_a},
                                       {"cvt.rp.satfinite.ue8m0x2.f32", Available::blackwell_a},
                                       {"cvt.rz.ue8m0x2.bf16x2", Available::blackwell_a},
                                       {"cvt.rp.ue8m0x2.bf16x2", Available::blackwell_a},
                                       {"cvt.rz.satfinite.ue8m0x2.bf16x2", Available::blackwell_a},
                                       {"cvt.rp.satfinite.ue8m0x2.bf16x2", Available::blackwell_a},
                                       {"cvt.rn.bf16x2.ue8m0x2", Available::blackwell_a}};

std::string study_kernel(const char* kernel, int function) { return std::string(kernel) + "ILNS0_12MufuFunctionE" + std::to_string(function) + "E"; }

}  // namespace

std::vector<std::string> wrong_in_casts(const Compiled& made, const std::string& architecture) {
  Findings findings;
  const std::string pairs = ptx_of(made.ptx, "cast_pairs_e4m3");
  findings.exactly("cast_pairs_e4m3: cvt.rn.satfinite.e4m3x2.f32 in PTX", count_instructions(pairs, "cvt.rn.satfinite.e4m3x2.f32"), 1);
  findings.exactly("cast_pairs_e4m3: F2FP in the cubin", count(opcodes_of(made.cubin, "cast_pairs_e4m3"), kF2fp), 1);

  // The engine is integers only. (With formats known at run time it also holds an integer division, which compilers begin with rcp.approx.)
  const std::string engine = ptx_of(made.ptx, "cast_codes_e4m3");
  findings.expect(!engine.empty(), "cast_codes_e4m3: not found");
  for (const char* forbidden : {"fma", "mul.f32", "add.f32", "ex2", "rcp", "div"}) findings.exactly(std::string("engine: ") + forbidden, count_instructions(engine, forbidden), 0);
  for (const char* forbidden : {"approx", "ftz", "f32", "f64", "satfinite"}) findings.exactly(std::string("engine: .") + forbidden, count_modifier(engine, forbidden), 0);
  findings.exactly("engine: MUFU in the cubin", count(opcodes_of(made.cubin, "cast_codes_e4m3"), kMufu), 0);
  const std::string run_time = ptx_of(made.ptx, sweep_kernel(CastMethod::engine));
  findings.expect(!run_time.empty(), "sweep of the engine: not found");
  for (const char* forbidden : {"fma", "ex2", "cvt.rn.satfinite"}) findings.exactly(std::string("run-time engine: ") + forbidden, count_instructions(run_time, forbidden), 0);

  const std::string header = ptx_of(made.ptx, sweep_kernel(CastMethod::header)), ptx = ptx_of(made.ptx, sweep_kernel(CastMethod::ptx));
  const bool blackwell = number_of(architecture) >= 100 && architecture.back() == 'a';
  for (const HeaderCast& one : kHeaderCasts) {
    const bool there = one.available == Available::from_sm_89 || blackwell;
    findings.exactly("header: " + std::string(one.instruction), count_instructions(header, one.instruction), there ? one.times : 0);
  }
  for (const CastCase& cast : kCastCases) {
    if (cast.method != CastMethod::ptx) continue;
    const int number = is_available(cast.available, number_of(architecture)) && (cast.available == Available::from_sm_89 || blackwell) ? 1 : 0;
    findings.exactly("ptx: " + std::string(name_of(cast.cvt)) + " (loops apart)", count_instructions(ptx, name_of(cast.cvt)) != 0 ? 1 : 0,
                     static_cast<std::size_t>(number));
  }
  return findings.take();
}

std::vector<std::string> wrong_in_mma(const Compiled& made, const std::string& architecture) {
  Findings findings;
  const int number = number_of(architecture);
  const bool specific = architecture.back() == 'a';
  const bool fp8_unit = number == 89 || number >= 120;  // mma.sync with FP8 has a unit of its own there, and runs on the f16 unit elsewhere
  for (const MmaKind& kind : kMmaKinds) {
    const std::string kernel = mma_kernel(kind), name(kind.name), ptx = ptx_of(made.ptx, kernel);
    const Opcodes opcodes = opcodes_of(made.cubin, kernel);
    findings.expect(!opcodes.empty(), name + ": not found");
    const MmaUnit unit = kind.unit();
    const bool sync = kind.m == 16, fp8 = sync && kind.element_bits == 8 && kind.a != "int8", packed = kind.element_bits == 4, scaled = kind.scales() != 0;
    const bool there = unit == MmaUnit::mma_sync || (specific && number / 10 == (unit == MmaUnit::wgmma ? 9 : unit == MmaUnit::tcgen05 ? 10 : 12));
    const bool tensor = there && unit == MmaUnit::tcgen05, narrow = unit == MmaUnit::narrow_mma_sync;
    const auto opcode = [&](const char* what, std::size_t found, bool right, std::size_t times = 1) {
      findings.exactly(name + ": " + what, found, right ? times : 0);
    };
    opcode("QGMMA", count(opcodes, kQgmma), there && unit == MmaUnit::wgmma);
    opcode("QMMA", count(opcodes, kQmma), there && fp8 && fp8_unit);
    opcode("QMMA with scales", count_form(opcodes, kScaledQmma), there && fp8 && scaled);
    opcode("OMMA", count(opcodes, kOmma), there && sync && packed);
    opcode("HMMA", count(opcodes, kHmma), sync && !narrow && kind.a != "int8" && !(fp8 && fp8_unit), fp8 ? 2 : 1);
    opcode("IMMA", count(opcodes, kImma), kind.a == "int8");
    opcode("tcgen05.mma in the cubin", count(opcodes, kTensorMma), tensor);
    opcode("tcgen05.cp in the cubin", count(opcodes, kTensorCopy), tensor && scaled, 2);
    opcode("tcgen05.st in the cubin", count(opcodes, kTensorStore), tensor);
    opcode("tcgen05.ld in the cubin", count(opcodes, kTensorLoad), tensor);
    findings.add(wrong_opcodes(name, ptx, opcodes_of_kind(kind, number, there)));
    findings.add(wrong_group_operands(name, ptx));
    findings.add(wrong_tensor_operands(name, ptx, kind.instruction));
  }
  const std::string promote = ptx_of(made.ptx, "promote");
  const Opcodes opcodes = opcodes_of(made.cubin, "promote");
  findings.exactly("promote: fma in PTX", count_instructions(promote, "fma"), 0);
  findings.exactly("promote: mul of f32 in PTX", count_instructions(promote, "mul.f32") + count_instructions(promote, "mul.rn.f32"), 1);
  findings.exactly("promote: add of f32 in PTX", count_instructions(promote, "add.f32") + count_instructions(promote, "add.rn.f32"), 1);
  findings.exactly("promote: FFMA in the cubin", count(opcodes, kFfma), 0);
  findings.exactly("promote: FMUL in the cubin", count(opcodes, kFmul), 1);
  findings.exactly("promote: FADD in the cubin", count(opcodes, kFadd), 1);
  return findings.take();
}

std::vector<std::string> wrong_in_mufu(const Compiled& made, const std::string&) {
  Findings findings;
  constexpr const char* kInstructions[] = {"ex2.approx.f32", "ex2.approx.ftz.f32", "rcp.approx.f32", "rcp.approx.ftz.f32"};
  for (int function = 0; function < 4; ++function) {
    for (const char* kernel : {"mufu_sweep", "mufu_window"}) {
      const std::string name = study_kernel(kernel, function), ptx = ptx_of(made.ptx, name);
      for (int other = 0; other < 4; ++other) {
        findings.count(name + ": " + kInstructions[other], count_instructions(ptx, kInstructions[other]), other == function ? 1 : 0, other == function ? 9 : 0);
      }
      findings.some(name + ": MUFU in the cubin", count(opcodes_of(made.cubin, name), kMufu));
    }
  }
  return findings.take();
}

}  // namespace halfulp::gpu
