// The engine of attention against its exact twin, stage by stage.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>

#include "attention_random.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/kernel_exact.hpp"
#include "halfulp/attention/presets.hpp"

namespace attention_twins {

using namespace attention_random;  // NOLINT: test programs
using halfulp::attention::Stages;
using Words = std::vector<std::uint32_t>;

struct Stage {
  const char* name;
  Words Stages::*words;
};
inline constexpr Stage kStages[] = {{"L", &Stages::L},           {"S", &Stages::S},           {"m", &Stages::m},
                                    {"t", &Stages::t},           {"P", &Stages::P},           {"P_code", &Stages::P_code},
                                    {"alpha", &Stages::alpha},   {"l", &Stages::l},           {"row_sum", &Stages::row_sum},
                                    {"O_tile", &Stages::O_tile}, {"m_last", &Stages::m_last}, {"O", &Stages::O}};

/// Empty where every stage has the same words; else the first stage, place and words that differ.
inline std::string difference(const Stages& engine, const Stages& twin) {
  for (const Stage& stage : kStages) {
    const Words &a = engine.*stage.words, &b = twin.*stage.words;
    if (a.size() != b.size()) return std::string(stage.name) + " has " + std::to_string(a.size()) + " words, twin " + std::to_string(b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      char text[96];
      std::snprintf(text, sizeof text, "%s[%zu]: engine %08x, twin %08x", stage.name, i, a[i], b[i]);
      return text;
    }
  }
  return {};
}

/// Cases of seed, seed + 1, ...: random specs on random problems.
inline void compare(std::size_t cases, std::uint64_t seed) {
  std::array<std::size_t, kOperandKinds> compared = {};
  std::size_t words = 0, different = 0, nan_rows = 0, empty_rows = 0, rescaled = 0, kept = 0, split = 0, subnormal = 0;
  for (std::size_t i = 0; i < cases; ++i) {
    Random random(seed + i);
    const Shape shape = random_shape(random);
    const KernelSpec spec = random_spec(random, shape.keys);
    const auto kind = static_cast<Operands>(random.below(kOperandKinds));
    const OwnedProblem problem = random_problem(random, spec, shape, kind);
    ASSERT_NO_THROW(halfulp::attention::check(spec)) << halfulp::attention::text_of(spec);
    const Stages engine = halfulp::attention::run(spec, problem.view(), halfulp::attention::Keep::all);
    const Stages twin = halfulp::attention::run_exact(spec, problem.view());
    const std::string text = difference(engine, twin);
    if (!text.empty() && ++different <= 5)
      ADD_FAILURE() << "case " << seed + i << ", " << name_of(kind) << ", " << halfulp::attention::text_of(spec) << ": " << text;
    ++compared[static_cast<std::size_t>(kind)];
    for (const Stage& stage : kStages) words += (twin.*stage.words).size();
    for (const std::uint32_t m : twin.m_last) nan_rows += m == 0x7fffffff ? 1 : 0, empty_rows += m == 0xff800000 ? 1 : 0;
    for (const std::uint32_t alpha : twin.alpha) rescaled += alpha != 0x3f800000 ? 1 : 0;
    kept += spec.threshold ? 1 : 0;
    split += spec.split != 0 ? 1 : 0;
    for (const std::uint32_t s : twin.S) subnormal += (s & 0x7f800000) == 0 && (s & 0x7fffffff) != 0 ? 1 : 0;
  }
  EXPECT_EQ(different, 0u);
  std::printf("%zu cases, %zu words:", cases, words);
  for (std::size_t kind = 0; kind < kOperandKinds; ++kind) std::printf(" %s %zu", name_of(static_cast<Operands>(kind)), compared[kind]);
  std::printf("; rows NaN %zu, empty %zu; tiles rescaled %zu; specs with threshold %zu, split %zu; subnormal scores %zu\n", nan_rows, empty_rows,
              rescaled, kept, split, subnormal);
  for (const std::size_t count : {nan_rows, empty_rows, rescaled, kept, split, subnormal}) EXPECT_GT(count, 0u);
}

}  // namespace attention_twins
