// Random runs of kernels that keep to a budget, against the enclosure of that budget.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "attention_foreign.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/attention/verdict.hpp"

namespace attention_enclosure {

using namespace attention_foreign;  // NOLINT: test programs
using halfulp::attention::Enclosure, halfulp::attention::Term, halfulp::attention::kTerms;

inline constexpr double kP6 = 0x1.2p-24;  ///< relative error of exp2_p6 over all float32 inputs, rounded up (6.56e-8)

/// A case: what a kernel does, and what is told about it.
struct Case {
  Budget budget;
  Shape shape;
  Operands kind = Operands::normal;
  Manner manner = Manner::random;
  bool reference = false;  ///< run by the engine of attention
};

inline Case random_case(Random& random) {
  Case c;
  c.shape = {1, 1, 1, 1 + random.below(random.one_in(8) ? 30 : 8), 1 + random.below(random.one_in(8) ? 40 : 4), 1 + random.below(2)};
  Budget& budget = c.budget;
  budget.kernel = random_spec(random, c.shape.keys);
  KernelSpec& spec = budget.kernel;
  if (!random.one_in(8)) {  // most runs in FP8 and INT8; masks that hide everything are rare
    const Product qk = kQk[random.below(6)], pv = kPv[random.below(5)];
    spec.qk_model = qk.model, spec.q_format = qk.a, spec.k_format = qk.b;
    spec.pv_model = pv.model, spec.p_format = pv.a, spec.v_format = pv.b;
  }
  if (random.one_in(2)) spec.causal = false, spec.window.reset(), spec.visible_prefix = 0;
  c.kind = static_cast<Operands>(random.below(kOperandKinds));
  c.manner = static_cast<Manner>(random.below(3));
  c.reference = random.one_in(4);
  budget.tiles = random.one_in(2) ? Tiles::stated : Tiles::any;
  const bool slow = spec.q_format.find("f16") != std::string::npos || spec.k_format.find("f16") != std::string::npos;
  budget.scores = static_cast<Scores>(slow ? 1 + random.below(2) : random.below(3));
  constexpr double kErrors[] = {0x1p-22, 0x1p-22, 0x1p-23, 0x1p-10}, kScale[] = {0, 0, 0x1p-22, 0x1p-9};
  budget.exp2_error = c.manner == Manner::mild || c.reference ? kP6 : pick(random, kErrors);
  if (!c.reference) {
    budget.logit_scale_error = pick(random, kScale);
    budget.pv_f32 = random.one_in(4);
    budget.reciprocal_error = c.manner == Manner::mild ? 0x1p-24 : random.one_in(2) ? 0x1p-24 : 0x1p-22;
    budget.softcap_error = random.one_in(2) ? 0x1p-21 : 0x1p-9;
  } else if (budget.scores == Scores::f32_any_order && spec.qk_model.find("f32_") == std::string::npos) {
    budget.scores = Scores::model_any_order;
  }
  return c;
}

struct Counts {
  std::size_t runs = 0, elements = 0, bounded = 0, outside = 0, reference = 0, stated = 0, any = 0;
  std::array<std::size_t, 4> verdicts = {};
  std::size_t e4m3 = 0, e4m3_forced = 0, stated_e4m3 = 0, stated_e4m3_forced = 0;
  std::vector<double> ratios;
};

/// float32 results of the kernel of a case.
inline std::vector<float> results(const Case& c, const Problem& problem, Random& random) {
  std::vector<float> all;
  if (c.reference) {
    KernelSpec spec = c.budget.kernel;
    spec.out = "f32";
    for (const std::uint32_t word : halfulp::attention::run(spec, problem).O) all.push_back(std::bit_cast<float>(word));
    return all;
  }
  ForeignKernel kernel(c.budget, problem, random, c.manner);
  for (std::size_t row = 0; row < problem.shape.query_heads * problem.shape.queries; ++row) {
    for (const float O : kernel.row(row)) all.push_back(O);
  }
  return all;
}

inline void run_case(std::uint64_t seed, Counts& counts) {
  Random random(seed);
  const Case c = random_case(random);
  const OwnedProblem owned = random_problem(random, c.budget.kernel, c.shape, c.kind);
  const Problem problem = owned.view();
  const std::vector<Enclosure> enclosures = halfulp::attention::enclose(c.budget, problem);
  const std::vector<float> O = results(c, problem, random);
  const halfulp::FormatSpec out = halfulp::find_format(c.budget.kernel.out)->spec;
  std::vector<std::uint32_t> codes;
  bool outside = false;
  for (std::size_t i = 0; i < O.size(); ++i) {
    const Enclosure& e = enclosures[i];
    codes.push_back(c.budget.kernel.out == "f32" ? std::bit_cast<std::uint32_t>(O[i]) : code_of(out, static_cast<double>(O[i])));
    ++counts.elements;
    if (!e.bounded) continue;
    ++counts.bounded;
    const double x = static_cast<double>(O[i]);
    if (!(e.lo <= x && x <= e.hi)) {
      outside = true;
      if (++counts.outside <= 5) {
        ADD_FAILURE() << "seed " << seed << " element " << i << ": " << x << " outside [" << e.lo << ", " << e.hi << "], true " << e.true_lo << "; "
                      << halfulp::attention::text_of(c.budget.kernel) << " scores " << static_cast<int>(c.budget.scores) << " tiles "
                      << static_cast<int>(c.budget.tiles) << " manner " << static_cast<int>(c.manner) << (c.reference ? " reference" : "") << " "
                      << name_of(c.kind);
      }
    }
    const double error = std::max(std::abs(x - e.true_lo), std::abs(x - e.true_hi)), width = e.hi - e.lo;
    if (error > 0x1p-30 * std::abs(x)) counts.ratios.push_back(width / error);  // a result without error has no ratio
  }
  ++counts.runs;
  counts.reference += c.reference ? 1 : 0;
  (c.budget.tiles == Tiles::stated ? counts.stated : counts.any) += 1;
  if (seed % 16 != 0) return;  // the oracle casts both ends of every element: a sample
  const auto judgement = halfulp::attention::judge(c.budget, problem, codes);
  for (std::size_t v = 0; v < 4; ++v) counts.verdicts[v] += judgement.counts[v];
  EXPECT_TRUE(judgement.violations.empty() || outside) << "seed " << seed;
  if (c.budget.kernel.out != "e4m3") return;
  const bool stated = c.budget.tiles == Tiles::stated;
  counts.e4m3 += codes.size();
  counts.e4m3_forced += judgement.counts[1];
  if (stated) counts.stated_e4m3 += codes.size(), counts.stated_e4m3_forced += judgement.counts[1];
}

/// Every order of `keys` keys and every cut of it into tiles, so every sequence of maxima, on `problems` sets of scores.
inline void every_sequence(std::size_t keys, std::size_t problems, std::uint64_t seed) {
  std::size_t runs = 0, outside = 0, values = 0;
  for (std::size_t i = 0; i < problems; ++i) {
    Random random(seed + i);
    Case c;
    c.shape = {1, 1, 1, keys, 2, 1};
    KernelSpec& spec = c.budget.kernel;
    spec.qk_model = spec.pv_model = random.one_in(2) ? "blackwell_f8f6f4" : "hopper_fp8_wgmma";
    spec.sum_of = random.one_in(2) ? SumOf::f32 : SumOf::quantized;
    if (random.one_in(2)) spec.threshold = random.one_in(2) ? 4.0f : 0.5f;
    if (random.one_in(3)) spec.pv = PvMode::two_level;
    c.budget.scores = random.one_in(2) ? Scores::as_model : Scores::model_any_order;
    c.budget.exp2_error = kP6;
    const OwnedProblem owned = random_problem(random, spec, c.shape, random.one_in(2) ? Operands::normal : Operands::integers);
    const Problem problem = owned.view();
    const Enclosure enclosure = halfulp::attention::enclose(c.budget, problem)[0];
    ASSERT_TRUE(enclosure.bounded);
    ForeignKernel kernel(c.budget, problem, random, Manner::mild);
    std::vector<std::size_t> order(keys);
    for (std::size_t j = 0; j < keys; ++j) order[j] = j;
    std::vector<float> seen;
    do {
      for (std::size_t cuts = 0; cuts < std::size_t{1} << (keys - 1); ++cuts) {
        std::vector<std::vector<std::size_t>> tiles(1);
        for (std::size_t j = 0; j < keys; ++j) {
          tiles.back().push_back(order[j]);
          if ((cuts >> j & 1) != 0 && j + 1 < keys) tiles.emplace_back();
        }
        kernel.lay_out(std::move(tiles));
        seen.push_back(kernel.row(0)[0]);
        const double x = static_cast<double>(seen.back());
        ++runs;
        if (!(enclosure.lo <= x && x <= enclosure.hi) && ++outside <= 3)
          ADD_FAILURE() << "seed " << seed + i << ": " << x << " outside [" << enclosure.lo << ", " << enclosure.hi << "]";
      }
    } while (std::next_permutation(order.begin(), order.end()));
    std::sort(seen.begin(), seen.end());
    values += static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
  }
  EXPECT_EQ(outside, 0u);
  EXPECT_GT(values, 2 * problems);  // the order does matter
  std::printf("every order and cut of %zu keys: %zu problems, %zu runs, %zu different results, %zu outside\n", keys, problems, runs, values, outside);
}

inline void soundness(std::size_t runs, std::uint64_t seed) {
  Counts counts;
  for (std::size_t i = 0; i < runs; ++i) run_case(seed + i, counts);
  EXPECT_EQ(counts.outside, 0u);
  EXPECT_GT(counts.bounded, counts.elements / 2);
  EXPECT_GT(counts.verdicts[1], 0u);
  EXPECT_EQ(counts.verdicts[0], 0u);
  std::sort(counts.ratios.begin(), counts.ratios.end());
  const auto at = [&](double share) { return counts.ratios[static_cast<std::size_t>(share * static_cast<double>(counts.ratios.size() - 1))]; };
  std::printf("%zu runs (%zu of the reference kernel; tiles stated %zu, any %zu), %zu elements, %zu bounded, %zu outside\n", counts.runs,
              counts.reference, counts.stated, counts.any, counts.elements, counts.bounded, counts.outside);
  std::printf("width / |error|: median %.3g, 90 %% %.3g, max %.3g\n", at(0.5), at(0.9), at(1));
  std::printf("judged: violation %zu, forced %zu, admissible %zu, undecided %zu; forced of e4m3 outputs: %.1f %%, with stated tiles %.1f %%\n",
              counts.verdicts[0], counts.verdicts[1], counts.verdicts[2], counts.verdicts[3],
              100.0 * static_cast<double>(counts.e4m3_forced) / static_cast<double>(std::max<std::size_t>(1, counts.e4m3)),
              100.0 * static_cast<double>(counts.stated_e4m3_forced) / static_cast<double>(std::max<std::size_t>(1, counts.stated_e4m3)));
}

}  // namespace attention_enclosure
