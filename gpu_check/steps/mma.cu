// Matrix instructions, one per tile, against the words that prepare wrote.
#include <algorithm>

#include "gpu_check/backend.hpp"
#include "gpu_check/kernels/tcgen05.cuh"
#include "gpu_check/mma_kinds.hpp"
#include "gpu_check/steps/steps.hpp"

namespace halfulp::gpu {
namespace {

constexpr std::size_t kFirst = 16;

using Words = Buffer<std::uint32_t>;

struct TileBuffers {
  Words a, b, c, scale_a, scale_b, d;
  unsigned tiles;

  explicit TileBuffers(const MmaTiles& from)
      : a("a", from.a), b("b", from.b), c("c", from.c), scale_a("scale_a", from.scale_a), scale_b("scale_b", from.scale_b), d("d", from.c.size()),
        tiles(from.tiles()) {}
};

template <MmaInstruction I, bool F16>
Launched run_sync(TileBuffers& x) {
  return launch("mma_tiles", mma_tiles<I, F16>, {(x.tiles + 1) / 2, 64}, x.a.in(), x.b.in(), x.c.in(), x.d.out(), x.tiles);
}
template <MmaInstruction I>
Launched run_scaled(TileBuffers& x) {
  return launch("mma_scaled_tiles", mma_scaled_tiles<I>, {x.tiles, 32}, x.a.in(), x.b.in(), x.c.in(), x.scale_a.in(), x.scale_b.in(), x.d.out());
}
template <MmaInstruction I, bool F16>
Launched run_wgmma(TileBuffers& x) {
  return launch("wgmma_tiles", wgmma_tiles<I, F16>, {x.tiles, 128}, x.a.in(), x.b.in(), x.c.in(), x.d.out());
}
template <MmaInstruction I>
Launched run_tcgen05(TileBuffers& x) {
  return launch("tcgen05_tiles", tcgen05_tiles<I>, {x.tiles, 128}, x.a.in(), x.b.in(), x.c.in(), x.scale_a.in(), x.scale_b.in(), x.d.out());
}

struct KindRun {
  MmaInstruction instruction;
  Launched (*run)(TileBuffers&);
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
    {MmaInstruction::e3m2_f32, run_sync<MmaInstruction::e3m2_f32, false>},
    {MmaInstruction::e2m3_f32, run_sync<MmaInstruction::e2m3_f32, false>},
    {MmaInstruction::e2m1_f32, run_sync<MmaInstruction::e2m1_f32, false>},
    {MmaInstruction::e4m3_e2m1_f32, run_sync<MmaInstruction::e4m3_e2m1_f32, false>},
    {MmaInstruction::mx_e4m3, run_scaled<MmaInstruction::mx_e4m3>},
    {MmaInstruction::mx_e5m2, run_scaled<MmaInstruction::mx_e5m2>},
    {MmaInstruction::mx_e2m1, run_scaled<MmaInstruction::mx_e2m1>},
    {MmaInstruction::mx_e3m2_e2m3, run_scaled<MmaInstruction::mx_e3m2_e2m3>},
    {MmaInstruction::mxf4, run_scaled<MmaInstruction::mxf4>},
    {MmaInstruction::nvf4, run_scaled<MmaInstruction::nvf4>},
    {MmaInstruction::wgmma_e4m3_f32, run_wgmma<MmaInstruction::wgmma_e4m3_f32, false>},
    {MmaInstruction::wgmma_e5m2_f32, run_wgmma<MmaInstruction::wgmma_e5m2_f32, false>},
    {MmaInstruction::wgmma_e4m3_f16, run_wgmma<MmaInstruction::wgmma_e4m3_f16, true>},
    {MmaInstruction::tcgen05_e4m3_f32, run_tcgen05<MmaInstruction::tcgen05_e4m3_f32>},
    {MmaInstruction::tcgen05_e5m2_f32, run_tcgen05<MmaInstruction::tcgen05_e5m2_f32>},
    {MmaInstruction::tcgen05_e4m3_f16, run_tcgen05<MmaInstruction::tcgen05_e4m3_f16>},
    {MmaInstruction::tcgen05_e3m2_e2m3_f32, run_tcgen05<MmaInstruction::tcgen05_e3m2_e2m3_f32>},
    {MmaInstruction::tcgen05_e4m3_e2m1_f32, run_tcgen05<MmaInstruction::tcgen05_e4m3_e2m1_f32>},
    {MmaInstruction::tcgen05_mx_e4m3, run_tcgen05<MmaInstruction::tcgen05_mx_e4m3>},
    {MmaInstruction::tcgen05_mx_e5m2_e3m2, run_tcgen05<MmaInstruction::tcgen05_mx_e5m2_e3m2>},
    {MmaInstruction::tcgen05_mxf4, run_tcgen05<MmaInstruction::tcgen05_mxf4>},
    {MmaInstruction::tcgen05_nvf4, run_tcgen05<MmaInstruction::tcgen05_nvf4>},
};
static_assert(std::size(kRuns) == std::size(kMmaKinds));

/// One bit for each unit that the kernels were compiled with.
HALFULP_KERNEL compiled_units(Out<std::uint32_t> out) {
  std::uint32_t units = 0;
  for (int unit = 0; unit < 4; ++unit) units |= is_compiled(static_cast<MmaUnit>(unit)) ? 1u << unit : 0u;
  out[0] = units;
}

/// "a | b | c" of one output, with scales "a | b | c | scale_a | scale_b", all of them codes; and what came and what was right.
std::string line_of(const MmaKind& kind, const MmaTiles& tiles, std::size_t output, std::uint32_t got) {
  const auto outputs = static_cast<std::size_t>(kind.outputs()), n = static_cast<std::size_t>(kind.n), m = static_cast<std::size_t>(kind.m);
  const std::size_t tile = output / outputs, row = tile * m + output % outputs / n, column = tile * n + output % n;
  const auto codes = [&kind](const std::uint32_t* words) {
    std::string text;
    for (int k = 0; k < kind.k(); ++k) text += hex(element_of(kind, words, k), (kind.element_bits + 3) / 4) + " ";
    return text;
  };
  const auto scales = [&kind](std::uint32_t word) {
    std::string text;
    for (int i = 0; i < kind.scales(); ++i) text += hex(word >> (8 * i) & 0xff, 2) + (i + 1 < kind.scales() ? " " : "");
    return text;
  };
  return codes(&tiles.a[row * 8]) + "| " + codes(&tiles.b[column * 8]) + "| " + hex(tiles.c[output]) +
         (kind.scales() != 0 ? " | " + scales(tiles.scale_a[row]) + " | " + scales(tiles.scale_b[column]) : "") + ": got " + hex(got) + ", right " +
         hex(tiles.right_a[output]) + (tiles.right_a[output] != tiles.right_b[output] ? " or " + hex(tiles.right_b[output]) : "");
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
  Words units("units", 1);
  launch("compiled_units", compiled_units, {1, 1}, units.out());
  const std::uint32_t compiled = units.download()[0];
  for (const KindRun& each : kRuns) {
    const MmaKind& kind = kind_of(each.instruction);
    const auto skip = [&](const std::string& why) {
      ResultRow skipped = row_named(std::string(kind.name));
      skipped.status = Status::skipped;
      skipped.note = why;
      report.rows.push_back(skipped);
    };
    if (family < 0 || kind.models[static_cast<std::size_t>(family)].empty()) {
      skip("no such instruction, or no model of it, on sm_" + std::to_string(context.device.architecture));
      continue;
    }
    if ((compiled >> static_cast<int>(kind.unit()) & 1) == 0) {
      skip("the kernels were not compiled for sm_" + std::to_string(context.device.architecture) + "a: build with that --arch");
      continue;
    }
    run_case(report, std::string(kind.name), [&] {
      const MmaTiles tiles = read_tiles(tiles_path(context.data, kind, family), kind);
      TileBuffers buffers(tiles);
      const Launched launched = each.run(buffers);
      if (launched.no_image) skip("no kernel image for this device");
      else judge(kind, tiles, buffers.d.download(), launched, report);
    });
  }
  return report;
}

}  // namespace halfulp::gpu
