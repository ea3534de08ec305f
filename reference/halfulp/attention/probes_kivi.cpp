// Probes of a cache that quantizes keys in groups: the sequences of a batch in rows of very different size.
#include <cmath>

#include "halfulp/attention/probes_maker.hpp"

namespace halfulp::attention {

std::vector<Probe> kivi_probes(const KernelSpec& spec, const Frame& frame) {
  using detail::Maker;
  // Lengths that are no multiple of a group of 32, so that a group that runs on meets the next sequence.
  constexpr std::size_t kLengths[] = {50, 45, 77, 33, 64, 96};
  constexpr double kDepths[] = {96, 3072, 96, 6144, 192, 96};
  std::vector<Probe> list;
  for (std::size_t i = 0; i < std::size(kLengths); ++i) {
    const std::size_t live = kLengths[i];
    Maker maker(spec, frame, "kivi_groups", "a sequence of " + std::to_string(live) + " tokens, keys 0 or -" + std::to_string(static_cast<int>(kDepths[i])), live);
    const auto hot_key = [&](std::size_t channel) { return channel % 2 == 0 ? live - 1 - channel : channel; };
    for (std::size_t channel = 0; channel < frame.shape.head_dim; ++channel) {
      for (std::size_t token = 0; token < live; ++token) maker.key(token, channel, token == hot_key(channel) ? 0 : -kDepths[i]);
    }
    maker.tell_values();
    for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
      const std::size_t channel = detail::channel_of(frame.shape, row);
      maker.query(row, channel, 2);
      if (!maker.sees(row, hot_key(channel))) continue;
      for (std::size_t d = 0; d < frame.shape.value_dim; ++d)
        maker.claim(row, d, maker.value_at(maker.kv_head_of(row), hot_key(channel), d));
    }
    maker.check_scores();
    maker.check("gap that makes every other weight 0, below the gap given", 160, 2 * kDepths[i]);
    maker.check("distance of the step of a group, a third of its range, from a multiple of 32", std::fabs(std::remainder(kDepths[i] / 3, 32)), 0);
    maker.check_products([&](std::size_t row, std::size_t token) { return token == hot_key(detail::channel_of(frame.shape, row)) ? 0.0 : -1.0; });
    maker.probe().proof =
        "The keys of a group are its minimum or its maximum, 2 bits and a step of a third of the range, exact in float16: they read back as they "
        "were, and tokens behind the last whole group stay exact. One hot key: O is its V row. A group that runs on into the next sequence has "
        "a step larger than the gap, and the hot key is lost.";
    maker.probe().fails = "forms groups across sequences, or along the other axis";
    list.push_back(maker.finish());
  }
  std::erase_if(list, [](const Probe& probe) {
    for (const Inequality& line : probe.checks) {
      if (!line.holds()) return true;
    }
    return false;
  });
  return list;
}

}  // namespace halfulp::attention
