// The vector kernels equal the scalar engine on 10^7 chunks of every model that they serve, at every level, class by class;
// every 50th element also equals the exact twin. The engine itself: accumulation_twins_exhaustive.cpp.
#include <gtest/gtest.h>

#include <cstring>

#include "accumulation_rows.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/batch.hpp"

namespace {

using namespace accumulation_rows;      // NOLINT: one test program
using namespace halfulp::accumulation;  // NOLINT

constexpr std::size_t kSide = 48, kChunks = 4;

struct Side {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<std::byte> bytes;
  std::vector<std::uint32_t> scales;
  void add(const std::vector<std::uint32_t>& words, const std::vector<std::uint32_t>& scale, int word_bytes) {
    rows.push_back(words);
    for (const std::uint32_t word : words) {
      std::byte buffer[4];
      std::memcpy(buffer, &word, 4);
      bytes.insert(bytes.end(), buffer, buffer + word_bytes);
    }
    scales.insert(scales.end(), scale.begin(), scale.end());
  }
};

void compare_spec(const MmaSpec& spec, std::size_t chunks, std::array<std::size_t, kClasses.size()>& compared) {
  const Engine engine(spec);
  RowMaker maker(spec, chunks);
  const std::size_t k = static_cast<std::size_t>(spec.model.chunk) * kChunks;
  for (std::size_t done = 0; done < chunks;) {
    const RowClass row_class = maker.below(2) == 0 ? RowClass::near : kClasses[maker.below(kClasses.size())];
    Side a, b;
    std::vector<std::uint32_t> c;
    for (std::size_t i = 0; i < kSide; ++i) {
      const OwnedRow x = maker.row(row_class, k), y = maker.row(row_class, k);
      a.add(x.a, x.scale_a, spec.a.storage_bytes());
      b.add(y.b, y.scale_b, spec.b.storage_bytes());
    }
    for (std::size_t i = 0; i < kSide * kSide; ++i) c.push_back(maker.row(row_class, 1).c);
    const GemmProblem problem = {spec, {a.bytes, kSide, k}, {b.bytes, kSide, k}, {a.scales, 1}, {b.scales, 1}, c};
    const std::size_t blocks = a.scales.size() / kSide;
    const auto row = [&](std::size_t i, std::size_t j) {
      return Row{a.rows[i], b.rows[j], c[i * kSide + j], std::span(a.scales).subspan(i * blocks, blocks), std::span(b.scales).subspan(j * blocks, blocks)};
    };
    std::vector<std::uint32_t> want(kSide * kSide);
    for (std::size_t i = 0; i < want.size(); ++i) {
      want[i] = engine.dot(row(i / kSide, i % kSide));
      if (i % 50 != 0) continue;
      ASSERT_EQ(want[i], dot_exact(spec, row(i / kSide, i % kSide))) << spec.model.name;
    }
    for (const std::string_view level : halfulp::simd_targets()) {
      if (level == "SCALAR") continue;
      ASSERT_TRUE(halfulp::set_simd_level(level));
      ASSERT_EQ(gemm_sums(problem), want) << spec.model.name << " " << name_of(row_class) << " at " << level;
    }
    halfulp::set_simd_level("");
    done += kSide * kSide * kChunks;
    compared[static_cast<std::size_t>(row_class)] += kSide * kSide * kChunks;
  }
}

class Kernels : public testing::TestWithParam<const char*> {};

TEST_P(Kernels, EveryLevelIsTheEngineOnTenMillionChunks) {
  std::vector<MmaSpec> specs;
  for (const MmaSpec& spec : specs_of(find_model(GetParam()))) {
    if (spec.output == Output::f32) specs.push_back(spec);
  }
  std::array<std::size_t, kClasses.size()> compared = {};
  for (const MmaSpec& spec : specs) compare_spec(spec, 10'000'000 / specs.size() + 1, compared);
  std::printf("%-20s chunks at each level:", GetParam());
  for (const RowClass c : kClasses) std::printf(" %s %zu", name_of(c), compared[static_cast<std::size_t>(c)]);
  std::printf("\n");
  for (const std::size_t count : compared) EXPECT_GT(count, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Kernels,
                         testing::Values("volta_f16", "turing_f16", "ampere_f16", "ampere_tf32", "ada_fp8", "hopper_f16", "hopper_tf32",
                                         "hopper_fp8_wgmma", "hopper_fp8_mma_sync", "blackwell_f16", "blackwell_tf32", "blackwell_f8f6f4",
                                         "blackwell_mxf8f6f4"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
