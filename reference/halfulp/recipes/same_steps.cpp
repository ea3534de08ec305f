// Compares recipes as data; see same_steps.hpp.
#include "halfulp/recipes/same_steps.hpp"

#include <algorithm>

#include "halfulp/recipes/operations.hpp"

namespace halfulp::recipes {
namespace {

bool same_literal(const std::string& a, const std::string& b) {
  return a == b || (!a.empty() && !b.empty() && literal_value(a) == literal_value(b));
}

bool same(const Step& a, const Step& b) {
  return a.op == b.op && a.precision == b.precision && a.scope == b.scope && a.result == b.result && a.operands == b.operands &&
         a.literal == b.literal && a.ulps == b.ulps && a.target == b.target && a.policy == b.policy;
}

bool same(const std::vector<Step>& a, const std::vector<Step>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Step& x, const Step& y) { return same(x, y); });
}

bool same(const Stored& a, const Stored& b) {
  return a.reg == b.reg && (a.reg < 0 || (a.format == b.format && a.policy == b.policy));
}

bool same(const Input& a, const Input& b) {
  return a.name == b.name && a.per == b.per && a.entries == b.entries && a.reg == b.reg &&
         a.default_literal.empty() == b.default_literal.empty() && same_literal(a.default_literal, b.default_literal);
}

}  // namespace

bool same_steps(const QuantRecipe& a, const QuantRecipe& b) {
  const auto same_input = [](const Input& x, const Input& y) { return same(x, y); };
  return a.granularity == b.granularity && a.rows == b.rows && a.columns == b.columns &&
         a.amax_propagates_nan == b.amax_propagates_nan && same_literal(a.amax_start, b.amax_start) &&
         std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(), same_input) &&
         same(a.transform_steps, b.transform_steps) && same(a.steps, b.steps) && same(a.value_steps, b.value_steps) &&
         same(a.tensor_scale, b.tensor_scale) && same(a.scale, b.scale) && same(a.zero, b.zero) && same(a.code, b.code) &&
         a.given == b.given && a.transform_reg == b.transform_reg && a.value_reg == b.value_reg && a.keep_reg == b.keep_reg &&
         a.x == b.x && a.a == b.a && a.lo == b.lo && a.hi == b.hi && a.A == b.A && a.LO == b.LO && a.HI == b.HI && a.v == b.v;
}

}  // namespace halfulp::recipes
