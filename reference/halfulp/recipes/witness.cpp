// The search for witnesses; see witness.hpp.
#include "halfulp/recipes/witness.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "halfulp/error.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/quantize_exact.hpp"
#include "halfulp/recipes/same_steps.hpp"
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

/// Codes of both sides element by element, where both recipes store them in one format.
bool parts(const Stored& a, const Stored& b, std::size_t elements, const auto& code_a, const auto& code_b) {
  if (a.reg < 0 || b.reg < 0 || a.format_name != b.format_name) return false;
  for (std::size_t i = 0; i < elements; ++i) {
    if (code_a(i) != code_b(i)) return true;
  }
  return false;
}

bool stored_alike(const Stored& a, const Stored& b) { return a.reg >= 0 && b.reg >= 0 && a.format_name == b.format_name; }

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

std::size_t block_of(const Blocks& blocks, std::size_t element) {
  const auto index = static_cast<std::int64_t>(element), row = index / blocks.columns, column = index % blocks.columns;
  return static_cast<std::size_t>(row / blocks.block_rows * blocks.across() + column / blocks.block_columns);
}

Difference difference_of(const QuantRecipe& a, const RecipeAnswer& to_a, const QuantRecipe& b, const RecipeAnswer& to_b) {
  if (!to_a.refused.empty() || !to_b.refused.empty())
    return to_a.refused.empty() != to_b.refused.empty() ? Difference::stored : Difference::none;
  const Quantized &x = to_a.quantized, &y = to_b.quantized;
  const std::size_t elements = std::min(x.codes.size(), y.codes.size());
  const auto of_block = [](const Quantized& q, const std::vector<std::uint64_t>& codes) {
    return [&q, &codes](std::size_t i) { return codes[block_of(q.blocks, i)]; };
  };
  const auto of_element = [](const std::vector<std::uint64_t>& codes) { return [&codes](std::size_t i) { return codes[i]; }; };
  if (parts(a.scale, b.scale, elements, of_block(x, x.scales), of_block(y, y.scales)) ||
      parts(a.zero, b.zero, elements, of_block(x, x.zeros), of_block(y, y.zeros)) ||
      parts(a.code, b.code, elements, of_element(x.codes), of_element(y.codes))) {
    return Difference::stored;
  }
  return same_values(to_a.values, to_b.values) ? Difference::none : Difference::values;
}

int triviality(const Specimen& specimen) {
  const auto& x = specimen.values;
  if (!std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); })) return 1;
  return std::all_of(x.begin(), x.end(), [](double v) { return v == 0; }) ? 2 : 0;
}

