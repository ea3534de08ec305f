// Every implementation found follows its own dialect.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "shared_tables.hpp"

namespace halfulp::vectors {
namespace {

/// Wide targets have tens of thousands of steps: their directed roundings belong to the exhaustive tier, as
/// does every word of 16-bit sources in roundings other than ties_to_even.
bool in_default_tier(const CastPlan& plan) {
  return plan.to.width <= 8 || plan.from->width <= 16 || plan.policy.rounding == Rounding::ties_to_even;
}

class Library : public testing::TestWithParam<std::string> {};

TEST_P(Library, follows_its_dialect_at_every_threshold_and_on_all_16_bit_sources_under_ties_to_even) {
  const Implementation& library = require_implementation(GetParam());
  if (!library.missing.empty()) GTEST_SKIP() << "not found: " << library.name << ": " << library.missing;
  std::uint64_t checked = 0;
  int claims = 0;
  for (const Claim& claim : library.claims) {
    const CastPlan plan = make_plan(parse_cast_spec(claim.spec));
    if (!in_default_tier(plan)) continue;
    const bool all = plan.from->width <= 16 && plan.policy.rounding == Rounding::ties_to_even;
    const SharedVerdict verdict = shared_verdict(library, claim.spec, all ? Level::exhaustive : Level::thresholds);
    EXPECT_EQ(spec_text(verdict.plan), spec_text(plan));
    EXPECT_EQ(verdict.card, "");
    checked += verdict.checked;
    ++claims;
  }
  std::cout << library.name << " " << library.version << ": " << claims << " casts, " << checked
            << " answers\n";
  EXPECT_GT(checked, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, Library,
                         testing::Values("cpu-f16c", "cpu-avx512-bf16", "cpu-arm-fcvt", "cuda-headers",
                                         "apfloat", "ml_dtypes", "gfloat", "numpy"),
                         [](const auto& library) {
                           std::string name = library.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace halfulp::vectors
