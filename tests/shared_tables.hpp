// Verdicts of many implementations over tables that are made once per cast: the tables are what takes time.
#pragma once

#include <deque>
#include <string>

#include "halfulp/vectors/card.hpp"
#include "halfulp/vectors/judge.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {

/// The right answers of a plan. Plans that differ in nothing but the name of their dialect share them.
inline const Expected& shared_table(const CastPlan& plan, bool every_word) {
  struct Entry {
    bool every_word;
    Expected expected;
  };
  static std::deque<Entry> made;
  for (const Entry& entry : made) {
    const CastPlan& other = entry.expected.plan();
    if (other.from_name == plan.from_name && other.to_name == plan.to_name && other.policy == plan.policy &&
        other.options == plan.options && other.via == plan.via && other.random == plan.random &&
        entry.every_word == every_word)
      return entry.expected;
  }
  return made.emplace_back(Entry{every_word, Expected(plan, every_word)}).expected;
}

struct SharedVerdict {
  CastPlan plan;              ///< that the implementation was judged by
  std::uint64_t checked = 0;  ///< answers
  std::string card;           ///< empty when every answer was right
};

/// What verify() finds out, with a table of its own only for the card of a failure.
inline SharedVerdict shared_verdict(const Implementation& implementation, const std::string& spec, Level level) {
  const VerifyOptions options = {.level = level, .seed = 1, .threads = 0, .progress = {}};
  const Chosen chosen = choose(implementation, parse_cast_spec(spec));
  const Judged judged = judge(shared_table(chosen.plan, level == Level::exhaustive), chosen.kernel, options);
  if (judged.finished() && judged.tally.mismatched == 0 && judged.tally.checked > 0)
    return {chosen.plan, judged.tally.checked, ""};
  return {chosen.plan, judged.tally.checked, verdict_text(verify(implementation, parse_cast_spec(spec), options), false)};
}

}  // namespace halfulp::vectors
