// Enclosures hold for every kernel that keeps to the budget: a sample. 10^6 runs in attention_enclosure_exhaustive.cpp.
#include "attention_enclosure_terms.hpp"

namespace {

using namespace attention_enclosure;  // NOLINT: one test program

TEST(AttentionEnclosure, NoRunFallsOutsideItsBudget) { soundness(10'000, 1); }

TEST(AttentionEnclosure, EverySequenceOfMaximaIsInside) { every_sequence(4, 30, 1); }

TEST(AttentionEnclosure, HalfATermIsBroken) { halved(400, 1, {Term::rescale, Term::row_sum}); }

}  // namespace
