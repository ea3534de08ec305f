// The step at which two recipes part: what they store, compared in the order of the steps.
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "halfulp/formats.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/witness.hpp"

namespace halfulp::recipes {
namespace {

constexpr FormatSpec kF64 = spec_of("f64");

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

/// The statements that lead to a register, in order. Stored results end the way: what they lead to is looked at first.
std::vector<std::string> statements_to(const QuantRecipe& recipe, int reg) {
  std::set<int> wanted = {reg};
  std::vector<std::string> texts;
  for (std::size_t i = recipe.steps.size(); i-- > 0;) {
    const Step& step = recipe.steps[i];
    if (!wanted.contains(step.result)) continue;
    const bool stored = step.result == recipe.tensor_scale.reg || step.result == recipe.scale.reg || step.result == recipe.zero.reg;
    if (stored && step.result != reg) continue;
    wanted.insert(step.operands.begin(), step.operands.end());
    if (std::find(texts.begin(), texts.end(), step.text) == texts.end()) texts.insert(texts.begin(), step.text);
  }
  return texts;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

/// Both sides' statements without those that both have; all of a side's where nothing else is left of it.
void name_steps(std::vector<std::string> a, std::vector<std::string> b, Parting& parting) {
  const auto without = [](const std::vector<std::string>& from, const std::vector<std::string>& other) {
    std::vector<std::string> left;
    for (const std::string& text : from) {
      if (std::find(other.begin(), other.end(), text) == other.end()) left.push_back(text);
    }
    return left;
  };
  const std::vector<std::string> only_a = without(a, b), only_b = without(b, a);
  parting.step_a = joined(only_a.empty() ? a : only_a);
  parting.step_b = joined(only_b.empty() ? b : only_b);
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

struct Found {
  std::size_t element;
  Parting parting;
};

/// A cast that one recipe refuses.
Parting refusal(const QuantRecipe& a, const RecipeAnswer& to_a, const QuantRecipe& b, const RecipeAnswer& to_b) {
  const auto result = [](const RecipeAnswer& answer) { return answer.refused.empty() && !answer.values.empty() ? answer.values[0] : std::nan(""); };
  Parting parting{"code", {}, {}, result(to_a), result(to_b)};
  name_steps(statements_to(a, a.code.reg), statements_to(b, b.code.reg), parting);
  return parting;
}

}  // namespace

Parting parting_of(const QuantRecipe& a, const QuantRecipe& b, const Specimen& specimen) {
  const RecipeAnswer to_a = answer_of(a, specimen), to_b = answer_of(b, specimen);
  if (!to_a.refused.empty() || !to_b.refused.empty()) return refusal(a, to_a, b, to_b);
  const TensorView view = specimen.view();
  const Blocks blocks_a = blocks_of(a, view.rows, view.columns), blocks_b = blocks_of(b, view.rows, view.columns);
  const auto place = [](const Blocks& blocks, const Step& step, std::size_t i) {
    return step.scope == Scope::tensor ? 0 : step.scope == Scope::block ? block_of(blocks, i) : i;
  };
  /// Where the results of two registers differ first, in the order of the elements.
  const auto first_difference = [&](const char* role, int reg_a, int reg_b, std::size_t first, std::size_t last) -> std::optional<Found> {
    const Step *step_a = step_of(a, reg_a), *step_b = step_of(b, reg_b);
    if (step_a == nullptr || step_b == nullptr) return std::nullopt;
    const std::vector<double> x = results(a, *step_a, specimen), y = results(b, *step_b, specimen);
    for (std::size_t i = first; i < last; ++i) {
      const double p = x[place(blocks_a, *step_a, i)], q = y[place(blocks_b, *step_b, i)];
      if (same(p, q)) continue;
      // G = limit / A beside g = A / limit is the same scale in the other direction.
      if (reg_a == a.tensor_scale.reg && std::fabs(p * q - 1) < 0x1p-20) return std::nullopt;
      Found found{i, {role, {}, {}, p, q}};
      name_steps(statements_to(a, reg_a), statements_to(b, reg_b), found.parting);
      return found;
    }
    return std::nullopt;
  };
  const std::size_t elements = specimen.values.size();
  const std::tuple<const char*, int, int> stored[] = {{"tensor scale", a.tensor_scale.reg, b.tensor_scale.reg},
                                                      {"scale", a.scale.reg, b.scale.reg},
                                                      {"zero point", a.zero.reg, b.zero.reg}};
  for (const auto& [role, reg_a, reg_b] : stored) {
    if (const auto found = first_difference(role, reg_a, reg_b, 0, elements)) return found->parting;
  }
  if (const auto found = first_difference("code", a.code.reg, b.code.reg, 0, elements)) {
    const auto before = first_difference("element before the cast", before_cast(a), before_cast(b), found->element, found->element + 1);
    return before ? before->parting : found->parting;
  }
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
