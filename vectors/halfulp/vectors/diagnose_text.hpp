// A diagnosis as lines, the same for `verify`, its reports and `diagnose`.
#pragma once

#include <string>
#include <vector>

#include "halfulp/plan.hpp"
#include "halfulp/vectors/diagnose.hpp"

namespace halfulp::vectors {

/// Share of the differences that is explained (`all`, `97.3 %`), and by what. Lines with an empty share go
/// on with the line before.
struct DiagnosisLine {
  std::string share;
  std::string text;
};

/// `what would explain it (…)`.
std::string diagnosis_title(const Diagnosis& diagnosis);

std::vector<DiagnosisLine> diagnosis_lines(const CastPlan& plan, const Diagnosis& diagnosis);

}  // namespace halfulp::vectors
