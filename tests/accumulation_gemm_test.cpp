// gemm equals the exact twin element by element, at every vector level, in every path and with any number of threads.
#include <gtest/gtest.h>

#include <cstring>

#include "accumulation_rows.hpp"
#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/batch.hpp"
#include "halfulp/formats.hpp"

namespace {

using namespace accumulation_rows;  // NOLINT: one test program
using namespace halfulp::accumulation;  // NOLINT

/// The words of one column after another in the bytes that a matrix has.
std::vector<std::byte> bytes_of(const std::vector<std::vector<std::uint32_t>>& rows, const FormatSpec& format) {
  std::vector<std::byte> bytes;
  for (const auto& row : rows) {
    for (const std::uint32_t word : row) {
      std::byte buffer[4];
      std::memcpy(buffer, &word, 4);  // little-endian machines; gemm reads native words
      bytes.insert(bytes.end(), buffer, buffer + format.storage_bytes());
    }
  }
  return bytes;
}

struct Matrices {
  std::vector<std::vector<std::uint32_t>> a, b;
  std::vector<std::byte> a_bytes, b_bytes;
  std::vector<std::uint32_t> scale_a, scale_b, c;
  GemmProblem problem;
};

void make(Matrices& x, const MmaSpec& spec, RowClass row_class, std::size_t m, std::size_t n, std::size_t k, std::uint64_t seed) {
  RowMaker maker(spec, seed);
  for (std::size_t i = 0; i < std::max(m, n); ++i) {
    const OwnedRow row = maker.row(row_class, k);
    if (i < m) {
      x.a.push_back(row.a);
      x.scale_a.insert(x.scale_a.end(), row.scale_a.begin(), row.scale_a.end());
    }
    if (i < n) {
      x.b.push_back(row.b);
      x.scale_b.insert(x.scale_b.end(), row.scale_b.begin(), row.scale_b.end());
    }
  }
  for (std::size_t i = 0; i < m * n; ++i) x.c.push_back(maker.row(row_class, 1).c);
  x.a_bytes = bytes_of(x.a, spec.a);
  x.b_bytes = bytes_of(x.b, spec.b);
  x.problem = {spec, {x.a_bytes, m, k}, {x.b_bytes, n, k}, {x.scale_a, 1}, {x.scale_b, 1}, x.c};
}

/// Elements that differ from the twin.
std::size_t wrong_elements(const Matrices& x, int threads) {
  const std::size_t m = x.a.size(), n = x.b.size();
  const auto d = gemm_sums(x.problem, threads);
  const std::size_t blocks = m == 0 ? 0 : x.scale_a.size() / m;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const Row row = {x.a[i], x.b[j], x.problem.c.empty() ? 0 : x.c[i * n + j], std::span(x.scale_a).subspan(i * blocks, blocks),
                       std::span(x.scale_b).subspan(j * blocks, blocks)};
      const std::uint32_t twin = dot_exact(x.problem.spec, row);
      if (twin == d[i * n + j]) continue;
      if (++wrong <= 2) ADD_FAILURE() << i << ", " << j << std::hex << ": twin " << twin << ", gemm " << d[i * n + j] << " from c " << row.c;
    }
  }
  return wrong;
}

/// Specs that reach every path: both widths of lanes, halves, block scales, promotion, and the scalar engine.
std::vector<MmaSpec> specs() {
  std::vector<MmaSpec> all;
  for (const char* name : {"hopper_fp8_wgmma", "ada_fp8", "hopper_fp8_mma_sync", "hopper_f16", "ampere_tf32", "volta_f16", "turing_f16",
                           "blackwell_f8f6f4", "blackwell_mxf8f6f4", "blackwell_mxf4nvf4", "cdna3_fp8", "f32_tree", "f32_warp_tree"}) {
    const auto of_model = specs_of(find_model(name));
    for (std::size_t i = 0; i < of_model.size(); i += of_model.size() > 16 ? of_model.size() / 8 : 1) all.push_back(of_model[i]);
  }
  all.push_back(make_spec({.model = "hopper_fp8_wgmma", .interval = 128}));
  all.push_back(make_spec({.model = "hopper_fp8_wgmma", .interval = 40, .scale_order = ScaleOrder::scales_first}));
  all.push_back(make_spec({.model = "hopper_fp8_wgmma", .interval = 64, .scale_order = ScaleOrder::operand_first, .contract = true}));
  all.push_back(make_spec({.model = "hopper_f16", .interval = 32}));
  all.push_back(make_spec({.model = "blackwell_mxf8f6f4", .interval = 64}));
  all.push_back(make_spec({.model = "int8_imma"}));
  return all;
}

TEST(AccumulationGemm, EveryPathIsTheTwinAtEveryVectorLevel) {
  for (const std::string_view level : halfulp::simd_targets()) {
    ASSERT_TRUE(halfulp::set_simd_level(level));
    std::size_t elements = 0;
    for (const MmaSpec& spec : specs()) {
      for (const RowClass row_class : kClasses) {
        Matrices x;
        const std::size_t k = 1 + elements % 150;
        make(x, spec, row_class, 5, 19, k, elements);
        const std::size_t wrong = wrong_elements(x, 1);
        elements += 95;
        EXPECT_EQ(wrong, 0u) << spec.model.name << " " << name_of(row_class) << " at " << level << ", k " << k;
        if (wrong != 0) return;
      }
    }
    std::printf("%s: %zu elements\n", std::string(level).c_str(), elements);
  }
  halfulp::set_simd_level("");
}

