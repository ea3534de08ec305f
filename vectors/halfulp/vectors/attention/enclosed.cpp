#include "halfulp/vectors/attention/enclosed.hpp"

#include "halfulp/attention/enclosure.hpp"

namespace halfulp::vectors {

ClaimTally judge_enclosed(const AttentionPlan& plan, const attention::Case& c, const AttentionAnswer& answer) {
  ClaimTally tally;
  const attention::Case cached = through_cache(plan, {c}).front();
  const attention::Gathered given = attention::gathered(plan.kernel, cached);
  const auto bounds = attention::enclose({.kernel = plan.kernel}, given.problem());
  const FormatSpec& out = attention::format_named(plan.kernel.out);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!bounds[i].bounded) {
      ++tally.admissible;
      continue;
    }
    const attention::Admitted admitted = attention::admitted(out, {bounds[i].lo, bounds[i].hi, true});
    if (admitted.holds(out, answer.back()[i])) {
      ++(admitted.forced() ? tally.forced : tally.admissible);
    } else if (tally.violated++ == 0) {
      tally.first = "random row, element " + std::to_string(i) + ": " + std::to_string(attention::value_of(out, answer.back()[i])) + " is not in [" +
                    std::to_string(bounds[i].lo) + ", " + std::to_string(bounds[i].hi) + "]";
    }
  }
  return tally;
}

}  // namespace halfulp::vectors
