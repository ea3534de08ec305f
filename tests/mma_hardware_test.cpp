// The accumulation models against rows measured on GPUs: every row under the model of its set, and the number of rows that
// each wrong parameter breaks, which says what the rows can tell.
#include <gtest/gtest.h>

#include <filesystem>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "mma_rows.hpp"

namespace halfulp::accumulation {
namespace {

using mma_rows::measured_sets;
using mma_rows::MeasuredRow;
using mma_rows::MeasuredSet;

Row row_of(const MeasuredRow& row, std::uint32_t c) { return {row.a, row.b, c, {}, {}}; }

int wrong_rows(const MeasuredSet& set, const MmaSpec& spec) {
  int wrong = 0;
  for (const MeasuredRow& row : set.rows) wrong += dot_exact(spec, row_of(row, set.c_of(row))) != row.result ? 1 : 0;
  return wrong;
}

TEST(MmaHardware, ThereAre48SetsOf1000Rows) {
  ASSERT_EQ(measured_sets().size(), 48u);
  for (const MeasuredSet& set : measured_sets()) EXPECT_EQ(set.rows.size(), 1000u) << set.name();
}

TEST(MmaHardware, TwinAndEngineReproduceEveryRowUnderBothZeroRules) {
  int rows = 0;
  for (const MeasuredSet& set : measured_sets()) {
    for (const ZeroRule rule : {ZeroRule::a, ZeroRule::b}) {
      MmaSpec spec = set.spec();
      spec.zero_rule = rule;
      EXPECT_EQ(wrong_rows(set, spec), 0) << set.name() << " under " << set.model;
      const Engine engine(spec);
      int wrong = 0;
      for (const MeasuredRow& row : set.rows) wrong += engine.dot(row_of(row, set.c_of(row))) != row.result ? 1 : 0;
      EXPECT_EQ(wrong, 0) << set.name() << " by the engine under " << set.model;
      rows += static_cast<int>(set.rows.size());
    }
  }
  EXPECT_EQ(rows, 96000);
  std::printf("rows: %d sets x 1000, each under both zero rules, by twin and engine\n", rows / 2000);
}

/// Wrong rows of 1000 in each of the sets that `model`, `format`, `output` and `gpu` pick, under a changed model.
struct Mutant {
  const char* model;
  const char* format;
  const char* output;
  const char* gpu;  ///< empty: any
  int fraction_bits, f32_fraction_bits, chunk;  ///< 0: as it is
  int wrong;
};

TEST(MmaHardware, WrongParametersBreakTheStatedNumbersOfRows) {
  const Mutant mutants[] = {
      {"hopper_fp8_wgmma", "e4m3", "f32", "", 12, 0, 0, 398}, {"hopper_fp8_wgmma", "e4m3", "f32", "", 14, 0, 0, 174},
      {"hopper_fp8_wgmma", "e4m3", "f32", "", 0, 23, 0, 286}, {"hopper_fp8_wgmma", "e4m3", "f32", "", 0, 0, 16, 159},
      {"hopper_fp8_wgmma", "e5m2", "f32", "", 12, 0, 0, 206}, {"hopper_fp8_wgmma", "e5m2", "f32", "", 14, 0, 0, 86},
      {"hopper_fp8_wgmma", "e5m2", "f32", "", 0, 23, 0, 172}, {"hopper_fp8_wgmma", "e5m2", "f32", "", 0, 0, 16, 60},
      {"ada_fp8", "e4m3", "f32", "", 12, 0, 0, 529},          {"ada_fp8", "e4m3", "f32", "", 14, 0, 0, 307},
      {"ada_fp8", "e4m3", "f32", "", 0, 23, 0, 213},          {"ada_fp8", "e4m3", "f32", "", 0, 0, 32, 222},
      {"ada_fp8", "e4m3", "f32", "", 0, 0, 8, 205},           {"ada_fp8", "e5m2", "f32", "", 12, 0, 0, 448},
      {"ada_fp8", "e5m2", "f32", "", 14, 0, 0, 230},          {"ada_fp8", "e5m2", "f32", "", 0, 23, 0, 191},
      {"ada_fp8", "e5m2", "f32", "", 0, 0, 32, 130},          {"ada_fp8", "e5m2", "f32", "", 0, 0, 8, 133},
      {"hopper_f16", "f16", "f32", "H100", 24, 0, 0, 254},         {"hopper_f16", "f16", "f32", "H100", 26, 0, 0, 101},
      {"hopper_f16", "f16", "f32", "H100", 0, 0, 8, 308},          {"hopper_f16", "bf16", "f32", "H100", 24, 0, 0, 99},
      {"hopper_f16", "bf16", "f32", "H100", 26, 0, 0, 29},         {"hopper_f16", "bf16", "f32", "H100", 0, 0, 8, 194},
      {"hopper_f16", "f16", "f32", "H200", 24, 0, 0, 241},         {"hopper_f16", "f16", "f32", "H200", 26, 0, 0, 112},
      {"hopper_f16", "f16", "f32", "H200", 0, 0, 8, 316},          {"hopper_f16", "bf16", "f32", "H200", 24, 0, 0, 100},
      {"hopper_f16", "bf16", "f32", "H200", 26, 0, 0, 33},         {"hopper_f16", "bf16", "f32", "H200", 0, 0, 8, 190},
      {"blackwell_f16", "f16", "f32", "", 24, 0, 0, 231},          {"blackwell_f16", "f16", "f32", "", 26, 0, 0, 119},
      {"blackwell_f16", "f16", "f32", "", 0, 0, 8, 318},           {"blackwell_f16", "bf16", "f32", "", 24, 0, 0, 98},
      {"blackwell_f16", "bf16", "f32", "", 26, 0, 0, 40},          {"blackwell_f16", "bf16", "f32", "", 0, 0, 8, 195},
      {"ampere_f16", "f16", "f32", "A100", 23, 0, 0, 338},    {"ampere_f16", "f16", "f32", "A100", 25, 0, 0, 142},
      {"ampere_f16", "f16", "f32", "A100", 0, 0, 4, 241},     {"ampere_f16", "bf16", "f32", "A100", 23, 0, 0, 208},
      {"ampere_f16", "bf16", "f32", "A100", 25, 0, 0, 83},     {"ampere_f16", "bf16", "f32", "A100", 0, 0, 4, 151},
      {"ampere_tf32", "tf32", "f32", "A100", 23, 0, 0, 240},  {"ampere_tf32", "tf32", "f32", "A100", 25, 0, 0, 98},
      {"hopper_tf32", "tf32", "f32", "H100", 24, 0, 0, 100},       {"hopper_tf32", "tf32", "f32", "H100", 26, 0, 0, 36},
      {"hopper_tf32", "tf32", "f32", "H200", 24, 0, 0, 87},        {"hopper_tf32", "tf32", "f32", "H200", 26, 0, 0, 37},
      {"blackwell_tf32", "tf32", "f32", "", 24, 0, 0, 94},         {"blackwell_tf32", "tf32", "f32", "", 26, 0, 0, 34},
      {"volta_f16", "f16", "f32", "", 22, 0, 0, 494},         {"volta_f16", "f16", "f32", "", 24, 0, 0, 250},
      {"hopper_f16", "f16", "f16", "", 24, 0, 0, 0},            {"hopper_f16", "f16", "f16", "", 26, 0, 0, 0},
      {"ampere_f16", "f16", "f16", "", 23, 0, 0, 0},            {"volta_f16", "f16", "f16", "", 22, 0, 0, 0},
  };
  for (const Mutant& mutant : mutants) {
    int sets = 0;
    for (const MeasuredSet& set : measured_sets()) {
      if (set.model != mutant.model || set.format != mutant.format || set.output != mutant.output) continue;
      if (*mutant.gpu != '\0' && set.gpu != mutant.gpu) continue;
      MmaSpec spec = set.spec();
      if (mutant.fraction_bits != 0) spec.model.fraction_bits = mutant.fraction_bits;
      if (mutant.f32_fraction_bits != 0) spec.model.f32_fraction_bits = mutant.f32_fraction_bits;
      if (mutant.chunk != 0) spec.model.chunk = mutant.chunk;
      const int wrong = wrong_rows(set, spec);
      EXPECT_EQ(wrong, mutant.wrong) << set.name() << " with F " << spec.model.fraction_bits << ", result bits "
                                     << spec.model.f32_fraction_bits << ", chunk " << spec.model.chunk;
      ++sets;
    }
    EXPECT_GT(sets, 0) << mutant.model << " " << mutant.format;
  }
}

TEST(MmaHardware, TheWgmmaRowsWereNotTakenWithTheColumnC) {
  int sets = 0;
  for (MeasuredSet set : measured_sets()) {
    if (!set.zero_c) continue;
    set.zero_c = false;
    EXPECT_GE(wrong_rows(set, set.spec()), 999) << set.name();
    ++sets;
  }
  EXPECT_EQ(sets, 4);
}

TEST(MmaHardware, TheB200RowsAreNoTestOfAPlainSumOf32) {
  int sets = 0;
  for (const MeasuredSet& set : measured_sets()) {
    if (set.gpu != "B200" || set.output != "f32" || (set.format != "e4m3" && set.format != "e5m2")) continue;
    const int wrong = wrong_rows(set, make_spec({.model = "blackwell_f8f6f4", .format_a = set.format, .format_b = set.format}));
    const bool e4m3 = set.format == "e4m3";
    EXPECT_TRUE(wrong >= (e4m3 ? 362 : 313) && wrong <= (e4m3 ? 372 : 339)) << set.name() << " " << wrong;
    ++sets;
  }
  EXPECT_EQ(sets, 2);
}

TEST(MmaHardware, TheCommittedRowsAreTheSharedOnes) {
  const std::string shared = std::string(HALFULP_SOURCE_DIR) + "/../shared/data/mma_hardware/";
  if (!std::filesystem::exists(shared + "index.tsv")) GTEST_SKIP() << "no shared data beside the checkout: nothing to compare with";
  static constexpr FormatSpec kF32 = spec_of("f32");
  for (const MeasuredSet& set : measured_sets()) {
    std::istringstream inputs(mma_rows::read_file(shared + set.inputs + ".txt")), results(mma_rows::read_file(shared + set.results + ".txt"));
    const FormatSpec format = find_format(set.format)->spec, output = find_format(set.output)->spec;
    const auto next = [](std::istringstream& text) {
      std::string word;
      text >> word;
      if (word == "|") text >> word;
      return static_cast<std::uint32_t>(std::stoul(word, nullptr, 16));
    };
    for (const MeasuredRow& row : set.rows) {
      for (const std::uint32_t code : row.a) ASSERT_EQ(oracle::cast(format, code, kF32, {}).code, next(inputs)) << set.inputs;
      for (const std::uint32_t code : row.b) ASSERT_EQ(oracle::cast(format, code, kF32, {}).code, next(inputs)) << set.inputs;
      ASSERT_EQ(row.c, next(inputs)) << set.inputs;
      ASSERT_EQ(oracle::cast(output, row.result, kF32, {}).code, next(results)) << set.results;
    }
  }
}

}  // namespace
}  // namespace halfulp::accumulation
