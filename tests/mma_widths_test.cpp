// The diagnosis names the width of a unit: any F that one may have and exact alignment, alone and with another result width.
#include <gtest/gtest.h>

#include <algorithm>

#include "halfulp/vectors/mma/mma_kernels.hpp"
#include "halfulp/vectors/mma/mma_report.hpp"
#include "halfulp/vectors/mma/mma_rows.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::MmaSpec;

constexpr int kExact = 1024;  // no bit of a float32 or of a product of E4M3 or f16 lies so far down

constexpr int kFewBits = 13;

std::string width_text(const MmaPlan& plan, int alignment, int result) {
  const accumulation::AccumulationModel& own = plan.spec.model;
  std::string text;
  if (alignment == kExact) text = "exact alignment";
  else if (alignment != own.fraction_bits) text = "F = " + std::to_string(alignment);
  if (result != own.f32_fraction_bits) text += (text.empty() ? "" : " and ") + ("results of " + std::to_string(result) + " bits");
  return std::string(own.name) + " with " + text;
}

/// The part that names the alignment; empty for the SPEC's own.
std::string alignment_part(const std::string& behaviour) {
  const std::string rest = behaviour.substr(behaviour.find(" with ") + 6);
  return rest.starts_with("results") ? "" : rest.substr(0, rest.find(" and results"));
}

struct Named {
  bool named = false;     ///< among those that explain every row
  std::size_t alike = 0;  ///< others with another alignment that do
  std::size_t same = 0;   ///< others with the same alignment and another result
  MmaDiagnosis diagnosis;
};

Named diagnosed(const MmaPlan& plan, const MmaRows& rows, int alignment, int result) {
  MmaSpec spec = plan.spec;
  spec.model.fraction_bits = alignment;
  spec.model.f32_fraction_bits = result;
  const MmaFunction unit = function_of(spec);
  MmaAnswers answers;
  for (const MmaRow& row : rows.rows) answers.push_back(unit(row));
  Named found;
  found.diagnosis = diagnose_sums(plan, rows, answers, judge_sums(plan, rows, answers));
  const std::string own = width_text(plan, alignment, result);
  for (const MmaFit& fit : found.diagnosis.fits) {
    if (fit.rows != found.diagnosis.rows) continue;
    if (fit.behaviour == own) found.named = true;
    else if (fit.behaviour.find(" with ") != std::string::npos) ++(alignment_part(fit.behaviour) == alignment_part(own) ? found.same : found.alike);
  }
  return found;
}

/// Where c stands with the products any two alignments are told apart. Sums of few kept bits fit 13 bits: there a result of
/// 23 bits is the same unit.
TEST(MmaWidths, EveryWidthIsNamedAlone) {
  std::size_t widths = 0;
  for (const Level level : {Level::thresholds, Level::stratified}) {
    for (const char* spec : {"mma:hopper_fp8_wgmma,k=128", "mma:hopper_fp8_wgmma,k=32", "mma:hopper_f16"}) {
      const MmaPlan plan = parse_mma_spec(spec);
      const MmaRows rows = mma_level_rows(plan, level, 0);
      const bool all = level == Level::stratified && plan.k == 128;
      for (const int result : {13, 23}) {
        for (int alignment = 6; alignment <= 41; alignment += all ? 1 : 5) {
          const int bits = alignment == 41 ? kExact : alignment;
          if (bits == plan.spec.model.fraction_bits && result == plan.spec.model.f32_fraction_bits) continue;
          const Named found = diagnosed(plan, rows, bits, result);
          EXPECT_TRUE(found.named) << spec << ": " << width_text(plan, bits, result) << " is not named";
          EXPECT_EQ(found.alike, 0u) << spec << ": " << width_text(plan, bits, result) << " is not alone";
          if (bits > kFewBits) {
            EXPECT_EQ(found.same, 0u) << spec << ": " << width_text(plan, bits, result) << " and another result";
          }
          ++widths;
        }
      }
    }
  }
  std::printf("%zu widths named\n", widths);
  EXPECT_GT(widths, 100u);
}

