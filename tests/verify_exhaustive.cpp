// All 2^32 f32 words through other people's casts, NaN codes included; all words of 16-bit sources in every
// rounding; and the directed roundings into wide targets.
#include <gtest/gtest.h>

#include <cstdio>

#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {
namespace {

struct Sweep {
  const char* implementation;
  const char* spec;
};
constexpr Sweep kSweeps[] = {
    {"halfulp-batch", "cast:f32:e4m3"},
    {"halfulp-batch", "cast:f32:e5m2,overflow=overflow,nan-code=quiet"},
    {"cpu-f16c", "cast:f32:f16@x86_f16c"},
    {"cpu-f16c", "cast:f32:f16@x86_f16c,rounding=toward_zero"},
    {"cpu-avx512-bf16", "cast:f32:bf16@x86_avx512_bf16"},
    {"cuda-headers", "cast:f32:e4m3@cuda_satfinite"},
    {"cuda-headers", "cast:f32:e4m3@cuda_nosat"},
    {"cuda-headers", "cast:f32:e5m2@cuda_satfinite"},
    {"cuda-headers", "cast:f32:e5m2@cuda_nosat"},
    {"cuda-headers", "cast:f32:e2m1@cuda_satfinite"},
    {"cuda-headers", "cast:f32:e2m3@cuda_satfinite"},
    {"cuda-headers", "cast:f32:e3m2@cuda_satfinite"},
    {"cuda-headers", "cast:f32:e8m0@cuda_satfinite,rounding=toward_zero"},
    {"cuda-headers", "cast:f32:e8m0@cuda_nosat,rounding=toward_zero"},
    {"cuda-headers", "cast:f32:e8m0@cuda_satfinite,rounding=toward_positive"},
    {"cuda-headers", "cast:f32:e8m0@cuda_nosat,rounding=toward_positive"},
    {"cuda-headers", "cast:f32:f16@cuda_satfinite"},
    {"cuda-headers", "cast:f32:bf16@cuda_satfinite"},
};

class AllWords : public testing::TestWithParam<Sweep> {};

TEST_P(AllWords, of_f32_give_the_code_of_the_dialect) {
  const Implementation& implementation = require_implementation(GetParam().implementation);
  if (!implementation.missing.empty()) {
    GTEST_SKIP() << "not found: " << implementation.name << ": " << implementation.missing;
  }
  const Verdict verdict = verify(implementation, parse_cast_spec(GetParam().spec),
                                 {.level = Level::exhaustive, .progress = {}});
  std::printf("%s %s: %llu words, %.1f s\n", GetParam().implementation, GetParam().spec,
              static_cast<unsigned long long>(verdict.tally.checked), verdict.seconds);
  EXPECT_TRUE(verdict.passed()) << verdict_text(verdict, false);
  EXPECT_EQ(verdict.tally.checked, std::uint64_t{1} << 32);
}

INSTANTIATE_TEST_SUITE_P(All, AllWords, testing::ValuesIn(kSweeps));

TEST(SmallSources, give_the_code_of_the_dialect_for_every_word_in_every_rounding) {
  for (const char* name : {"cpu-f16c", "cpu-avx512-bf16", "cpu-arm-fcvt", "cuda-headers", "apfloat",
                           "ml_dtypes", "gfloat", "numpy"}) {
    const Implementation& library = require_implementation(name);
    if (!library.missing.empty()) {
      std::printf("not found: %s: %s\n", name, library.missing.c_str());
      continue;
    }
    for (const Claim& claim : library.claims) {
      if (make_plan(parse_cast_spec(claim.spec)).from->width > 16) continue;
      const Verdict verdict =
          verify(library, parse_cast_spec(claim.spec), {.level = Level::exhaustive, .progress = {}});
      EXPECT_TRUE(verdict.passed()) << verdict_text(verdict, false);
    }
  }
}

TEST(WideTargets, follow_their_dialect_in_every_rounding) {
  for (const char* name : {"apfloat", "gfloat"}) {
    const Implementation& library = require_implementation(name);
    if (!library.missing.empty()) {
      std::printf("not found: %s: %s\n", name, library.missing.c_str());
      continue;
    }
    for (const Claim& claim : library.claims) {
      const CastPlan plan = make_plan(parse_cast_spec(claim.spec));
      if (plan.to.width <= 8 || plan.from->width <= 16 || plan.policy.rounding == Rounding::ties_to_even)
        continue;
      const Verdict verdict =
          verify(library, parse_cast_spec(claim.spec), {.level = Level::thresholds, .progress = {}});
      EXPECT_TRUE(verdict.passed()) << verdict_text(verdict, false);
    }
  }
}

}  // namespace
}  // namespace halfulp::vectors
