// Streaming KIVI cache; see kv_cache.hpp.
#include "halfulp/recipes/kv_cache.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "halfulp/error.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/oracle/nearest.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/quantize.hpp"

namespace halfulp::recipes {

KiviCache::KiviCache(const KiviSettings& settings, std::size_t sequences)
    : settings_(settings),
      key_recipe_(
          with_granularity(named_recipe("kivi/k", settings.element), Granularity::tile, settings.group, 1)),
      value_recipe_(with_granularity(named_recipe("kivi/v", settings.element), Granularity::group, 1,
                                     settings.group)),
      sequences_(sequences) {
  if (settings.group < 1 || settings.residual < 1 || settings.channels < 1 ||
      settings.residual % settings.group != 0) {
    throw InputError("KIVI cache", "the residual is not a multiple of the group",
                     "take a residual of whole groups");
  }
  if (settings.channels % settings.group != 0) {
    throw InputError("KIVI cache", "the channels are not a multiple of the group",
                     "take a group that divides the head dimension");
  }
  for (Sequence& sequence : sequences_) {
    sequence.keys.quantized.blocks = blocks_of(key_recipe_, 0, settings_.channels);
    sequence.values.quantized.blocks = blocks_of(value_recipe_, 0, settings_.channels);
  }
}

void KiviCache::append(std::size_t sequence, std::span<const double> keys, std::span<const double> values) {
  const auto channels = static_cast<std::size_t>(settings_.channels);
  if (sequence >= sequences_.size()) throw InputError("KIVI cache", "no such sequence", "count from 0");
  if (keys.size() != values.size() || keys.size() % channels != 0) {
    throw InputError("KIVI cache", "not whole tokens, as many keys as values",
                     "append tokens x channels of each");
  }
  Sequence& s = sequences_[sequence];
  s.keys.window.insert(s.keys.window.end(), keys.begin(), keys.end());
  s.values.window.insert(s.values.window.end(), values.begin(), values.end());
  s.tokens += static_cast<std::int64_t>(keys.size() / channels);
  quantize_first(key_recipe_, s.keys, tokens_in(s.keys.window) / settings_.residual * settings_.residual);
  quantize_first(value_recipe_, s.values, tokens_in(s.values.window) - settings_.residual);
}

void KiviCache::quantize_first(const QuantRecipe& recipe, Half& half, std::int64_t tokens) const {
  if (tokens <= 0) return;
  const auto count = static_cast<std::ptrdiff_t>(tokens * settings_.channels);
  const std::vector<double> first(half.window.begin(), half.window.begin() + count);
  half.window.erase(half.window.begin(), half.window.begin() + count);
  const Quantized added = quantize(recipe, {tokens, settings_.channels, first});
  Quantized& all = half.quantized;
  all.blocks.rows += tokens;
  all.scales.insert(all.scales.end(), added.scales.begin(), added.scales.end());
  all.zeros.insert(all.zeros.end(), added.zeros.begin(), added.zeros.end());
  all.codes.insert(all.codes.end(), added.codes.begin(), added.codes.end());
}

std::vector<double> KiviCache::read(const QuantRecipe& recipe, const Half& half) const {
  std::vector<double> all = dequantize(recipe, half.quantized);
  all.insert(all.end(), half.window.begin(), half.window.end());
  return all;
}

std::vector<double> column_means(const TensorView& tensor, const FormatSpec& format) {
  constexpr FormatSpec f64 = spec_of("f64");
  constexpr CastPolicy ieee = {.overflow = Overflow::overflow};
  std::vector<double> means;
  for (std::int64_t column = 0; column < tensor.columns; ++column) {
    oracle::Exact sum;
    double special = 0;  // Inf and NaN add up as IEEE 754 adds them
    for (std::int64_t row = 0; row < tensor.rows; ++row) {
      const double x = tensor.values[static_cast<std::size_t>(row * tensor.columns + column)];
      if (std::isfinite(x))
        sum += oracle::Exact::from_double(x);
      else
        special += x;
    }
    if (special != 0 || tensor.rows == 0) {
      means.push_back(tensor.rows == 0 ? std::numeric_limits<double>::quiet_NaN() : special);
      continue;
    }
    const oracle::Value mean = oracle::value_from(sum / oracle::Exact(tensor.rows));
    const oracle::Value rounded = oracle::value_of(format, oracle::nearest(mean, format, ieee).code);
    means.push_back(std::bit_cast<double>(oracle::nearest(rounded, f64, ieee).code));
  }
  return means;
}

}  // namespace halfulp::recipes
