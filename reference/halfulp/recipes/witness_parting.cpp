// The step at which two recipes part: the results that both have, compared in order by what they are.
#include <algorithm>
#include <bit>
#include <cmath>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/witness.hpp"

namespace halfulp::recipes {
namespace {

constexpr FormatSpec kF64 = spec_of("f64");

struct Role {
  const char* name;
  int reg = -1;
  const Step* step = nullptr;
};

const Step* step_of(const QuantRecipe& recipe, int reg) {
  for (const Step& step : recipe.steps) {
    if (reg >= 0 && step.result == reg) return &step;
  }
  return nullptr;
}

/// The register that the element's cast reads.
int before_cast(const QuantRecipe& recipe) {
  const Step* cast = step_of(recipe, recipe.code.reg);
  return cast == nullptr || cast->operands.empty() ? -1 : cast->operands[0];
}

std::vector<Role> roles_of(const QuantRecipe& recipe) {
  std::vector<Role> roles = {{"tensor scale", recipe.tensor_scale.reg}, {"scale", recipe.scale.reg}, {"zero point", recipe.zero.reg},
                             {"element before the cast", before_cast(recipe)}, {"code", recipe.code.reg}};
  for (Role& role : roles) role.step = step_of(recipe, role.reg);
  return roles;
}

/// Every result of a step on the specimen, as binary64: the recipe is cut after it and made to store it.
std::vector<double> results(const QuantRecipe& recipe, const Step& step, const Specimen& specimen) {
  QuantRecipe cut = recipe;
  cut.steps.resize(static_cast<std::size_t>(&step - recipe.steps.data()) + 1);
  cut.tensor_scale.reg = cut.scale.reg = cut.zero.reg = cut.code.reg = cut.keep_reg = -1;
  Step keep;
  keep.op = Op::cast;
  keep.scope = step.scope;
  keep.operands = {step.result};
  keep.target = kF64;
  keep.policy.overflow = Overflow::overflow;
  keep.result = cut.registers++;
  Stored& stored = keep.scope == Scope::tensor ? cut.tensor_scale : keep.scope == Scope::block ? cut.scale : cut.code;
  stored.reg = keep.result;
  stored.format = kF64;
  cut.steps.push_back(keep);
  const Quantized q = quantize(cut, specimen.view(), inputs_of(recipe, specimen));
  std::vector<double> numbers;
  const std::vector<std::uint64_t> one = {q.tensor_scale.value_or(0)};
  for (const std::uint64_t code : keep.scope == Scope::tensor ? one : keep.scope == Scope::block ? q.scales : q.codes) {
    numbers.push_back(std::bit_cast<double>(code));
  }
  return numbers;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

Parting parting_of(const QuantRecipe& a, const QuantRecipe& b, const Specimen& specimen) {
  const std::vector<Role> roles_a = roles_of(a), roles_b = roles_of(b);
  for (std::size_t r = 0; r < roles_a.size(); ++r) {
    const Role &role_a = roles_a[r], &role_b = roles_b[r];
    if (role_a.step == nullptr || role_b.step == nullptr) continue;
    try {
      const std::vector<double> x = results(a, *role_a.step, specimen), y = results(b, *role_b.step, specimen);
      for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (same(x[i], y[i])) continue;
        // G = limit / A beside g = A / limit is the same scale in the other direction.
        if (r == 0 && std::fabs(x[i] * y[i] - 1) < 0x1p-20) continue;
        return {role_a.name, role_a.step->text, role_b.step->text, x[i], y[i]};
      }
      if (x.size() != y.size() && !x.empty() && !y.empty() && !same(x.back(), y.back())) {  // other blocks: the last ones
        return {role_a.name, role_a.step->text, role_b.step->text, x.back(), y.back()};
      }
    } catch (const InputError&) {
      return {role_a.name, role_a.step->text, role_b.step->text, std::nan(""), std::nan("")};
    }
  }
  const RecipeAnswer to_a = answer_of(a, specimen), to_b = answer_of(b, specimen);
  Parting parting{"value", a.value_steps.empty() ? "" : a.value_steps.back().text, b.value_steps.empty() ? "" : b.value_steps.back().text, 0, 0};
  for (std::size_t i = 0; i < std::min(to_a.values.size(), to_b.values.size()); ++i) {
    if (same(to_a.values[i], to_b.values[i])) continue;
    parting.result_a = to_a.values[i];
    parting.result_b = to_b.values[i];
    break;
  }
  return parting;
}

}  // namespace halfulp::recipes
