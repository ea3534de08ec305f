// Probes of the scales: distinct powers of two per head name the scale that was used.
#include <algorithm>

#include "halfulp/attention/probes_maker.hpp"

namespace halfulp::attention::detail {
namespace {

constexpr float kQ[] = {0.25f, 1, 0.5f, 2}, kK[] = {0.5f, 1}, kV[] = {4, 0.5f};

/// One key of score 0 and 16 that lie 4 (log2) lower under the scales of their head: the weights are 1 and
/// 16/16. For the query heads from `first` on that have a channel each.
Probe scale_witness(const KernelSpec& spec, const Frame& frame, float score_scale, float k_gain, std::size_t first) {
  const std::size_t live = 17;
  Maker maker(spec, frame, "scale_witness",
              "score scale " + std::to_string(score_scale) + ", K scales times " + std::to_string(k_gain) +
                  (first == 0 ? "" : ", heads from " + std::to_string(first)),
              live);
  Case& c = maker.probe().input;
  c.score_scale = score_scale;
  for (std::size_t h = 0; h < c.q_scale.size(); ++h) c.q_scale[h] = kQ[h % 4] / score_scale;
  for (std::size_t h = 0; h < c.k_scale.size(); ++h) {
    c.k_scale[h] = kK[h % 2] * k_gain;
    c.v_scale[h] = kV[h % 2];
  }
  const std::size_t group = c.shape.query_heads / c.shape.kv_heads, begin = first * c.shape.queries;
  const std::size_t end = std::min(c.rows(), begin + c.shape.head_dim * c.shape.queries);
  for (std::size_t row = begin; row < end; ++row) {
    const std::size_t head = row / c.shape.queries, channel = head % c.shape.head_dim;
    const auto L = static_cast<double>(c.score_scale * c.q_scale[head] * c.k_scale[head / group]);
    for (std::size_t token = 1; token < live; ++token) maker.key(token, channel, -4 / L);
    maker.query(row, channel, 1);
  }
  maker.values([](std::size_t head, std::size_t token, std::size_t d) {
    return d % 4 == 0 ? 1.0 : token != 0 ? 0.0 : telling(head, 2, d);
  });
  for (std::size_t row = begin; row < end; ++row) {
    if (!maker.sees_all(row)) continue;
    for (std::size_t d = 0; d < c.shape.value_dim; ++d)
      maker.claim(row, d, d % 4 == 0 ? 1.0 : maker.value_at(maker.kv_head_of(row), 0, d) / 2);
  }
  maker.check_scores();
  maker.check_products([](std::size_t, std::size_t token) { return token == 0 ? 0.0 : 4.0; });
  maker.probe().rescales = true;
  maker.probe().proof =
      "With the right logit scale of the head, score scale * q scale * k scale, 16 keys weigh 2^-4 each "
      "and the row sum is two weights of the "
      "first key. Any other power of two gives another O, for each head another: 1/(1 + 16 * 2^-4r) at r "
      "times the scale.";
  maker.probe().fails = "drops, doubles or swaps a scale, or uses that of another head";
  return maker.finish();
}

}  // namespace

std::vector<Probe> scale_probes(const KernelSpec& spec, const Frame& frame) {
  if (spec.softcap) return {};
  std::vector<Probe> list;
  for (const std::size_t first : starts(frame.shape.query_heads, frame.shape.head_dim)) {
    for (const auto& [score_scale, k_gain] : {std::pair{1.0f, 1.0f}, {0.5f, 1.0f}, {1.0f, 2.0f}})
      list.push_back(scale_witness(spec, frame, score_scale, k_gain, first));
  }
  return list;
}

}  // namespace halfulp::attention::detail
