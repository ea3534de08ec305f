// What can be proved of any row, also of data that no probe knows: enclosures of the stated budget
// (docs/attention_verdicts.md).
#pragma once

#include "halfulp/vectors/attention/judge.hpp"

namespace halfulp::vectors {

/// Every element of O against the codes that the budget of the plan's kernel admits in any tile order and
/// split, under its PV model; violations of the first `wide_rows` query rows that have any are confirmed in wide
/// intervals. `wide_rows` is left with what remains of it: everything, once a violation did not stand.
ClaimTally judge_enclosed(const AttentionPlan& plan, const attention::Case& c, const AttentionAnswer& answer,
                          std::size_t& wide_rows);

}  // namespace halfulp::vectors
