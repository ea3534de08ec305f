#include "halfulp/vectors/attention/rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "halfulp/attention/kernel.hpp"
#include "halfulp/error.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/random.hpp"

namespace halfulp::vectors {
namespace {

using attention::Case;
using attention::Shape;
using blocks::Random;

constexpr std::size_t kKiviGroup = 32;

/// Words of N(0, 1) numbers times `gain`, rounded into the format.
void fill_normal(std::vector<std::uint32_t>& words, const FormatSpec& format, double gain, Random& random) {
  for (std::uint32_t& word : words)
    word = static_cast<std::uint32_t>(blocks::code_of(format, gain * random.normal()));
}

/// Channels of K differ in size and V has both signs; scales are no powers of two; some slots are dead.
Case random_case(const AttentionPlan& plan, std::size_t index, Random& random) {
  Case c = plan.empty_case();
  const Shape& s = c.shape;
  const FormatSpec q = attention::format_named(plan.kernel.q_format),
                   k = attention::format_named(plan.kernel.k_format),
                   v = attention::format_named(plan.kernel.v_format);
  const bool integers = q.encoding == Encoding::twos_complement;
  fill_normal(c.q, q, integers ? 40 : 1, random);
  fill_normal(c.k, k, integers ? 40 : 1, random);
  fill_normal(c.v, v, 1, random);
  c.live = index == 0 ? s.keys
                      : std::max<std::size_t>(1, s.keys - static_cast<std::size_t>(random.below(
                                                              std::max<std::size_t>(1, s.keys / 3))));
  c.score_scale = static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(s.head_dim)) /
                                     (integers ? 400 : 1));
  for (auto* scales : {&c.q_scale, &c.k_scale, &c.v_scale}) {
    for (float& scale : *scales) scale = static_cast<float>(0.5 + 1.5 * random.uniform());
  }
  if (plan.kernel.softcap) {  // whose scale holds the softmax scale and those of Q and K
    c.score_scale = static_cast<float>(1.4426950408889634);
    for (auto* scales : {&c.q_scale, &c.k_scale}) std::ranges::fill(*scales, 1.0f);
  }
  for (float& sink : c.sink) sink = static_cast<float>(random.normal());
  for (std::size_t i = 0; i < c.page_table.size(); ++i) c.page_table[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = c.page_table.size(); i > 1; --i)
    std::swap(c.page_table[i - 1], c.page_table[random.below(i)]);
  return c;
}

/// One channel of a head over the tokens of all `parts`, each quantized and read back where whole groups of
/// 32 reach.
struct Column {
  std::vector<std::uint32_t*> words;
};
void quantize_column(const Column& column, const FormatSpec& format) {
  const recipes::QuantRecipe& recipe = recipes::named_recipe("kivi/k");
  const std::size_t whole = column.words.size() / kKiviGroup * kKiviGroup;
  std::vector<double> values;
  for (std::size_t i = 0; i < whole; ++i)
    values.push_back(static_cast<double>(attention::value_of(format, *column.words[i])));
  // A group of equal keys has a step of 0, which the recipe refuses: its keys are kept as they are.
  for (std::size_t first = 0; first < whole; first += kKiviGroup) {
    const std::span<const double> group = std::span(values).subspan(first, kKiviGroup);
    if (std::ranges::all_of(group, [&](double x) { return x == group[0]; })) continue;
    const std::vector<double> back = recipes::dequantize(
        recipe, recipes::quantize(recipe, {static_cast<std::int64_t>(kKiviGroup), 1, group}));
    for (std::size_t i = 0; i < kKiviGroup; ++i)
      *column.words[first + i] = static_cast<std::uint32_t>(blocks::code_of(format, back[i]));
  }
}

/// Room for every offset and prescale in use: a largest weight whose code is within 2^-11 of it, weights
/// down to 2^-9.
void widen(attention::Probe& probe) {
  const double casts = probe.kind == "ones_any" ? 0x1p-6 : 0;
  for (attention::Claim& claim : probe.output) {
    const double room = 0x1p-10 * std::max(std::fabs(claim.low), std::fabs(claim.high)) + casts;
    claim.low -= room;
    claim.high += room;
  }
}

}  // namespace

AttentionRows attention_rows(const AttentionPlan& plan, Level level, std::uint64_t seed) {
  if (level != Level::specials && level != Level::stratified)
    throw InputError("level " + std::string(name_of(level)), "attention has none of that name",
                     "use specials (the probes) or stratified (random rows, too)");
  AttentionRows rows;
  if (plan.probes) {
    rows.probes = plan.cache == AttentionCache::kivi_k ? attention::kivi_probes(plan.kernel, plan.frame)
                                                       : attention::probes(plan.kernel, plan.frame);
    for (attention::Probe& probe : rows.probes) {
      if (plan.anything) widen(probe);
      rows.cases.push_back(probe.input);
    }
  }
  Random random(seed);
  for (std::size_t i = 0; i < plan.random_rows && level == Level::stratified; ++i)
    rows.cases.push_back(random_case(plan, i, random));
  if (rows.cases.empty())
    throw InputError("SPEC " + spec_text(plan), "no row is left at this level",
                     "leave out probes=no, or use --level stratified");
  return rows;
}

std::vector<Case> normal_cases(const AttentionPlan& plan, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<Case> cases;
  for (std::size_t i = 0; i < count; ++i) {
    Case c = random_case(plan, i, random);
    // The usual set-up: no padding, one scale of 1 for everything that is scaled.
    c.live = c.shape.keys;
    for (auto* scales : {&c.q_scale, &c.k_scale, &c.v_scale}) std::ranges::fill(*scales, 1.0f);
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<Case> through_cache(const AttentionPlan& plan, std::vector<Case> cases, bool across) {
  if (plan.cache != AttentionCache::kivi_k) return cases;
  const FormatSpec& format = attention::format_named(plan.kernel.k_format);
  const Shape& s = plan.frame.shape;
  for (std::size_t head = 0; head < s.kv_heads; ++head) {
    for (std::size_t channel = 0; channel < s.head_dim; ++channel) {
      Column column;
      for (Case& c : cases) {
        for (std::size_t token = 0; token < c.live; ++token)
          column.words.push_back(&c.k[(head * s.keys + c.slot(token)) * s.head_dim + channel]);
        if (across) continue;
        quantize_column(column, format);
        column.words.clear();
      }
      quantize_column(column, format);
    }
  }
  return cases;
}

std::vector<attention::Stages> reference_answers(const AttentionPlan& plan, const std::vector<Case>& cases,
                                                 unsigned threads) {
  std::vector<attention::Stages> answers;
  for (const Case& c : through_cache(plan, cases)) {
    const attention::Gathered given = attention::gathered(plan.kernel, c);
    answers.push_back(attention::run(plan.kernel, given.problem(),
                                     plan.stages ? attention::Keep::all : attention::Keep::output,
                                     threads));
  }
  return answers;
}

}  // namespace halfulp::vectors
