// The attention engine equals its exact twin in every stage: 200,000 random cases.
#include "attention_twins.hpp"

namespace {

TEST(AttentionTwinsExhaustive, EngineIsTheTwinOnRandomSpecsAndProblems) { attention_twins::compare(200'000, 1'000'000); }

}  // namespace
