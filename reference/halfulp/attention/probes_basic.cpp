// Probes of addressing and exact scores: one key, one-hot, equal scores, integer scores, permutations, an empty cache.
#include <bit>
#include <cmath>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/probes_maker.hpp"

namespace halfulp::attention::detail {
namespace {

/// splitmix64: the same numbers on every machine.
struct Numbers {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// An integer in [-bound, bound].
  double integer(int bound) { return static_cast<double>(next() % (2 * static_cast<std::uint64_t>(bound) + 1)) - bound; }
};

Probe one_key(const KernelSpec& spec, const Frame& frame) {
  Maker maker(spec, frame, "one_key", "one live token, a V row of its own per KV head", 1);
  for (std::size_t channel = 0; channel < frame.shape.head_dim; ++channel) maker.key(0, channel, 1);
  maker.values([](std::size_t head, std::size_t, std::size_t d) { return telling(head, 4 * head + 1, d); });
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, channel_of(frame.shape, row), 3);
    if (!maker.sees_all(row)) continue;
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d) maker.claim(row, d, maker.value_at(maker.kv_head_of(row), 0, d));
  }
  maker.check_scores();
  maker.check_products([](std::size_t, std::size_t) { return 0.0; });
  maker.probe().proof = "P is exp2(offset) and so is the row sum: their ratio is 1 and O is the V row of the KV head, query head div group.";
  maker.probe().fails = "reads dead slots, takes the wrong KV head (mod instead of div), a wrong stride of V, or loses a V scale";
  return maker.finish();
}

Probe one_hot(const KernelSpec& spec, const Frame& frame, double hot, std::size_t live) {
  Maker maker(spec, frame, "one_hot", "hot score " + std::to_string(static_cast<int>(2 * hot)) + ", every row another key", live);
  const std::size_t places[] = {live - 1, 0, 63, 64, 127, 128, live - 2, 200};
  const std::size_t channels = frame.shape.head_dim;
  const auto hot_key = [&](std::size_t channel) { return places[channel % 8]; };
  for (std::size_t channel = 0; channel < channels; ++channel) {
    for (std::size_t token = 0; token < live; ++token) maker.key(token, channel, token == hot_key(channel) ? hot : -96);
  }
  maker.tell_values();
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    const std::size_t channel = channel_of(frame.shape, row);
    maker.query(row, channel, 2);
    if (!maker.sees(row, hot_key(channel))) continue;
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d)
      maker.claim(row, d, maker.value_at(maker.kv_head_of(row), hot_key(channel), d));
  }
  maker.check_scores();
  maker.check("gap that makes every other weight and every rescale factor 0, below the gap given", 160, 2 * (hot + 96));
  maker.check_products([&](std::size_t row, std::size_t token) { return token == hot_key(channel_of(frame.shape, row)) ? 0.0 : -1.0; });
  maker.probe().proof =
      "The other scores lie at least 160 (log2) lower: below 2^-150 exp2 is 0 in float32, so their P is 0, and what earlier tiles "
      "left in l and O is multiplied by a rescale factor of 0. The hot weight is exp2(offset), and so is l.";
  maker.probe().fails = "combines parts or tiles without rescaling, reads another key or page, or masks the hot key";
  return maker.finish();
}

Probe equal_scores(const KernelSpec& spec, const Frame& frame, std::size_t live, double score, float v_scale) {
  Maker maker(spec, frame, "equal_scores", std::to_string(live) + " keys of score " + std::to_string(static_cast<int>(score)), live);
  for (std::size_t channel = 0; channel < frame.shape.head_dim; ++channel) {
    for (std::size_t token = 0; token < live; ++token) maker.key(token, channel, score);
  }
  maker.values([](std::size_t head, std::size_t token, std::size_t d) { return static_cast<double>((token * (d + 3) + head + token / 8) % 5) - 2; });
  for (float& scale : maker.probe().input.v_scale) scale = v_scale;
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, channel_of(frame.shape, row), 1);
    if (!maker.sees_all(row)) continue;
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d) {
      double sum = 0;
      for (std::size_t token = 0; token < live; ++token) sum += maker.value_at(maker.kv_head_of(row), token, d);
      maker.claim(row, d, sum / static_cast<double>(live));
    }
  }
  maker.check_scores();
  maker.check_products([](std::size_t, std::size_t) { return 0.0; });
  maker.probe().proof =
      "All weights equal exp2(offset) under every running maximum, their sum is that times a power of two, and the sums P V are exact "
      "in every order: dividing only shifts. O is the mean of V, times the V scale, a power of two.";
  maker.probe().fails = "reads dead slots, drops or doubles a V scale, loses a lane or a part, or saturates P";
  return maker.finish();
}

