// The rows of an attention plan: probes, then random problems of ordinary size; and what the reference kernel makes of them.
#pragma once

#include <cstdint>
#include <vector>

#include "halfulp/attention/problem.hpp"
#include "halfulp/vectors/attention/plan.hpp"
#include "halfulp/vectors/levels.hpp"

namespace halfulp::vectors {

struct AttentionRows {
  std::vector<attention::Case> cases;
  std::vector<attention::Probe> probes;  ///< of the first rows; their `input` is moved into `cases`
};

/// specials: the probes. stratified: random rows behind them. Throws InputError for the other levels, and where no row is left.
AttentionRows attention_rows(const AttentionPlan& plan, Level level, std::uint64_t seed);

/// N(0, 1) data, scaled and cast as a user would: what tests with a tolerance are run on.
std::vector<attention::Case> normal_cases(const AttentionPlan& plan, std::size_t count, std::uint64_t seed);

/// What a kernel computes for the rows, in their order. All rows come together: they are the sequences of a batch.
std::vector<attention::Stages> reference_answers(const AttentionPlan& plan, const std::vector<attention::Case>& cases, unsigned threads = 1);

/// Keys as the cache of the plan gives them back. `across`: groups run on from one sequence into the next, a fault.
std::vector<attention::Case> through_cache(const AttentionPlan& plan, std::vector<attention::Case> cases, bool across = false);

}  // namespace halfulp::vectors
