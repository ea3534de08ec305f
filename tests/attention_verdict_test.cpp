// Verdicts: right results are never a violation, wrong ones are found where a proof is possible.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "attention_enclosure_terms.hpp"
#include "halfulp/error.hpp"

namespace {

using namespace attention_enclosure;  // NOLINT: one test program
using halfulp::attention::judge, halfulp::attention::Judgement, halfulp::attention::Recheck, halfulp::attention::Verdict;

std::size_t count(const Judgement& judgement, Verdict verdict) { return judgement.counts[static_cast<std::size_t>(verdict)]; }

/// E4M3 output of a kernel whose tiles are stated, F = 25.
struct Tidy {
  Budget budget;
  OwnedProblem problem;
};
Tidy tidy(Random& random) {
  Tidy t;
  t.budget.tiles = Tiles::stated;
  t.budget.scores = Scores::as_model;
  t.budget.exp2_error = kP6;
  KernelSpec& spec = t.budget.kernel;
  spec.qk_model = spec.pv_model = "blackwell_f8f6f4";
  spec.tile = 4;
  spec.out = "e4m3";
  t.problem = random_problem(random, spec, {1, 1, 4, 12, 4, 4}, Operands::normal);
  t.problem.sink.clear();
  return t;
}

TEST(AttentionVerdict, RightResultsAreForcedOrAdmissible) {
  Random random(1);
  std::size_t forced = 0, all = 0;
  for (int i = 0; i < 60; ++i) {
    const Tidy t = tidy(random);
    const auto O = halfulp::attention::run(t.budget.kernel, t.problem.view()).O;
    const Judgement judgement = judge(t.budget, t.problem.view(), O);
    EXPECT_EQ(count(judgement, Verdict::violation) + count(judgement, Verdict::undecided), 0u);
    EXPECT_EQ(judgement.exit_status(), 0);
    forced += count(judgement, Verdict::forced);
    all += O.size();
  }
  std::printf("e4m3, stated tiles, F = 25: %zu of %zu forced\n", forced, all);
  EXPECT_GT(forced, all * 9 / 10);
}

/// Every forced element, moved to the next code, is a violation, and both interval widths say so.
TEST(AttentionVerdict, AForcedCodeMovedByOneIsAViolation) {
  Random random(2);
  std::size_t moved = 0, found = 0;
  for (int i = 0; i < 20; ++i) {
    const Tidy t = tidy(random);
    auto O = halfulp::attention::run(t.budget.kernel, t.problem.view()).O;
    const Judgement before = judge(t.budget, t.problem.view(), O);
    const std::size_t so_far = moved;
    for (std::size_t e = 0; e < O.size(); ++e) {
      if (before.elements[e].verdict != Verdict::forced || (O[e] & 0x7f) == 0 || (O[e] & 0x7f) >= 0x7d) continue;
      O[e] += random.one_in(2) ? 1 : static_cast<std::uint32_t>(-1);
      ++moved;
    }
    const Judgement after = judge(t.budget, t.problem.view(), O);
    found += after.violations.size();
    EXPECT_EQ(count(after, Verdict::violation), after.violations.size());
    EXPECT_EQ(after.exit_status(), moved > so_far ? 1 : 0);
    for (const auto& violation : after.violations) {
      EXPECT_EQ(violation.code, O[violation.row * 4 + violation.dim]);
      EXPECT_NE(violation.code, violation.low);
    }
  }
  EXPECT_GT(moved, 200u);
  EXPECT_EQ(found, moved);
}

/// Faults of the public list, against the budget of the kernel that they pretend to be.
TEST(AttentionVerdict, FaultyKernelsAreProvedWrong) {
  Random random(3);
  std::size_t quantized_sum = 0, dropped_scale = 0, saturated = 0;
  for (int i = 0; i < 10; ++i) {
    Tidy t = tidy(random);
    t.problem.v_scale = {2.0f};
    const auto violations = [&](const KernelSpec& faulty, const OwnedProblem& problem) {
      return judge(t.budget, t.problem.view(), halfulp::attention::run(faulty, problem.view()).O).violations.size();
    };
    KernelSpec faulty = t.budget.kernel;
    faulty.sum_of = SumOf::quantized;
    quantized_sum += violations(faulty, t.problem);
    OwnedProblem dropped = t.problem;
    dropped.v_scale.clear();
    dropped_scale += violations(t.budget.kernel, dropped);
    faulty = t.budget.kernel;
    faulty.threshold = 8;
    t.problem.logit_scale = {4.0f};
    saturated += violations(faulty, t.problem);
  }
  std::printf("violations of 160 elements: row sum of codes %zu, dropped v_scale %zu, stale maximum %zu\n", quantized_sum, dropped_scale, saturated);
  for (const std::size_t found : {quantized_sum, dropped_scale, saturated}) EXPECT_GT(found, 0u);
}

/// One key at 0, 1024 keys at -10, V = 1: a kernel without prescale gives 1/2 and is proved wrong, whatever its tiles.
TEST(AttentionVerdict, NoPrescaleIsProvedWrongForAnyOrder) {
  Budget budget;
  budget.kernel.qk_model = budget.kernel.pv_model = "blackwell_f8f6f4";
  budget.kernel.out = "bf16";
  OwnedProblem problem;
  problem.shape = {1, 1, 1, 1025, 1, 1};
  problem.q = {e4m3(1)};
  problem.k.assign(1025, e4m3(-10)), problem.k[0] = 0;
  problem.v.assign(1025, e4m3(1));
  KernelSpec faulty = budget.kernel;
  faulty.offset = 0;
  const auto wrong = halfulp::attention::run(faulty, problem.view()).O, right = halfulp::attention::run(budget.kernel, problem.view()).O;
  EXPECT_EQ(wrong[0], 0x3f00u);
  EXPECT_EQ(right[0], 0x3f80u);
  EXPECT_EQ(judge(budget, problem.view(), wrong).violations.size(), 1u);
  EXPECT_EQ(judge(budget, problem.view(), right).violations.size(), 0u);
}

/// A bf16 result of an F = 13 unit with unknown order: nothing is forced, and the exit status says that nothing was proved.
TEST(AttentionVerdict, ALooseBudgetProvesNothing) {
  Random random(4);
  Budget budget;
  budget.kernel.out = "bf16";
  const OwnedProblem problem = random_problem(random, budget.kernel, {1, 1, 2, 40, 16, 2}, Operands::normal);
  const Judgement judgement = judge(budget, problem.view(), halfulp::attention::run(budget.kernel, problem.view()).O);
  EXPECT_EQ(count(judgement, Verdict::admissible), 4u);
  for (const auto& element : judgement.elements) EXPECT_GT(element.values, 10u);
  EXPECT_EQ(judgement.exit_status(), 3);
}

TEST(AttentionVerdict, NothingToJudgeProvesNothing) {
  const Budget budget;
  const OwnedProblem problem = {{1, 1, 0, 0, 1, 1}, {}, {}, {}, {}, {}, {}};
  EXPECT_EQ(judge(budget, problem.view(), {}).exit_status(), 3);
  const std::uint32_t code = 0;
  EXPECT_THROW((void)judge(budget, problem.view(), {&code, 1}), halfulp::InputError);
}

/// A row that sees nothing is exactly 0, of either sign; a NaN there is a violation.
TEST(AttentionVerdict, ARowWithoutKeysIsForcedToZero) {
  Random random(5);
  Budget budget;
  budget.kernel.window = {-5, -5};
  budget.kernel.out = "f16";
  OwnedProblem problem = random_problem(random, budget.kernel, {1, 1, 3, 3, 2, 1}, Operands::normal);
  const Judgement right = judge(budget, problem.view(), std::vector<std::uint32_t>{0x0000, 0x8000, 0x0000});
  EXPECT_EQ(count(right, Verdict::forced), 3u);
  const Judgement wrong = judge(budget, problem.view(), std::vector<std::uint32_t>{0x7e00, 0x0001, 0x8000});
  EXPECT_EQ(wrong.violations.size(), 2u);
}

/// bf16 operands on which the two readings of zeros give other scores (accumulation.md, probes): 0 * 2^127 + 2^-15 * 2^-15.
TEST(AttentionVerdict, ScoresThatDependOnTheZeroRuleAreUndecided) {
  Budget budget;
  budget.scores = Scores::as_model;
  budget.tiles = Tiles::stated;
  KernelSpec& spec = budget.kernel;
  spec.qk_model = "hopper_f16", spec.q_format = spec.k_format = "bf16";
  spec.out = "e4m3";
  OwnedProblem problem;
  problem.shape = {1, 1, 1, 2, 2, 1};
  problem.q = {0, 0x3800};                       // 0, 2^-15
  problem.k = {0x7f00, 0x3800, 0, 0};            // 2^127, 2^-15; 0, 0
  problem.v = {e4m3(4), e4m3(0)};
  problem.logit_scale = {0x1p33f};               // S is 2^-30 or 0: the gap is 8 or 0
  const Judgement judgement = judge(budget, problem.view(), std::vector<std::uint32_t>{e4m3(2)});
  EXPECT_EQ(count(judgement, Verdict::undecided), 1u);
  EXPECT_EQ(judgement.exit_status(), 3);
  EXPECT_EQ(judge(budget, problem.view(), std::vector<std::uint32_t>{e4m3(3)}).exit_status(), 1);  // neither 2 nor 4
}

/// More rows with violations than any sample: every one is confirmed, and threads change nothing.
TEST(AttentionVerdict, EveryViolationOfManyRowsIsConfirmed) {
  Random random(6);
  Budget budget;
  budget.kernel.out = "e4m3";
  const OwnedProblem problem = random_problem(random, budget.kernel, {2, 1, 20, 30, 8, 3}, Operands::normal);
  const std::vector<std::uint32_t> lies(120, 0x7e);  // 448
  std::set<std::size_t> rows;
  const Recheck counting = [&](const Budget& b, const halfulp::attention::Problem& p, std::span<const std::size_t> some, unsigned threads) {
    for (const std::size_t row : some) EXPECT_TRUE(rows.insert(row).second);
    return halfulp::attention::enclose_wide(b, p, some, threads);
  };
  const Judgement judgement = judge(budget, problem.view(), lies, 1, counting);
  EXPECT_EQ(count(judgement, Verdict::violation), judgement.violations.size());
  std::set<std::size_t> violated;
  for (const auto& violation : judgement.violations) violated.insert(violation.row);
  EXPECT_EQ(rows, violated);
  EXPECT_GT(rows.size(), 30u);
  const Judgement again = judge(budget, problem.view(), lies, 3);
  ASSERT_EQ(again.violations.size(), judgement.violations.size());
  for (std::size_t i = 0; i < again.violations.size(); ++i) {
    const auto &a = again.violations[i], &b = judgement.violations[i];
    EXPECT_EQ(std::tie(a.row, a.dim, a.code, a.low, a.high), std::tie(b.row, b.dim, b.code, b.low, b.high));
  }
}

/// A second enclosure that does not exclude what the first one does is a fault of ours, never a verdict.
TEST(AttentionVerdict, ARecheckThatContradictsIsAFault) {
  Random random(7);
  Budget budget;
  budget.kernel.out = "e4m3";
  const OwnedProblem problem = random_problem(random, budget.kernel, {1, 1, 2, 10, 8, 2}, Operands::normal);
  const std::vector<std::uint32_t> lies = {0x7e, 0x7e, 0x7e, 0x7e};
  ASSERT_EQ(judge(budget, problem.view(), lies).exit_status(), 1);
  for (const bool bounded : {true, false}) {
    const Recheck other = [&](const Budget&, const halfulp::attention::Problem&, std::span<const std::size_t> some, unsigned) {
      return std::vector<halfulp::attention::Enclosure>(some.size() * 2, {bounded, -500, 500, 0, 0});
    };
    EXPECT_THROW((void)judge(budget, problem.view(), lies, 1, other), std::logic_error);
  }
  // Where nothing is violated nothing is asked.
  const auto right = halfulp::attention::run(budget.kernel, problem.view()).O;
  const Recheck never = [](const auto&, const auto&, auto, unsigned) -> std::vector<halfulp::attention::Enclosure> { throw std::logic_error("asked"); };
  EXPECT_NO_THROW((void)judge(budget, problem.view(), right, 1, never));
}

/// Intervals in doubles hold those in 256 bits: where both are known, the wide one lies within.
TEST(AttentionVerdict, DoublesHoldTheWideIntervals) {
  std::size_t compared = 0, outside = 0;
  double widest = 0;
  for (std::uint64_t seed = 1; seed < 160; ++seed) {
    Random random(seed);
    const Case c = random_case(random);
    const OwnedProblem problem = random_problem(random, c.budget.kernel, c.shape, c.kind);
    const auto narrow = halfulp::attention::enclose(c.budget, problem.view());
    const std::vector<std::size_t> first = {0};
    const auto wide = halfulp::attention::enclose_wide(c.budget, problem.view(), first);
    for (std::size_t d = 0; d < wide.size(); ++d) {
      if (!narrow[d].bounded || !wide[d].bounded) continue;
      ++compared;
      outside +=
          narrow[d].lo <= wide[d].lo && wide[d].hi <= narrow[d].hi && narrow[d].true_lo <= wide[d].true_lo && wide[d].true_hi <= narrow[d].true_hi
              ? 0
              : 1;
      if (c.kind == Operands::normal && !c.budget.kernel.softcap && narrow[d].true_lo > 0)
        widest = std::max(widest, (narrow[d].true_hi - narrow[d].true_lo) / narrow[d].true_lo);
    }
  }
  EXPECT_GT(compared, 150u);
  EXPECT_EQ(outside, 0u);
  EXPECT_LT(widest, 1e-9);  // a true result is known to many more digits than a float32 has
}

}  // namespace
