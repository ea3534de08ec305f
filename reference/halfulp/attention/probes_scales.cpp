// Probes of the scales: distinct powers of two per head name the scale that was used.
#include "halfulp/attention/probes_maker.hpp"

namespace halfulp::attention::detail {
namespace {

constexpr float kQ[] = {0.25f, 1, 0.5f, 2}, kK[] = {0.5f, 1}, kV[] = {4, 0.5f};

/// One key of score 0 and 16 that lie 4 (log2) lower under the scales of their head: the weights are 1 and 16/16.
Probe scale_witness(const KernelSpec& spec, const Frame& frame, float score_scale, float k_gain) {
  const std::size_t live = 17;
  Maker maker(spec, frame, "scale_witness", "score scale " + std::to_string(score_scale) + ", K scales times " + std::to_string(k_gain), live);
  Case& c = maker.probe().input;
  c.score_scale = score_scale;
  for (std::size_t h = 0; h < c.q_scale.size(); ++h) c.q_scale[h] = kQ[h % 4] / score_scale;
  for (std::size_t h = 0; h < c.k_scale.size(); ++h) {
    c.k_scale[h] = kK[h % 2] * k_gain;
    c.v_scale[h] = kV[h % 2];
  }
  const std::size_t group = c.shape.query_heads / c.shape.kv_heads;
  for (std::size_t row = 0; row < c.rows(); ++row) {
    const std::size_t head = row / c.shape.queries, channel = head % c.shape.head_dim;
    const auto L = static_cast<double>(c.score_scale * c.q_scale[head] * c.k_scale[head / group]);
    for (std::size_t token = 1; token < live; ++token) maker.key(token, channel, -4 / L);
    maker.query(row, channel, 1);
  }
  maker.values([](std::size_t head, std::size_t token, std::size_t d) { return d % 4 == 0 ? 1.0 : token != 0 ? 0.0 : telling(head, 2, d); });
  for (std::size_t row = 0; row < c.rows(); ++row) {
    if (!maker.sees_all(row)) continue;
    for (std::size_t d = 0; d < c.shape.value_dim; ++d) maker.claim(row, d, d % 4 == 0 ? 1.0 : maker.value_at(maker.kv_head_of(row), 0, d) / 2);
  }
  maker.check_scores();
  maker.check_products([](std::size_t, std::size_t token) { return token == 0 ? 0.0 : 4.0; });
  maker.probe().proof =
      "With the right logit scale of the head, score scale * q scale * k scale, 16 keys weigh 2^-4 each and the row sum is two weights of the "
      "first key. Any other power of two gives another O, for each head another: 1/(1 + 16 * 2^-4r) at r times the scale.";
  maker.probe().fails = "drops, doubles or swaps a scale, or uses that of another head";
  return maker.finish();
}

}  // namespace

std::vector<Probe> scale_probes(const KernelSpec& spec, const Frame& frame) {
  if (spec.softcap) return {};
  return {scale_witness(spec, frame, 1, 1), scale_witness(spec, frame, 0.5f, 1), scale_witness(spec, frame, 1, 2)};
}

}  // namespace halfulp::attention::detail
