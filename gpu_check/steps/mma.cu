// Matrix instructions, one per tile, against the words that prepare wrote.
#include <algorithm>

#include "gpu_check/backend.hpp"
#include "gpu_check/kernels/wgmma.cuh"
#include "gpu_check/mma_kinds.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

constexpr std::size_t kFirst = 16;

using Words = Buffer<std::uint32_t>;

template <MmaInstruction I, bool F16>
Launched run_sync(const Words& a, const Words& b, const Words& c, Words& d, unsigned tiles) {
  return launch("mma_tiles", mma_tiles<I, F16>, {(tiles + 1) / 2, 64}, a.in(), b.in(), c.in(), d.out(), tiles);
}
template <MmaInstruction I, bool F16>
Launched run_wgmma(const Words& a, const Words& b, const Words& c, Words& d, unsigned tiles) {
  return launch("wgmma_tiles", wgmma_tiles<I, F16>, {tiles, 128}, a.in(), b.in(), c.in(), d.out());
}

using Run = Launched (*)(const Words&, const Words&, const Words&, Words&, unsigned);

struct KindRun {
  MmaInstruction instruction;
  Run run;
};
constexpr KindRun kRuns[] = {
    {MmaInstruction::f16_f32, run_sync<MmaInstruction::f16_f32, false>},
    {MmaInstruction::f16_f16, run_sync<MmaInstruction::f16_f16, true>},
    {MmaInstruction::bf16_f32, run_sync<MmaInstruction::bf16_f32, false>},
    {MmaInstruction::tf32_f32, run_sync<MmaInstruction::tf32_f32, false>},
    {MmaInstruction::e4m3_f32, run_sync<MmaInstruction::e4m3_f32, false>},
    {MmaInstruction::e5m2_f32, run_sync<MmaInstruction::e5m2_f32, false>},
    {MmaInstruction::e4m3_f16, run_sync<MmaInstruction::e4m3_f16, true>},
    {MmaInstruction::e5m2_f16, run_sync<MmaInstruction::e5m2_f16, true>},
    {MmaInstruction::s8_s32, run_sync<MmaInstruction::s8_s32, false>},
    {MmaInstruction::wgmma_e4m3_f32, run_wgmma<MmaInstruction::wgmma_e4m3_f32, false>},
    {MmaInstruction::wgmma_e5m2_f32, run_wgmma<MmaInstruction::wgmma_e5m2_f32, false>},
    {MmaInstruction::wgmma_e4m3_f16, run_wgmma<MmaInstruction::wgmma_e4m3_f16, true>},
};

/// "a | b | c" of one output, as `halfulp mma` reads rows of codes, and what came and what was right.
std::string line_of(const MmaKind& kind, const MmaTiles& tiles, std::size_t output, std::uint32_t got) {
  const auto outputs = static_cast<std::size_t>(kind.outputs()), n = static_cast<std::size_t>(kind.n), m = static_cast<std::size_t>(kind.m);
  const std::size_t tile = output / outputs, row = output % outputs / n, column = output % n;
  const auto codes = [&kind](const std::uint32_t* words) {
    std::string text;
    const int per_word = 4 / kind.element_bytes;
    for (int k = 0; k < kind.k(); ++k) {
      const std::uint32_t word = words[k / per_word];
      const std::uint32_t code = kind.element_bytes == 4 ? word : word >> (8 * kind.element_bytes * (k % per_word)) & ((1u << (8 * kind.element_bytes)) - 1);
      text += hex(code, 2 * kind.element_bytes) + " ";
    }
    return text;
  };
  return codes(&tiles.a[(tile * m + row) * 8]) + "| " + codes(&tiles.b[(tile * n + column) * 8]) + "| " + hex(tiles.c[output]) + ": got " + hex(got) +
         ", right " + hex(tiles.right_a[output]) + (tiles.right_a[output] != tiles.right_b[output] ? " or " + hex(tiles.right_b[output]) : "");
}

/// One row per class of tiles.
void judge(const MmaKind& kind, const MmaTiles& tiles, const std::vector<std::uint32_t>& got, const Launched& launched, StepReport& report) {
  const auto outputs = static_cast<std::size_t>(kind.outputs());
  std::size_t at = 0;
  for (const MmaTiles::Class& one : tiles.classes) {
    ResultRow row = row_named(std::string(kind.name) + ": " + one.name);
    std::uint64_t only_a = 0, only_b = 0;
    for (const std::size_t end = at + one.tiles * outputs; at < end; ++at) {
      ++row.inputs;
      const bool a = got[at] == tiles.right_a[at], b = got[at] == tiles.right_b[at];
      if (a && b) continue;
      only_a += a ? 1 : 0;
      only_b += b ? 1 : 0;
      if (a || b) continue;
      ++row.mismatches;
      if (row.first.size() < kFirst) row.first.push_back(line_of(kind, tiles, at, got[at]));
    }
    if (only_a + only_b != 0) row.counts = {{"zero_rule_a", only_a}, {"zero_rule_b", only_b}};
    for (const std::string& fault : launched.faults) row.first.insert(row.first.begin(), fault);
    row.seconds = launched.seconds;
    row.status = row.mismatches == 0 && row.inputs != 0 && launched.ok() ? Status::passed : Status::failed;
    report.rows.push_back(row);
  }
}

}  // namespace

StepReport run_mma(const StepContext& context) {
  StepReport report{"mma"};
  const int family = family_of(context.device.architecture);
  for (const KindRun& each : kRuns) {
    const MmaKind& kind = kind_of(each.instruction);
    ResultRow skipped = row_named(std::string(kind.name));
    skipped.status = Status::skipped;
    if (family < 0 || kind.models[static_cast<std::size_t>(family)].empty()) {
      skipped.note = "no such instruction, or no model of it, on sm_" + std::to_string(context.device.architecture);
      report.rows.push_back(skipped);
      continue;
    }
    const MmaTiles tiles = read_tiles(tiles_path(context.data, kind, family), kind);
    const Words a("a", tiles.a), b("b", tiles.b), c("c", tiles.c);
    Words d("d", tiles.c.size());
    const Launched launched = each.run(a, b, c, d, tiles.tiles());
    if (launched.no_image) {
      skipped.note = "no kernel image for this device";
      report.rows.push_back(skipped);
      continue;
    }
    judge(kind, tiles, d.download(), launched, report);
  }
  return report;
}

}  // namespace halfulp::gpu
