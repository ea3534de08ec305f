// Coverage is counted from the words, and what the levels claim is so.
#include "halfulp/vectors/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace halfulp::vectors {
namespace {

Expected expected_of(const char* spec) {
  return Expected(make_plan(parse_cast_spec(spec)));
}

// clang-format off
constexpr const char* kSpecs[] = {
    "cast:f32:e4m3", "cast:f32:e5m2,overflow=overflow,rounding=to_odd", "cast:f64:e4m3fnuz,rounding=toward_negative",
    "cast:f16:e4m3,nan-code=quiet", "cast:bf16:e2m1", "cast:f32:e2m1,nan=nan_to_max", "cast:tf32:e3m2,nan=nan_to_zero",
    "cast:f32:e8m0,zero=min,negative=abs", "cast:f32:e8m0", "cast:f32:ue4m3,negative=abs", "cast:f32:ue4m3",
    "cast:e4m3:f32,overflow=overflow", "cast:e5m2:e4m3", "cast:f32:e4m3,via=f16", "cast:f32:int8,nan=nan_to_zero",
    "cast:f32:nf4,nan=nan_to_zero", "cast:f32:binary8p3se,overflow=overflow", "cast:f16:bf16,nan-code=payload"};
// clang-format on

TEST(Coverage, agrees_with_what_the_levels_claim) {
  for (const char* spec : kSpecs) {
    const Expected expected = expected_of(spec);
    for (const Level level : {Level::specials, Level::thresholds, Level::stratified}) {
      const LevelWords words = level_words(expected, level, 3);
      const Completeness claimed = completeness(expected, level, words.words.size());
      const Coverage found = coverage(expected, words.words);
      EXPECT_EQ(found.refused, 0u) << spec;
      EXPECT_EQ(found.words, words.words.size());
      // A sample may happen to be complete; what is claimed must be so.
      if (claimed != Completeness::sampled) {
        EXPECT_EQ(found.completeness(), claimed) << spec << " " << name_of(level) << "\n"
                                                 << coverage_text(found);
        EXPECT_TRUE(found.codes.full()) << spec << "\n" << coverage_text(found);
      }
      if (level == Level::specials) continue;
      EXPECT_TRUE(found.ends.full()) << spec << "\n" << coverage_text(found);
    }
  }
}

TEST(Coverage, one_missing_side_of_any_threshold_is_seen) {
  const Expected expected = expected_of("cast:f16:e4m3,overflow=overflow");
  const std::vector<std::uint64_t> all = level_words(expected, Level::thresholds, 0).words;
  const Coverage full = coverage(expected, all);
  ASSERT_EQ(full.completeness(), Completeness::complete_for_monotone);
  EXPECT_TRUE(
      full.ties.full());  // nearest rounding, and overflow has a code of its own: every tie is a threshold
  std::uint64_t sides = 0;
  for (std::size_t i = 0; i + 1 < expected.runs().size(); ++i) {
    if (expected.runs()[i].result.code == expected.runs()[i + 1].result.code)
      continue;  // overflow, Inf and NaN
    for (const std::uint64_t bits : {expected.runs()[i].last, expected.runs()[i + 1].first}) {
      std::vector<std::uint64_t> fewer = all;
      std::erase(fewer, bits);
      const Coverage found = coverage(expected, fewer);
      EXPECT_EQ(found.completeness(), Completeness::sampled) << bits;
      EXPECT_LT(found.thresholds.reached, found.thresholds.all) << bits;
      ++sides;
    }
  }
  EXPECT_GT(sides, 400u);
}

TEST(Coverage, counts_what_is_there) {
  const Expected expected = expected_of("cast:f16:e4m3,overflow=overflow");
  // 0, -0, the smallest subnormal, 1, 1 + 1/16 (a tie), 448, 65504 (too large), Inf, NaN, and 1 again.
  const std::vector<std::uint64_t> words = {0,      0x8000, 1,      0x3c00, 0x3c40,
                                            0x5f00, 0x7bff, 0x7c00, 0x7e00, 0x3c00};
  const Coverage found = coverage(expected, words);
  EXPECT_EQ(found.words, 10u);
  EXPECT_EQ(found.codes.reached, 5u);  // 00 80 38 7e 7f
  EXPECT_EQ(found.codes.all, 256u);
  EXPECT_EQ(found.ties.reached, 1u);
  EXPECT_EQ(found.flags,
            (std::array<std::uint64_t, 5>{4, 1, 1, 1, 0}));  // inexact: also Inf, which becomes NaN
  EXPECT_EQ(found.classes, (std::array<std::uint64_t, 5>{2, 1, 5, 1, 1}));
  EXPECT_EQ(found.binades.all, 64u);
  EXPECT_EQ(found.binades.reached, 6u);
  EXPECT_EQ(found.completeness(), Completeness::sampled);
  EXPECT_NE(coverage_text(found).find("codes         5 of 256 target codes given\n"), std::string::npos)
      << coverage_text(found);
}

TEST(Coverage, every_word_is_exhaustive_and_one_less_is_not) {
  const Expected expected = expected_of("cast:bf16:e2m1");  // NaN is refused
  std::vector<std::uint64_t> words;
  for (std::uint64_t word = 0; word < 65536; ++word) {
    if (expected.at(word).result.refusal == Refusal::none) words.push_back(word);
  }
  EXPECT_EQ(coverage(expected, words).completeness(), Completeness::exhaustive);
  words.erase(words.begin() + 20000);
  EXPECT_EQ(coverage(expected, words).completeness(), Completeness::complete_for_monotone);
}

TEST(Coverage, without_a_table_nothing_is_complete) {
  const Expected expected = expected_of("cast:f64:f32,overflow=overflow");
  const Coverage found = coverage(expected, level_words(expected, Level::stratified, 0).words);
  EXPECT_EQ(found.completeness(), Completeness::sampled);
  EXPECT_EQ(found.thresholds.all, 0u);
  EXPECT_NE(coverage_text(found).find("not counted"), std::string::npos);
}

TEST(Coverage, of_no_words_proves_nothing) {
  EXPECT_EQ(coverage(expected_of("cast:f16:e4m3"), {}).completeness(), Completeness::sampled);
}

}  // namespace
}  // namespace halfulp::vectors