namespace {

/// A block that only one of the recipes takes: a witness when nothing else is found.
using Refused = std::optional<std::pair<WitnessKind, Specimen>>;
constexpr std::uint64_t kRefusedEnough = 500;  ///< with no block that both take, numbers alone will not change it

void keep(const QuantRecipe& a, const QuantRecipe& b, WitnessKind kind, const Specimen& specimen, WitnessSearch& search) {
  Witness witness;
  witness.kind = kind;
  witness.specimen = shrunk(a, b, specimen);
  witness.a = answer_of(a, witness.specimen);
  witness.b = answer_of(b, witness.specimen);
  witness.parting = parting_of(a, b, witness.specimen);
  search.witness = std::move(witness);
}

void search_blocks(const QuantRecipe& a, const QuantRecipe& b, const WitnessOptions& options, WitnessBlocks blocks,
                   WitnessSearch& search, Refused& refused) {
  const bool comparable = stored_alike(a.scale, b.scale) || stored_alike(a.zero, b.zero) || stored_alike(a.code, b.code);
  std::optional<std::pair<WitnessKind, Specimen>> best;  // other values alone
  std::uint64_t tried = std::accumulate(search.tried.begin(), search.tried.end(), std::uint64_t{0}), refusals = 0, taken = 0;
  // True when the search is over.
  const auto finds = [&](WitnessKind kind, const Specimen& specimen) {
    if (tried == options.limit) return true;
    ++tried;
    ++search.tried[static_cast<std::size_t>(kind)];
    const RecipeAnswer to_a = answer_of(a, specimen), to_b = answer_of(b, specimen);
    const Difference found = difference_of(a, to_a, b, to_b);
    const bool one_refuses = any_refused(to_a, to_b);
    ++(one_refuses ? refusals : taken);
    if (found == Difference::none) return false;
    if (one_refuses) {
      if (!refused) refused.emplace(kind, specimen);
      return false;
    }
    if (found == Difference::stored && (!best || triviality(specimen) <= triviality(best->second))) {
      best.emplace(kind, specimen);
      return true;
    }
    if (best) return false;
    best.emplace(kind, specimen);
    return !comparable;
  };
  const auto finds_any = [&](WitnessKind kind, const std::vector<Specimen>& all) {
    for (const Specimen& specimen : all) {
      if (finds(kind, specimen)) return true;
    }
    return false;
  };
  const auto wanted = [&](WitnessKind kind, bool option) { return options.only ? *options.only == kind : option; };
  const auto listed = [&](WitnessKind kind, bool option, auto make) { return std::pair(kind, wanted(kind, option) ? make() : std::vector<Specimen>()); };
  const std::pair<WitnessKind, std::vector<Specimen>> last[] = {
      listed(WitnessKind::documented, options.documented, [&] { return blocks.documented(); }),
      listed(WitnessKind::extreme, options.simple, [&] { return blocks.extreme(); }),
      listed(WitnessKind::non_finite, options.simple, [&] { return blocks.non_finite(); }),
      listed(WitnessKind::zeros, options.simple, [&] { return blocks.zeros(); })};
  std::uint64_t kept_back = 0;  // of the limit, for the last kinds
  for (const auto& [kind, all] : last) kept_back += all.size();
  const auto search_all = [&] {
    if (wanted(WitnessKind::simple, options.simple) && finds_any(WitnessKind::simple, blocks.simple())) return;
    const bool thresholds = wanted(WitnessKind::threshold, options.thresholds), powers = wanted(WitnessKind::power, options.thresholds),
               random = wanted(WitnessKind::random, true);
    for (std::uint64_t i = 0, since = 0; (thresholds || powers || random) && i < options.most && tried + kept_back < options.limit; ++i) {
      if (best && ++since > WitnessOptions::kMoreForCodes) break;
      if (taken == 0 && refusals >= kRefusedEnough) break;
      if (thresholds && finds(WitnessKind::threshold, blocks.threshold())) return;
      const bool now = i % 4 == 3 || !thresholds;
      if (powers && now && finds(WitnessKind::power, blocks.power())) return;
      if (random && now && finds(WitnessKind::random, blocks.random())) return;
    }
    if (best) return;
    for (const auto& [kind, all] : last) {
      if (finds_any(kind, all)) return;
    }
  };
  search_all();
  if (best) keep(a, b, best->first, best->second, search);
}

}  // namespace

WitnessSearch find_witness(const QuantRecipe& a, const QuantRecipe& b, const WitnessOptions& options) {
  WitnessSearch search;
  Refused refused;
  if (!blocks_differ(a, b)) {
    search_blocks(a, b, options, WitnessBlocks(a, b), search, refused);
  } else {
    WitnessOptions lines = options;
    lines.most = std::min(options.most, WitnessOptions::kMostLines);
    if (!same_steps(with_granularity(a, b.granularity, b.rows, b.columns), b))  // other arithmetic tells more than other blocks
      search_blocks(a, b, lines, WitnessBlocks(a, b), search, refused);
    if (!search.witness) search_blocks(a, b, options, WitnessBlocks(a, b, SpecimenShape::matrix), search, refused);
  }
  if (!search.witness && refused) keep(a, b, refused->first, refused->second, search);
  return search;
}

}  // namespace halfulp::recipes
