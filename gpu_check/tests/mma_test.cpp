// Matrix instructions on the thread shim: every kind of every family against the exact models, and wrong index maps.
#include "gpu_check/kernels/wgmma.cuh"
#include "gpu_check/steps/steps.hpp"
#include "gpu_check/tests/mma_data.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/accumulation/sum_exact.hpp"

namespace halfulp::gpu {
namespace {

StepReport run_on(int architecture) {
  set_modelled_architecture(architecture);
  return run_mma({data_folder(), "", false, find_device()});
}

TEST(Mma, EveryKindOfEveryFamilyEqualsItsExactModel) {
  for (std::size_t family = 0; family < std::size(kFamilies); ++family) {
    const StepReport report = run_on(kFamilies[family]);
    for (const MmaKind& kind : kMmaKinds) {
      std::uint64_t outputs = 0;
      int classes = 0;
      for (const ResultRow& row : report.rows) {
        if (row.test != kind.name && !row.test.starts_with(std::string(kind.name) + ":")) continue;
        outputs += row.inputs;
        classes += row.status == Status::passed ? 1 : 0;
        EXPECT_NE(row.status, Status::failed) << kFamilies[family] << "\n" << text_of(report);
        EXPECT_EQ(row.status == Status::skipped, kind.models[family].empty()) << row.test;
      }
      if (kind.models[family].empty()) continue;
      EXPECT_GE(classes, kind.a == "int8" ? 2 : 3) << kind.name;
      EXPECT_GE(outputs, 3u * 128) << kind.name;
    }
  }
}

TEST(Mma, TheFamiliesDifferOnTheseTiles) {
  int parted = 0;
  for (const MmaKind& kind : kMmaKinds) {
    if (kind.models[0].empty() || kind.models[0] == kind.models[1]) continue;
    const MmaTiles ada = read_tiles(tiles_path(data_folder(), kind, 0), kind), hopper = read_tiles(tiles_path(data_folder(), kind, 1), kind);
    const std::size_t common = std::min(ada.right_a.size(), hopper.right_a.size());
    for (std::size_t i = 0; i < common; ++i) parted += ada.c[i] == hopper.c[i] && ada.right_a[i] != hopper.right_a[i] ? 1 : 0;
  }
  EXPECT_GT(parted, 100);
}

TEST(Mma, TheZeroRuleProbesPart) {
  const StepReport report = run_on(90);
  int probes = 0;
  for (const ResultRow& row : report.rows) {
    if (row.test.find("zero rule") == std::string::npos) continue;
    ++probes;
    ASSERT_EQ(row.counts.size(), 2u) << row.test;
    EXPECT_EQ(row.counts[0].second, row.inputs) << row.test << ": the shim models rule a";
    EXPECT_EQ(row.counts[1].second, 0u);
  }
  EXPECT_EQ(probes, 3);
}

TEST(Mma, MeasuredRowsAreThere) {
  for (const auto& [architecture, gpu] : {std::pair{89, "Ada"}, {90, "H200"}, {100, "B200"}}) {
    int rows = 0;
    for (const ResultRow& row : run_on(architecture).rows) rows += row.test.find(std::string("measured on ") + gpu) != std::string::npos ? 1 : 0;
    EXPECT_GE(rows, 5) << gpu;
  }
}

/// A model with one bit of alignment more or less is found by the tiles of that class, for every kind that aligns.
TEST(Mma, TheAlignmentProbesTellTheNumberOfBits) {
  int kinds = 0;
  for (const MmaKind& kind : kMmaKinds) {
    std::size_t family = 0;
    while (kind.models[family].empty()) ++family;
    accumulation::SpecRequest request{.model = std::string(kind.models[family]), .format_a = std::string(kind.a), .format_b = std::string(kind.b), .output = std::string(kind.output)};
    accumulation::MmaSpec spec = accumulation::make_spec(request);
    if (spec.model.scheme != accumulation::Scheme::fused && spec.model.scheme != accumulation::Scheme::scaled_groups) continue;
    ++kinds;
    const OneTile tile(kind.instruction, "alignment");
    const int bits = spec.model.fraction_bits;
    for (const int wrong : {bits - 1, bits, bits + 1}) {
      spec.model.fraction_bits = wrong;
      int differ = 0;
      for (int column = 0; column < kind.n; ++column) {
        std::vector<std::uint32_t> a, b;
        for (int k = 0; k < kind.k(); ++k) {
          a.push_back(element_of(kind, tile.a.data(), k));
          b.push_back(element_of(kind, &tile.b[static_cast<std::size_t>(column) * 8], k));
        }
        std::vector<std::uint32_t> scale_a, scale_b;
        for (int i = 0; i < kind.scales(); ++i) {
          scale_a.push_back(tile.scale_a[0] >> (8 * i) & 0xff);
          scale_b.push_back(tile.scale_b[static_cast<std::size_t>(column)] >> (8 * i) & 0xff);
        }
        const auto output = static_cast<std::size_t>(column);
        differ += accumulation::dot_exact(spec, {a, b, tile.c[output], scale_a, scale_b}) != tile.right_a[output] ? 1 : 0;
      }
      EXPECT_EQ(differ, wrong == bits ? 0 : kind.n / 8) << kind.name << " with " << wrong << " bits";
    }
  }
  EXPECT_GE(kinds, 20);
}

/// The probe words of the zero rule, as the design states them.
TEST(Mma, TheProbesHaveTheStatedAnswers) {
  const MmaKind& bf16 = kind_of(MmaInstruction::bf16_f32);
  const MmaTiles tiles = read_tiles(tiles_path(data_folder(), bf16, 1), bf16);
  std::size_t tile = 0;
  int found = 0;
  for (const MmaTiles::Class& one : tiles.classes) {
    if (one.name.starts_with("zero rule")) {
      const bool first = one.name.find("16 *") != std::string::npos;
      EXPECT_EQ(tiles.right_a[tile * 128], 0u);
      EXPECT_EQ(tiles.right_b[tile * 128], first ? 0x00000002u : 0x30800000u);
      ++found;
    }
    tile += one.tiles;
  }
  EXPECT_EQ(found, 2);
}

/// A kernel that loads one operand by a wrong index: the answers must not survive it.
template <int Seed>
HALFULP_KERNEL wrong_loads(In<std::uint32_t> a, In<std::uint32_t> b, In<std::uint32_t> c, Out<std::uint32_t> out) {
  const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  Fragments f;
  for (unsigned r = 0; r < 4; ++r) {
    const unsigned row = Seed == 1 ? g + 8 * (r >> 1) : g + 8 * (r & 1), word = Seed == 1 ? t + 4 * (r & 1) : t + 4 * (r >> 1);
    f.a[r] = a[row * 8 + word];
  }
  for (unsigned r = 0; r < 2; ++r) f.b[r] = Seed == 2 ? b[g * 8 + 2 * t + r] : b[g * 8 + t + 4 * r];
  const unsigned top = g * 8 + 2 * t;
  for (unsigned i = 0; i < 4; ++i) f.c[i] = Seed == 3 ? c[top + i] : c[top + (i & 1) + 64 * (i >> 1)];
  std::uint32_t d[4];
  mma_sync<MmaInstruction::e4m3_f32>(d, f);
  for (unsigned i = 0; i < 4; ++i) out[top + (i & 1) + 64 * (i >> 1)] = d[i];
}

TEST(Mma, AWrongIndexMapIsCaught) {
  const OneTile tile(MmaInstruction::e4m3_f32, "aligned");
  const Buffer<std::uint32_t> a("a", tile.a), b("b", tile.b), c("c", tile.c);
  const auto wrong = [&](auto kernel) {
    Buffer<std::uint32_t> d("d", 128);
    const Launched launched = launch("wrong_loads", kernel, {1, 32}, a.in(), b.in(), c.in(), d.out());
    EXPECT_TRUE(launched.ok());
    return tile.mismatches(d.download());
  };
  EXPECT_EQ(wrong(wrong_loads<0>), 0);
  EXPECT_GT(wrong(wrong_loads<1>), 64) << "rows and k exchanged in a";
  EXPECT_GT(wrong(wrong_loads<2>), 64) << "k of b not interleaved as k of a";
  EXPECT_GT(wrong(wrong_loads<3>), 32) << "c in the wrong rows";
}

/// A descriptor with its two offsets exchanged leads elsewhere.
HALFULP_KERNEL wrong_descriptor(In<std::uint32_t> a, In<std::uint32_t> b, Out<std::uint32_t> out, int seed) {
  HALFULP_SHARED(std::uint32_t, left, 64 * 8);
  HALFULP_SHARED(std::uint32_t, right, 8 * 8);
  const unsigned thread = threadIdx.x;
  for (unsigned i = thread; i < 64 * 8; i += 128) left[core_word(i / 8, i % 8)] = a[i];
  if (thread < 64) right[core_word(thread / 8, thread % 8)] = b[thread];
  if (seed != 2) __syncthreads();
  std::uint64_t descriptor = wgmma_descriptor(shared_address(left));
  if (seed == 1) descriptor = (descriptor & 0x3fff) | (descriptor >> 16 & 0x3fff) << 32 | (descriptor >> 32 & 0x3fff) << 16;
  std::uint32_t d[4] = {};
  wgmma<MmaInstruction::wgmma_e4m3_f32>(d, descriptor, wgmma_descriptor(shared_address(right)));
  for (unsigned i = 0; i < 4; ++i) out[thread * 4 + i] = d[i];
}

TEST(Mma, AWrongDescriptorAndAMissingBarrierAreCaught) {
  const OneTile tile(MmaInstruction::wgmma_e4m3_f32, "aligned");
  const Buffer<std::uint32_t> a("a", tile.a), b("b", tile.b);
  std::vector<std::vector<std::uint32_t>> results;
  std::vector<host::Faults> faults(3);
  for (const int seed : {0, 1, 2}) {
    Buffer<std::uint32_t> d("d", 512);
    launch("wrong_descriptor", wrong_descriptor, {1, 128}, &faults[static_cast<std::size_t>(seed)], a.in(), b.in(), d.out(), seed);
    results.push_back(d.download());
  }
  EXPECT_EQ(faults[0].count, 0u) << faults[0].text();
  EXPECT_NE(results[0], results[1]);
  EXPECT_TRUE(faults[2].has(host::FaultKind::race) || faults[2].has(host::FaultKind::uninitialised)) << faults[2].text();
}

}  // namespace
}  // namespace halfulp::gpu
