// The trace of an element names the stages of the run, and ends at its code, whatever the kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "attention_random.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/trace.hpp"
#include "halfulp/error.hpp"

namespace {

using namespace attention_random;  // NOLINT: one test program
using halfulp::attention::Keep, halfulp::attention::run, halfulp::attention::trace, halfulp::attention::TraceStep;

bool has(const TraceStep& step, std::uint32_t word) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%0*x", 8, static_cast<unsigned>(word));
  return step.text.find(text) != std::string::npos;
}

TEST(AttentionTrace, FollowsTheStagesOfEveryPreset) {
  Random random(1);
  std::size_t traced = 0, tiles = 0;
  for (const auto& preset : halfulp::attention::presets()) {
    for (const char* more : {"", ",causal=yes,tile=4", ",split=8,tile=4,window=3:2", ",softcap=8:0.125,tile=4"}) {
      const KernelSpec spec = halfulp::attention::parse_spec(preset.spec.name + more);
      const OwnedProblem problem = random_problem(random, spec, {2, 1, 3, 20, 4, 2}, Operands::normal);
      const auto stages = run(spec, problem.view(), Keep::all);
      for (std::size_t row = 0; row < 6; ++row) {
        const auto steps = trace(spec, problem.view(), row / 3, row % 3, row % 2, 2);
        std::size_t tile = 0;
        for (const TraceStep& step : steps) {
          if (!step.place.starts_with("tile") && !step.place.starts_with("part")) continue;
          const std::size_t at = row * stages.tiles + tile;
          if (step.name == "m") {
            EXPECT_TRUE(has(step, stages.m[at])) << step.text;
          } else if (step.name == "alpha") {
            EXPECT_TRUE(has(step, stages.alpha[at])) << step.text;
          } else if (step.name.starts_with("key ")) {
            EXPECT_TRUE(has(step, stages.P[row * 20 + std::stoul(step.name.substr(4))])) << step.text;
          } else if (step.name == "O") {
            EXPECT_TRUE(has(step, stages.O_tile[at * 2 + row % 2])) << step.text;
            ++tile;
          }
        }
        EXPECT_EQ(tile, stages.tiles);
        EXPECT_EQ(steps.back().name, spec.out);
        const auto sum = std::find_if(steps.begin(), steps.end(), [](const TraceStep& step) { return step.name == "row sum"; });
        ASSERT_NE(sum, steps.end());
        EXPECT_TRUE(has(*sum, stages.row_sum[row])) << sum->text;
        ++traced;
        tiles += tile;
      }
    }
  }
  EXPECT_EQ(traced, halfulp::attention::presets().size() * 24);
  EXPECT_GT(tiles, traced * 3);
}

/// A score that is not finite makes the row NaN; no keys make it 0. The last step must agree with the run there, too.
TEST(AttentionTrace, EdgeCases) {
  const KernelSpec spec = halfulp::attention::parse_spec("reference,out=bf16");
  OwnedProblem nan = {{1, 1, 1, 1, 1, 1}, {0x7f}, {0x38}, {0x38}, {}, {}, {}};
  EXPECT_EQ(trace(spec, nan.view(), 0, 0, 0).back().text, "0x7fc0 (nan)");
  const OwnedProblem empty = {{1, 1, 1, 0, 1, 1}, {0x38}, {}, {}, {}, {}, {}};
  EXPECT_EQ(trace(spec, empty.view(), 0, 0, 0).back().text, "0x0000 (0)");
  EXPECT_THROW((void)trace(spec, nan.view(), 1, 0, 0), halfulp::InputError);
  EXPECT_THROW((void)trace(spec, nan.view(), 0, 1, 0), halfulp::InputError);
  EXPECT_THROW((void)trace(spec, nan.view(), 0, 0, 1), halfulp::InputError);
}

}  // namespace
