// The search for witnesses; see witness.hpp.
#include "halfulp/recipes/witness.hpp"

#include <algorithm>
#include <cmath>

#include "halfulp/error.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/quantize_exact.hpp"
#include "halfulp/recipes/witness_blocks.hpp"

namespace halfulp::recipes {
namespace {

bool same_values(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] != b[i] || std::signbit(a[i]) != std::signbit(b[i])) return false;
  }
  return true;
}

bool parts(const Stored& a, const std::vector<std::uint64_t>& codes_a, const Stored& b, const std::vector<std::uint64_t>& codes_b) {
  return a.reg >= 0 && b.reg >= 0 && a.format_name == b.format_name && codes_a.size() == codes_b.size() && codes_a != codes_b;
}

}  // namespace

Inputs inputs_of(const QuantRecipe& recipe, const Specimen& specimen) {
  Inputs inputs;
  for (const Input& input : recipe.inputs) {
    const auto given = specimen.inputs.find(input.name);
    if (given != specimen.inputs.end()) inputs.insert(*given);
  }
  if (specimen.tensor_amax && recipe.A >= 0) inputs[kTensorAmax] = {*specimen.tensor_amax};
  return inputs;
}

RecipeAnswer answer_of(const QuantRecipe& recipe, const Specimen& specimen) {
  RecipeAnswer answer;
  const Inputs inputs = inputs_of(recipe, specimen);
  try {
    answer.quantized = quantize(recipe, specimen.view(), inputs);
    answer.values = dequantize(recipe, answer.quantized, inputs);
  } catch (const InputError& error) {
    answer.refused = error.what();
  }
  return answer;
}

bool answers_differ(const QuantRecipe& a, const RecipeAnswer& to_a, const QuantRecipe& b, const RecipeAnswer& to_b) {
  if (!to_a.refused.empty() || !to_b.refused.empty()) return to_a.refused.empty() != to_b.refused.empty();
  return parts(a.scale, to_a.quantized.scales, b.scale, to_b.quantized.scales) ||
         parts(a.zero, to_a.quantized.zeros, b.zero, to_b.quantized.zeros) ||
         parts(a.code, to_a.quantized.codes, b.code, to_b.quantized.codes) || !same_values(to_a.values, to_b.values);
}

int triviality(const Specimen& specimen) {
  const auto& x = specimen.values;
  if (!std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); })) return 1;
  return std::all_of(x.begin(), x.end(), [](double v) { return v == 0; }) ? 2 : 0;
}

WitnessSearch find_witness(const QuantRecipe& a, const QuantRecipe& b, const WitnessOptions& options) {
  WitnessSearch search;
  WitnessBlocks blocks(a, b);
  constexpr std::uint64_t kRefusedEnough = 500;  // with none that both take, numbers alone will not change it
  std::uint64_t tried = 0, taken = 0;
  std::optional<std::pair<WitnessKind, Specimen>> refused;  // the first that only one of them takes
  const auto settle = [&](WitnessKind kind, const Specimen& specimen) {
    Witness witness;
    witness.kind = kind;
    witness.specimen = shrunk(a, b, specimen);
    witness.a = answer_of(a, witness.specimen);
    witness.b = answer_of(b, witness.specimen);
    witness.parting = parting_of(a, b, witness.specimen);
    search.witness = std::move(witness);
  };
  /// True when the search is over.
  const auto finds = [&](WitnessKind kind, const Specimen& specimen) {
    if (tried == options.limit) return true;
    ++tried;
    ++search.tried[static_cast<std::size_t>(kind)];
    const RecipeAnswer to_a = answer_of(a, specimen), to_b = answer_of(b, specimen);
    if (!any_refused(to_a, to_b)) ++taken;
    if (!answers_differ(a, to_a, b, to_b)) return false;
    if (any_refused(to_a, to_b)) {
      if (!refused) refused.emplace(kind, specimen);
      return false;
    }
    settle(kind, specimen);
    return true;
  };
  const auto finds_any = [&](WitnessKind kind, const std::vector<Specimen>& all) {
    for (const Specimen& specimen : all) {
      if (finds(kind, specimen)) return true;
    }
    return false;
  };
  const auto wanted = [&](WitnessKind kind, bool option) { return options.only ? *options.only == kind : option; };
  const std::pair<WitnessKind, std::vector<Specimen>> last[] = {
      {WitnessKind::documented, wanted(WitnessKind::documented, options.documented) ? blocks.documented() : std::vector<Specimen>()},
      {WitnessKind::extreme, wanted(WitnessKind::extreme, options.simple) ? blocks.extreme() : std::vector<Specimen>()},
      {WitnessKind::non_finite, wanted(WitnessKind::non_finite, options.simple) ? blocks.non_finite() : std::vector<Specimen>()},
      {WitnessKind::zeros, wanted(WitnessKind::zeros, options.simple) ? blocks.zeros() : std::vector<Specimen>()}};
  std::uint64_t kept_back = 0;  // of the limit, for the last kinds
  for (const auto& [kind, all] : last) kept_back += all.size();
  const auto search_all = [&] {
    if (wanted(WitnessKind::simple, options.simple) && finds_any(WitnessKind::simple, blocks.simple())) return;
    const bool thresholds = wanted(WitnessKind::threshold, options.thresholds), powers = wanted(WitnessKind::power, options.thresholds),
               random = wanted(WitnessKind::random, true);
    for (std::uint64_t i = 0; (thresholds || powers || random) && i < options.most && tried + kept_back < options.limit; ++i) {
      if (taken == 0 && tried >= kRefusedEnough) break;
      if (thresholds && finds(WitnessKind::threshold, blocks.threshold())) return;
      const bool now = i % 4 == 3 || !thresholds;
      if (powers && now && finds(WitnessKind::power, blocks.power())) return;
      if (random && now && finds(WitnessKind::random, blocks.random())) return;
    }
    for (const auto& [kind, all] : last) {
      if (finds_any(kind, all)) return;
    }
  };
  search_all();
  if (!search.witness && refused) settle(refused->first, refused->second);
  return search;
}

}  // namespace halfulp::recipes