/// With promotion c is not aligned, and products of E4M3 end 34 bits below the largest: what is not told apart is said.
TEST(MmaWidths, WhatTheRowsDoNotTellApartIsListed) {
  const MmaPlan plan = parse_mma_spec("mma:hopper_fp8_wgmma,interval=128");
  const MmaRows rows = mma_level_rows(plan, Level::stratified, 0);
  for (const int alignment : {12, 20, 25, 30, 34}) {
    const Named found = diagnosed(plan, rows, alignment, 23);
    EXPECT_TRUE(found.named) << alignment;
    if (alignment < 34) {
      EXPECT_EQ(found.alike, 0u) << alignment;
    }
  }
  const Named wide = diagnosed(plan, rows, 38, 23);
  EXPECT_TRUE(wide.named);
  EXPECT_GE(wide.alike, 5u);  // F = 36, 37, 39, 40 and exact alignment
  MmaRun run;
  run.plan = plan;
  run.tally.wrong = 1;
  run.diagnosis = wide.diagnosis;
  const std::string text = diagnosis_text(run);
  EXPECT_NE(text.find("not told apart by the "), std::string::npos) << text;
  EXPECT_NE(text.find("F = 40 and results of 23 bits"), std::string::npos) << text;
  EXPECT_NE(text.find("exact alignment and results of 23 bits"), std::string::npos) << text;
}

/// Results of the largest magnitude, and of either sign: in steps of float32, and in results of 13 bits.
TEST(MmaDistances, StepsAndResults) {
  const MmaPlan narrow = parse_mma_spec("mma:hopper_fp8_wgmma"), promoted = parse_mma_spec("mma:hopper_fp8_wgmma,interval=128"),
                half = parse_mma_spec("mma:hopper_fp8_wgmma,to=f16");
  struct {
    const MmaPlan& plan;
    std::uint32_t got, want;
    std::uint64_t steps, results;
  } const rows[] = {{narrow, 0x7f7fffff, 0x7f7ffc00, 1023, 1},     {narrow, 0x7f7ffc00, 0x7f7ff800, 1024, 1},
                    {narrow, 0x3f800001, 0x3f800000, 1, 1},        {narrow, 0x3f800401, 0x3f800000, 1025, 2},
                    {narrow, 0x00000400, 0x80000400, 2048, 2},     {narrow, 0x80000000, 0x00000000, 0, 0},
                    {promoted, 0x7f7fffff, 0x7f7ffc00, 1023, 1023}, {half, 0x3c02, 0x3c00, 2, 2}};
  for (const auto& row : rows) {
    EXPECT_EQ(steps_apart(row.plan, row.got, row.want), row.steps);
    EXPECT_EQ(results_apart(row.plan, row.got, row.want), row.results);
  }
  EXPECT_EQ(steps_apart(narrow, 0x7fffffff, 0x3f800000), std::nullopt);
  const auto distance = [](const MmaPlan& plan, std::uint32_t got, std::uint32_t want) -> std::string {
    const MmaRows level = mma_level_rows(plan, Level::specials, 0);
    for (const CardLine& line : mma_card(plan, level.rows[0], {MmaFinding::value, 0, got, want})) {
      if (line.label == "distance") return line.text;
    }
    return "";
  };
  EXPECT_EQ(distance(narrow, 0x7f7fffff, 0x7f7ffc00), "1023 steps of f32, less than 1 of its results of 13 bits (1024 steps each)");
  EXPECT_EQ(distance(narrow, 0x3f800800, 0x3f800000), "2048 steps of f32, 2 of its results of 13 bits (1024 steps each)");
  EXPECT_EQ(distance(promoted, 0x3f800001, 0x3f800000), "1 step of f32");
  EXPECT_EQ(distance(half, 0x3c02, 0x3c00), "2 steps of f16");
}

}  // namespace
}  // namespace halfulp::vectors
