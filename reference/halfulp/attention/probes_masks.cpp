// Probes of what a row sees: edges of masks, sinks; and of the soft cap.
#include <algorithm>
#include <cmath>

#include "halfulp/attention/probes_maker.hpp"

namespace halfulp::attention::detail {
namespace {

struct Edge {
  std::size_t inside, outside;
};

/// Neighbours of which the row sees one.
std::vector<Edge> edges_of(const Maker& maker, std::size_t row) {
  std::vector<Edge> edges;
  for (std::size_t token = 0; token + 1 < maker.live(); ++token) {
    const bool here = maker.sees(row, token), next = maker.sees(row, token + 1);
    if (here != next) edges.push_back(here ? Edge{token, token + 1} : Edge{token + 1, token});
  }
  return edges;
}

/// For the rows from `first` on that have a channel each.
Probe mask_edges(const KernelSpec& spec, const Frame& frame, std::size_t live, std::size_t turn, std::size_t first) {
  Maker maker(spec, frame, "mask_edges",
              std::to_string(live) + " keys, edges from number " + std::to_string(turn) +
                  (first == 0 ? "" : ", rows from " + std::to_string(first)),
              live);
  std::vector<std::size_t> hot(maker.probe().input.rows(), live);
  maker.tell_values();
  std::vector<float>& v_scale = maker.probe().input.v_scale;
  for (std::size_t head = 0; head < v_scale.size(); ++head) v_scale[head] = head % 2 == 0 ? 4.0f : 0.5f;
  for (std::size_t row = first; row < std::min(hot.size(), first + frame.shape.head_dim); ++row) {
    const std::size_t channel = channel_of(frame.shape, row);
    const std::vector<Edge> edges = edges_of(maker, row);
    for (std::size_t token = 0; token < live; ++token) maker.key(token, channel, -96);
    maker.query(row, channel, 2);
    Edge edge{live, live};
    if (!edges.empty()) {
      edge = edges[(turn + row / frame.shape.queries) % edges.size()];
    } else if (maker.sees(row, live - 1)) {
      edge.inside = live - 1;
    }
    if (edge.inside == live) continue;
    hot[row] = edge.inside;
    maker.key(edge.inside, channel, 0);
    if (edge.outside < live) maker.key(edge.outside, channel, 96);
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d)
      maker.claim(row, d, maker.value_at(maker.kv_head_of(row), edge.inside, d));
  }
  maker.check_scores();
  maker.check_products([&](std::size_t row, std::size_t token) { return token == hot[row] ? 0.0 : -1.0; });
  maker.probe().proof =
      "The last key inside the mask is 192 above all others that the row sees, so O is its V row; the "
      "first key outside is 192 higher still, "
      "so a kernel that sees it returns that one's. V scales are powers of two.";
  maker.probe().fails = "moves an edge of the mask, aligns it at the wrong corner, or drops a V scale";
  return maker.finish();
}

Probe sink_witness(const KernelSpec& spec, const Frame& frame) {
  const std::size_t live = 8;
  Maker maker(spec, frame, "sink", "a sink that weighs as much as all keys, or nothing", live);
  for (std::size_t h = 0; h < frame.shape.query_heads; ++h)
    maker.probe().input.sink[h] = h % 2 == 0 ? 3.0f : -256.0f;
  maker.values([](std::size_t head, std::size_t token, std::size_t d) {
    return static_cast<double>((token * (d + 1) + head) % 4);
  });
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, 0, 1);
    if (!maker.sees_all(row)) continue;
    const bool sinks = row / frame.shape.queries % 2 == 0;
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d) {
      double sum = 0;
      for (std::size_t token = 0; token < live; ++token)
        sum += maker.value_at(maker.kv_head_of(row), token, d);
      maker.claim(row, d, sum / (sinks ? 16 : 8));
    }
  }
  maker.check_scores();
  maker.check("a prescale that the sum of the codes holds and the weight of the sink does not",
              spec.sum_of == SumOf::quantized ? spec.prescale.value_or(1) : 1, 1);
  maker.check_products(
      [&](std::size_t row, std::size_t) { return row / frame.shape.queries % 2 == 0 ? 3.0 : 0.0; });
  maker.probe().proof =
      "Eight keys of score 0 and a sink of 3: the sink takes half of the row sum and adds nothing to O. A "
      "sink 256 below weighs 0.";
  maker.probe().fails = "ignores the sink, or takes that of another head";
  return maker.finish();
}

/// Scores far beyond the cap on one side: all become the cap.
Probe capped(const KernelSpec& spec, const Frame& frame, double sign) {
  const std::size_t live = 16;
  Maker maker(spec, frame, "soft_cap",
              sign > 0 ? "scores far above the cap" : "scores far below minus the cap", live);
  maker.probe().input.score_scale = 0x1p-5f;
  const std::size_t channels = frame.shape.head_dim;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t token = 0; token < live; ++token)
      maker.key(token, channel, sign * (token % 2 == 0 ? 96 : 112));
  }
  maker.values([](std::size_t head, std::size_t token, std::size_t d) {
    return static_cast<double>((token * (d + 3) + head) % 5) - 2;
  });
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    for (std::size_t channel = 0; channel < channels; ++channel) maker.query(row, channel, 112);
    if (!maker.sees_all(row)) continue;
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d) {
      double sum = 0;
      for (std::size_t token = 0; token < live; ++token)
        sum += maker.value_at(maker.kv_head_of(row), token, d);
      maker.claim(row, d, sum / static_cast<double>(live));
    }
  }
  maker.check_scores();
  maker.check("an argument from which on tanh is 1 in float32, against the smallest one here", 10,
              112.0 * 96 * static_cast<double>(channels) * static_cast<double>(spec.softcap->scale));
  maker.check_products([](std::size_t, std::size_t) { return 0.0; });
  maker.probe().proof =
      "tanh of at least 10 is 1 in float32, of both signs: all capped scores are equal, and O is the mean "
      "of V.";
  maker.probe().fails = "forms tanh as a ratio of exponentials, which overflow, or leaves the cap out";
  return maker.finish();
}

}  // namespace

std::vector<Probe> mask_probes(const KernelSpec& spec, const Frame& frame) {
  std::vector<Probe> list;
  if ((spec.causal || spec.window) && !spec.softcap) {
    for (const std::size_t live : {std::size_t{300}, std::size_t{129}, frame.shape.queries}) {
      for (const std::size_t first : starts(frame.shape.query_heads * frame.shape.queries, frame.shape.head_dim)) {
        list.push_back(mask_edges(spec, frame, live, 0, first));
        if (spec.window) list.push_back(mask_edges(spec, frame, live, 1, first));
      }
    }
  }
  if (frame.sinks) list.push_back(sink_witness(spec, frame));
  if (spec.softcap &&
      112.0 * 96 * static_cast<double>(frame.shape.head_dim) * static_cast<double>(spec.softcap->scale) >=
          10) {
    list.push_back(capped(spec, frame, 1));
    list.push_back(capped(spec, frame, -1));
  }
  return list;
}

}  // namespace halfulp::attention::detail
