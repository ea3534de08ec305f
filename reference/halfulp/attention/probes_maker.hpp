// What the generators of probes share: a frame filled token by token, claims with their slack, checks of
// exactness.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "halfulp/attention/probes.hpp"

namespace halfulp::attention::detail {

/// What one visible key of the largest score contributes: its float32 weight and the code that multiplies
/// V.
struct UnitWeight {
  float weight;  ///< exp2_p6(offset)
  double code;   ///< decoded, before the prescale is divided out again
  double slack;  ///< how far code / (weight * prescale) is from 1, and what rounding adds; 0: every step is
                 ///< exact
};
UnitWeight unit_weight(const KernelSpec& spec);

/// The decoded P code and the float32 P of a key `below` (log2) under the maximum.
struct Weight {
  double P, code;
};
Weight weight_below(const KernelSpec& spec, double below);

/// Fills one probe. Tokens are logical; finish() puts them where the page table says.
class Maker {
 public:
  Maker(const KernelSpec& spec, const Frame& frame, std::string kind, std::string title, std::size_t live);

  Probe& probe() { return probe_; }
  const Shape& shape() const { return probe_.input.shape; }
  std::size_t live() const { return probe_.input.live; }
  std::size_t kv_head_of(std::size_t row) const {
    return row / shape().queries / (shape().query_heads / shape().kv_heads);
  }
  std::size_t query_of(std::size_t row) const { return row % shape().queries; }
  bool sees(std::size_t row, std::size_t token) const;
  bool sees_all(std::size_t row) const;

  /// Channel `channel` of token's key, in all KV heads.
  void key(std::size_t token, std::size_t channel, double value);
  /// The nearest value that the format of V holds; value_at() says which.
  void value(std::size_t kv_head, std::size_t token, std::size_t d, double value);
  /// Every V from a function of (KV head, token, d).
  void values(const std::function<double(std::size_t, std::size_t, std::size_t)>& of);
  /// V of telling(); smaller where P V has the range of float16. Adds the check that no partial sum
  /// overflows.
  void tell_values();
  void query(std::size_t row, std::size_t channel, double value);
  double value_at(std::size_t kv_head, std::size_t token, std::size_t d) const;

  /// Claims that O of the row is `value` (times the V scale of its head), widened by the slack of the spec.
  void claim(std::size_t row, std::size_t d, double value);
  void claim_between(std::size_t row, std::size_t d, double low, double high);
  void check(std::string text, double left, double right) {
    probe_.checks.push_back({std::move(text), left, right});
  }

  /// Adds: no order of the products can change a score.
  void check_scores();
  /// Adds: nor P V for weights 2^-below(row, token) of the largest; negative: a weight of 0. And, of the rows with a claim, that the scores
  /// lie so far below the largest one.
  void check_products(const std::function<double(std::size_t, std::size_t)>& below);

  /// `stride`: another one permutes the pages in another way.
  Probe finish(std::size_t stride = 7);

 private:
  /// Scores of rows with a claim that are not `below` the row's largest one, or, for a negative one, not out of reach.
  double misplaced_scores(const std::function<double(std::size_t, std::size_t)>& below) const;
  std::vector<std::uint32_t> query_words(std::size_t row) const;
  std::vector<std::uint32_t> key_words(std::size_t kv_head, std::size_t token) const;

  const KernelSpec& spec_;
  Frame frame_;
  Probe probe_;
  std::vector<std::uint32_t> k_, v_;  ///< by logical token
};

/// A value that tells token, channel and KV head apart, exact in every float format with 3 fraction bits.
double telling(std::size_t kv_head, std::size_t token, std::size_t d);

/// Rows of queries of a frame: channel of row r. Rows that share one must ask the same of the keys there.
std::size_t channel_of(const Shape& shape, std::size_t row);

/// Where stretches of `length` begin that cover `count` rows or heads; eight at most, evenly spread where more would be needed.
std::vector<std::size_t> starts(std::size_t count, std::size_t length);

std::vector<Probe> basic_probes(const KernelSpec& spec, const Frame& frame);
std::vector<Probe> weight_probes(const KernelSpec& spec, const Frame& frame);
std::vector<Probe> scale_probes(const KernelSpec& spec, const Frame& frame);
std::vector<Probe> mask_probes(const KernelSpec& spec, const Frame& frame);

}  // namespace halfulp::attention::detail
