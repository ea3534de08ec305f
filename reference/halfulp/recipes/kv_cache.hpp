// KIVI's cache as it grows: which tokens are quantized, which stay exact.
//
// Keys: a buffer of exact tokens; when it holds `residual` of them, all are quantized at once, so the last
// n mod residual tokens are exact. Values: a sliding window; each token that leaves it is quantized alone,
// so the last min(n, residual) are exact. A prefill of any length ends in the same state as its tokens one
// by one. Groups of keys run along the tokens of one sequence and channel, groups of values along the
// channels of one token; neither crosses sequences.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

struct KiviSettings {
  std::string element = "uint2";
  int group = 32;      ///< tokens of a key group, channels of a value group
  int residual = 128;  ///< R, a multiple of `group`
  std::int64_t channels = 128;
};

/// One head's keys and values of several sequences.
class KiviCache {
 public:
  /// Throws InputError when the residual or the channels are not a multiple of the group.
  explicit KiviCache(const KiviSettings& settings, std::size_t sequences = 1);

  /// Adds one token or many, row-major tokens x channels. Throws InputError for anything but whole tokens,
  /// as many keys as values.
  void append(std::size_t sequence, std::span<const double> keys, std::span<const double> values);

  std::int64_t tokens(std::size_t sequence) const { return sequences_.at(sequence).tokens; }
  /// How many of the last tokens are exact.
  std::int64_t exact_keys(std::size_t sequence) const {
    return tokens_in(sequences_.at(sequence).keys.window);
  }
  std::int64_t exact_values(std::size_t sequence) const {
    return tokens_in(sequences_.at(sequence).values.window);
  }

  /// The quantized tokens, as kivi/k and kivi/v quantize that prefix in one go.
  const Quantized& quantized_keys(std::size_t sequence) const {
    return sequences_.at(sequence).keys.quantized;
  }
  const Quantized& quantized_values(std::size_t sequence) const {
    return sequences_.at(sequence).values.quantized;
  }

  /// Every token as it reads back: dequantized, then exact.
  std::vector<double> keys(std::size_t sequence) const {
    return read(key_recipe_, sequences_.at(sequence).keys);
  }
  std::vector<double> values(std::size_t sequence) const {
    return read(value_recipe_, sequences_.at(sequence).values);
  }

 private:
  struct Half {
    Quantized quantized;
    std::vector<double> window;  ///< exact tokens
  };
  struct Sequence {
    std::int64_t tokens = 0;
    Half keys, values;
  };

  std::int64_t tokens_in(const std::vector<double>& rows) const {
    return static_cast<std::int64_t>(rows.size()) / settings_.channels;
  }
  void quantize_first(const QuantRecipe& recipe, Half& half, std::int64_t tokens) const;
  std::vector<double> read(const QuantRecipe& recipe, const Half& half) const;

  KiviSettings settings_;
  QuantRecipe key_recipe_, value_recipe_;
  std::vector<Sequence> sequences_;
};

/// The mean of every column, summed exactly and rounded once to `format`: what Sage subtracts from K.
std::vector<double> column_means(const TensorView& tensor, const FormatSpec& format);

}  // namespace halfulp::recipes
