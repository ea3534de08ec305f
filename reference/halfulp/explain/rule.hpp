// rule_text(): the one sentence that says why a cast gives what it gives.
#pragma once

#include <string>

#include "halfulp/formats.hpp"
#include "halfulp/oracle/value.hpp"
#include "halfulp/policy.hpp"

namespace halfulp::explain {

/// The rule that decided, with the section of the standard. `x` is the number that was rounded, `result` its cast under
/// `random_word` (stochastic rounding only).
std::string rule_text(const oracle::Value& x, const Format& to, const CastPolicy& policy, const CastResult& result,
                      std::uint64_t random_word = 0);

}  // namespace halfulp::explain
