#include "halfulp/vectors/attention/enclosed.hpp"

#include "halfulp/attention/verdict.hpp"

namespace halfulp::vectors {

ClaimTally judge_enclosed(const AttentionPlan& plan, const attention::Case& c, const AttentionAnswer& answer,
                          unsigned threads) {
  const attention::Case cached = through_cache(plan, {c}).front();
  const attention::Gathered given = attention::gathered(plan.kernel, cached);
  const attention::Judgement judgement =
      attention::judge({.kernel = plan.kernel}, given.problem(), answer.back(), threads);
  const auto count = [&](attention::Verdict verdict) {
    return static_cast<std::uint64_t>(judgement.counts[static_cast<std::size_t>(verdict)]);
  };
  ClaimTally tally;
  tally.violated = count(attention::Verdict::violation);
  tally.enclosed = tally.violated;
  tally.rechecked = judgement.violations.size();
  tally.forced = count(attention::Verdict::forced);
  tally.admissible = count(attention::Verdict::admissible);
  tally.undecided = count(attention::Verdict::undecided);
  if (!judgement.violations.empty()) {
    const attention::Violation& first = judgement.violations.front();
    const FormatSpec& out = attention::format_named(plan.kernel.out);
    tally.first = "random data, row " + std::to_string(first.row) + ", element " +
                  std::to_string(first.dim) + ": " + std::to_string(attention::value_of(out, first.code)) +
                  " is not from " + std::to_string(attention::value_of(out, first.low)) + " to " +
                  std::to_string(attention::value_of(out, first.high));
  }
  return tally;
}

}  // namespace halfulp::vectors
