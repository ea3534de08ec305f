// Enclosures hold for every kernel that keeps to the budget: 10^6 random runs, every sequence of maxima of six keys; and what half of each
// term is worth.
#include "attention_enclosure_terms.hpp"

namespace {

TEST(AttentionEnclosureExhaustive, NoRunFallsOutsideItsBudget) { attention_enclosure::soundness(1'000'000, 1'000'000); }

TEST(AttentionEnclosureExhaustive, EverySequenceOfMaximaIsInside) { attention_enclosure::every_sequence(6, 20, 1000); }

TEST(AttentionEnclosureExhaustive, HalfATermIsBroken) {
  using halfulp::attention::Term;
  attention_enclosure::halved(20'000, 1'000'000, {Term::rescale, Term::row_sum});
}

}  // namespace
