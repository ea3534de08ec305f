// What can be proved of any row, also of data that no probe knows: enclosures of the stated budget
// (docs/attention_verdicts.md).
#pragma once

#include "halfulp/vectors/attention/judge.hpp"

namespace halfulp::vectors {

/// Every element of O against the codes that the budget of the plan's kernel admits in any tile order and
/// split, under its PV model. Every violation is confirmed in 256-bit intervals; throws std::logic_error where
/// they contradict.
ClaimTally judge_enclosed(const AttentionPlan& plan, const attention::Case& c, const AttentionAnswer& answer,
                          unsigned threads = 1);

}  // namespace halfulp::vectors