TEST(AccumulationGemm, ThreadsAndShapesChangeNothing) {
  for (const char* name : {"hopper_fp8_wgmma", "hopper_f16", "cdna3_f16"}) {
    const MmaSpec spec = make_spec({.model = name});
    for (const auto& [m, n, k] : std::vector<std::array<std::size_t, 3>>{{1, 1, 1}, {1, 40, 33}, {70, 3, 64}, {33, 17, 256}}) {
      Matrices x;
      make(x, spec, RowClass::near, m, n, k, m + n + k);
      EXPECT_EQ(wrong_elements(x, 3), 0u) << name;
      EXPECT_EQ(gemm_sums(x.problem, 1), gemm_sums(x.problem, 5)) << name;
      x.problem.c = {};
      EXPECT_EQ(wrong_elements(x, 2), 0u) << name << ", no C";
    }
  }
}

TEST(AccumulationGemm, ScalesOfBlocksOfRowsReachEveryRow) {
  const MmaSpec spec = make_spec({.model = "hopper_fp8_wgmma", .interval = 128, .scale_order = ScaleOrder::scales_first});
  Matrices x;
  make(x, spec, RowClass::near, 4, 300, 256, 5);
  const std::vector<std::uint32_t> blocks = {0x3f800000, 0x40400000, 0x3dcccccd, 0x41200000, 0x3f000000, 0x3f99999a};  // 3 x 2
  x.problem.scale_b = {blocks, 128};
  const auto coarse = gemm_sums(x.problem);
  std::vector<std::uint32_t> rows;
  for (std::size_t j = 0; j < 300; ++j) rows.insert(rows.end(), {blocks[j / 128 * 2], blocks[j / 128 * 2 + 1]});
  x.problem.scale_b = {rows, 1};
  EXPECT_EQ(coarse, gemm_sums(x.problem));
}

/// Long rows of a slow order: progress comes before 1024 elements are done, and every element is counted.
TEST(AccumulationGemm, LongRowsTickOften) {
  Matrices x;
  make(x, make_spec({.model = "exact", .format_a = "e4m3", .format_b = "e4m3"}), RowClass::near, 64, 16, 4096, 1);
  std::size_t done = 0, calls = 0;
  gemm_sums(x.problem, 1, [&](std::size_t elements) { done += elements, ++calls; });
  EXPECT_EQ(done, 64u * 16);
  EXPECT_GE(calls, 4u);
}

TEST(AccumulationGemm, SizesThatDoNotFitAreRefused) {
  Matrices x;
  make(x, make_spec({.model = "hopper_fp8_wgmma"}), RowClass::near, 2, 3, 32, 1);
  GemmProblem wrong = x.problem;
  wrong.b.k = 31;
  EXPECT_THROW(gemm_sums(wrong), std::invalid_argument);
  wrong = x.problem;
  wrong.c = std::span(x.c).first(5);
  EXPECT_THROW(gemm_sums(wrong), std::invalid_argument);
  wrong = x.problem;
  wrong.scale_a.words = std::span(x.c).first(1);
  EXPECT_THROW(gemm_sums(wrong), std::invalid_argument);
}

TEST(AccumulationGemm, EpilogueStepsRunInTheirOrder) {
  const std::uint32_t sums[] = {0x3f800001, 0x40490fdb};
  constexpr FormatSpec f32 = halfulp::spec_of("f32"), bf16 = halfulp::spec_of("bf16");
  Epilogue epilogue;
  epilogue.scale_a = {3.0f};
  epilogue.scale_b = {0.1f, 0.7f};
  epilogue.bias = {1.0f, -2.0f};
  epilogue.steps = parse_steps("scale_a,scale_b,bias");
  const auto one = apply_epilogue(epilogue, Output::f32, sums, 2, f32, {});
  epilogue.steps = parse_steps("scale_ab,bias");
  const auto two = apply_epilogue(epilogue, Output::f32, sums, 2, f32, {});
  const float x = 1.00000012f, y = 3.14159274f;
  EXPECT_EQ(one[0], std::bit_cast<std::uint32_t>((x * 3.0f) * 0.1f + 1.0f));
  EXPECT_EQ(two[1], std::bit_cast<std::uint32_t>(y * (3.0f * 0.7f) + -2.0f));
  epilogue.steps = parse_steps("cast,scale_a");  // 1.00000012 is 1 in bf16
  EXPECT_EQ(apply_epilogue(epilogue, Output::f32, std::span(sums).first(1), 2, bf16, {})[0], 0x4040u);
  const std::uint32_t integer[] = {16777217};
  epilogue.steps = {};
  EXPECT_EQ(apply_epilogue(epilogue, Output::int32, integer, 1, f32, {})[0], 0x4b800000u);
}

}  // namespace
