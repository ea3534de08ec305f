// Enclosures hold for every kernel that keeps to the budget: 10^6 random runs.
#include "attention_enclosure_runs.hpp"

namespace {

TEST(AttentionEnclosureExhaustive, NoRunFallsOutsideItsBudget) { attention_enclosure::soundness(1'000'000, 1'000'000); }

}  // namespace