Probe integer_scores(const KernelSpec& spec, const Frame& frame) {
  const std::size_t live = 67;
  Maker maker(spec, frame, "integer_scores", "Q and K from -3 to 3", live);
  Numbers numbers{11};
  const std::size_t dim = frame.shape.head_dim;
  std::vector<double> q, k;
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    for (std::size_t channel = 0; channel < dim; ++channel) maker.query(row, channel, q.emplace_back(numbers.integer(3)));
  }
  for (std::size_t token = 0; token < live; ++token) {
    for (std::size_t channel = 0; channel < dim; ++channel) maker.key(token, channel, k.emplace_back(numbers.integer(3)));
  }
  maker.values(telling);
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    for (std::size_t token = 0; token < live; ++token) {
      double sum = 0;
      for (std::size_t channel = 0; channel < dim; ++channel) sum += q[row * dim + channel] * k[token * dim + channel];
      maker.probe().scores.push_back(maker.sees(row, token) ? static_cast<float>(sum) : 0);
    }
  }
  maker.check_scores();
  maker.probe().proof = "Sums of small integers: no alignment cuts a bit of them. Stage S is forced.";
  maker.probe().fails = "computes a score from other channels, or rounds it through a narrower format";
  return maker.finish();
}

Probe no_keys(const KernelSpec& spec, const Frame& frame) {
  Maker maker(spec, frame, "no_keys", "no live token", 0);
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, 0, 1);
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d) maker.claim(row, d, 0);
  }
  maker.probe().reach = Reach::this_spec;
  maker.probe().proof = "By definition: with no visible key l is 0, its inverse counts as 0, and O is 0.";
  maker.probe().fails = "divides by zero, or reads dead slots";
  return maker.finish();
}

/// Random codes; the second of a pair permutes what cannot matter.
Probe random_data(const KernelSpec& spec, const Frame& frame, std::size_t rotation, std::size_t stride, const char* title) {
  const std::size_t live = 50, dim = frame.shape.head_dim;
  Maker maker(spec, frame, "permutation", title, live);
  Numbers numbers{23};
  maker.probe().input.score_scale = std::bit_cast<float>(0x3e38aa3bu);
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    for (std::size_t channel = 0; channel < dim; ++channel) maker.query(row, (channel + rotation) % dim, numbers.integer(8));
  }
  for (std::size_t token = 0; token < live; ++token) {
    for (std::size_t channel = 0; channel < dim; ++channel) maker.key(token, (channel + rotation) % dim, numbers.integer(8));
  }
  maker.values([&](std::size_t, std::size_t, std::size_t) { return numbers.integer(8); });
  maker.check_scores();
  maker.probe().proof =
      "Channels of one chunk that keep their class modulo 4 enter one fused sum, which is symmetric; pages are only addresses.";
  maker.probe().fails = "ignores the page table, or pairs channels of Q and K wrongly";
  return maker.finish(stride);
}

bool sums_are_symmetric(const KernelSpec& spec) {
  using accumulation::Scheme;
  const Scheme scheme = accumulation::find_model(spec.qk_model).scheme;
  return scheme == Scheme::fused || scheme == Scheme::integer || scheme == Scheme::exact || scheme == Scheme::widened_halves;
}

}  // namespace

std::vector<Probe> basic_probes(const KernelSpec& spec, const Frame& frame) {
  // Under a soft cap a score of 0 stays 0; others are known to the bit only far beyond the cap (probes_masks.cpp).
  const bool raw = !spec.softcap;
  std::vector<Probe> list = {one_key(spec, frame), integer_scores(spec, frame), no_keys(spec, frame)};
  if (raw) {
    list.push_back(one_hot(spec, frame, 0, 300));
    list.push_back(one_hot(spec, frame, 64, 300));
  }
  list.push_back(equal_scores(spec, frame, 2, 0, 1));
  list.push_back(equal_scores(spec, frame, 32, raw ? 5 : 0, 0.25f));
  list.push_back(equal_scores(spec, frame, 256, raw ? -6 : 0, 8));
  const bool symmetric = sums_are_symmetric(spec) && frame.shape.head_dim % 4 == 0 && frame.shape.head_dim <= 16;
  if (!symmetric && frame.page_size == 0) return list;
  list.push_back(random_data(spec, frame, 0, 7, "random data"));
  if (symmetric) list.push_back(random_data(spec, frame, 4, 7, "the same with channels rotated by 4"));
  if (frame.page_size != 0) list.push_back(random_data(spec, frame, 0, 11, "the same in other pages"));
  return list;
}

}  // namespace halfulp::attention::detail
