// A diagnosis as JSON, in verdicts and by itself.
#pragma once

#include <nlohmann/json.hpp>

#include "halfulp/plan.hpp"
#include "halfulp/vectors/diagnose.hpp"

namespace halfulp::tool {

/// `answers`, `by_spec`, `differences`, `compared`, and `fits` in their order.
nlohmann::ordered_json diagnosis_json(const CastPlan& plan, const vectors::Diagnosis& diagnosis);

}  // namespace halfulp::tool
