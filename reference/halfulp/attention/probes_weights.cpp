// Probes of the weights: they sum to one, far keys keep theirs, a late maximum does not saturate, the row
// sum is of the right P.
#include <algorithm>
#include <bit>
#include <cmath>

#include "halfulp/accumulation/bounds.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/probes_maker.hpp"

namespace halfulp::attention::detail {
namespace {

double largest_of(const KernelSpec& spec) {
  // exp2(offset + 64) saturates in every format of 8 bits; wider formats hold every weight.
  return format_named(spec.p_format).width > 8 ? 0x1p15 : weight_below(spec, -64).code;
}

Probe ones_equal(const KernelSpec& spec, const Frame& frame, std::size_t live) {
  Maker maker(spec, frame, "ones_equal", "V = 1, " + std::to_string(live) + " equal scores, V scale 2",
              live);
  maker.values([](std::size_t, std::size_t, std::size_t) { return 1.0; });
  for (float& scale : maker.probe().input.v_scale) scale = 2;
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, 0, 1);
    for (std::size_t d = 0; d < frame.shape.value_dim && maker.sees_all(row); ++d) maker.claim(row, d, 1);
  }
  maker.check_scores();
  maker.check_products([](std::size_t, std::size_t) { return 0.0; });
  maker.probe().proof = "The weights are equal and sum to one exactly; O is the V scale.";
  maker.probe().fails =
      "drops or doubles the V scale, divides by another sum than that of the weights, or keeps O in a "
      "format that 2^16 overflows";
  return maker.finish();
}

Probe ones_any(const KernelSpec& spec, const Frame& frame) {
  const std::size_t live = 16;
  Maker maker(spec, frame, "ones_any", "V = 1, 16 scores of no special form", live);
  maker.values([](std::size_t, std::size_t, std::size_t) { return 1.0; });
  maker.probe().input.score_scale = std::bit_cast<float>(0x3f38aa3bu);
  for (std::size_t token = 0; token < live; ++token) {
    for (std::size_t channel = 0; channel < frame.shape.head_dim; ++channel)
      maker.key(token, channel, -static_cast<double>((token * (2 * channel + 3) + channel) % 9));
  }
  const UnitWeight unit = unit_weight(spec);
  const auto mma = accumulation::make_spec({.model = spec.pv_model,
                                            .format_a = spec.p_format,
                                            .format_b = spec.v_format,
                                            .output = spec.pv_output});
  const std::vector<std::uint32_t> most(live, word_of(format_named(spec.p_format), unit.code)),
      ones(live, word_of(format_named(spec.v_format), 1));
  // Any model whose sums are not bounded here is no less exact than float16 sums of so few terms.
  const double sums = mma.model.scheme == accumulation::Scheme::fused
                          ? accumulation::error_bound(mma, {most, ones, 0, {}, {}})
                          : 0x1p-6 * unit.code;
  const double casts =
      spec.sum_of == SumOf::quantized ? 0 : 0x1p-4 + static_cast<double>(live) * 0x1p-10 / unit.code;
  const double bound = casts + 2 * sums / unit.code + 0x1p-16;
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, channel_of(frame.shape, row), 1);
    for (std::size_t d = 0; d < frame.shape.value_dim && maker.sees_all(row); ++d)
      maker.claim_between(row, d, 1 - bound, 1 + bound);
  }
  maker.check_scores();
  maker.check("the bound stays below what a saturated P leaves, 1 - 0.637", bound, 1 - 0.637);
  maker.probe().proof =
      "Each code is at most 2^-4 (relative) or 2^-10 (below 2^-6) away from its P, whichever running "
      "maximum it was cast under, and l "
      "is at least exp2(offset): |O - 1| is at most the sum of both and the bound of the accumulation.";
  maker.probe().fails = "saturates P, sums other weights than it multiplies";
  return maker.finish();
}

/// Weights 1, 1/2, 1/4, 1/8 and 128 of 2^-10: two in all.
Probe far_keys(const KernelSpec& spec, const Frame& frame) {
  const std::size_t live = 132;
  Maker maker(spec, frame, "far_keys", "128 keys 10 below the maximum, first or last", live);
  const auto below = [&](std::size_t channel, std::size_t token) {
    const std::size_t place = channel % 2 == 0 ? token : live - 1 - token;
    return place < 4 ? static_cast<double>(place) : 10.0;
  };
  for (std::size_t channel = 0; channel < frame.shape.head_dim; ++channel) {
    for (std::size_t token = 0; token < live; ++token) maker.key(token, channel, -below(channel, token));
  }
  maker.values([](std::size_t, std::size_t, std::size_t) { return 1.0; });
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, channel_of(frame.shape, row), 1);
    for (std::size_t d = 0; d < frame.shape.value_dim && maker.sees_all(row); ++d) maker.claim(row, d, 1);
  }
  maker.check_scores();
  maker.check_products([&](std::size_t row, std::size_t token) { return below(channel_of(frame.shape, row), token); });
  maker.probe().rescales = true;
  maker.probe().reach = Reach::this_spec;
  maker.probe().proof =
      "1 + 1/2 + 1/4 + 1/8 + 128 * 2^-10 = 2. With this offset and prescale every weight is a code of P, "
      "so numerator and row sum agree. "
      "Without, 2^-10 ties to zero in the numerator and stays in the row sum: 15/16.";
  maker.probe().fails = "casts P without the offset or prescale";
  return maker.finish();
}

/// Equal tiles of score 0 and, before or behind them, keys g higher that together weigh as much.
Probe late_maximum(const KernelSpec& spec, const Frame& frame, std::size_t g) {
  const std::size_t high = g == 1 ? 96 : g == 2 ? 64 : 32, low = high << g, live = high + low;
  Maker maker(spec, frame, "late_maximum", "keys " + std::to_string(g) + " above the rest, last or first",
              live);
  // Every query of a head has both orders among the gaps, whatever the numbers of queries and channels.
  const auto is_late = [&](std::size_t channel) { return (static_cast<std::size_t>(std::popcount(channel)) + g) % 2 == 0; };
  const auto is_high = [&](std::size_t channel, std::size_t token) {
    return is_late(channel) ? token >= low : token < high;
  };
  for (std::size_t channel = 0; channel < frame.shape.head_dim; ++channel) {
    for (std::size_t token = 0; token < live; ++token)
      maker.key(token, channel, is_high(channel, token) ? static_cast<double>(g) : 0);
  }
  maker.values([&](std::size_t, std::size_t token, std::size_t d) {
    return d % 4 == 0   ? static_cast<double>(is_high(0, token))
           : d % 4 == 1 ? static_cast<double>(is_high(1, token))
           : d % 4 == 2 ? 1.0
                        : static_cast<double>(!is_high(0, token));
  });
  const auto below = [&](std::size_t row, std::size_t token) {
    return is_high(channel_of(frame.shape, row), token) ? 0.0 : static_cast<double>(g);
  };
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, channel_of(frame.shape, row), 1);
    if (!maker.sees_all(row)) continue;
    for (std::size_t d = 0; d < frame.shape.value_dim; ++d) {
      double sum = 0;
      for (std::size_t token = 0; token < live; ++token)
        sum += std::ldexp(maker.value_at(maker.kv_head_of(row), token, d),
                          -static_cast<int>(below(row, token)));
      maker.claim(row, d, sum / static_cast<double>(2 * high));
    }
  }
  maker.check_scores();
  maker.check_products(below);
  maker.check(
      "P of the late keys under the maximum that the spec may keep, against the largest number of its "
      "format",
      spec.threshold && static_cast<float>(g) <= *spec.threshold
          ? std::ldexp(unit_weight(spec).code, static_cast<int>(g))
          : unit_weight(spec).code,
      largest_of(spec));
  maker.probe().rescales = true;
  maker.probe().proof =
      "The high keys weigh as much together as the low ones, a power of two; every rescale factor is a "
      "power of two. Under a stale maximum "
      "P of the high keys would be exp2(offset + g): where that passes the largest number it saturates, "
      "and no legitimate threshold allows it.";
  maker.probe().fails = "keeps a stale maximum, so that P saturates; or rescales l or O wrongly";
  return maker.finish();
}

/// One key of the maximum and 31 whose P all round the same way.
Probe rounded_weights(const KernelSpec& spec, const Frame& frame, int sixteenths, const char* title) {
  const std::size_t live = 32;
  Maker maker(spec, frame, "rounded_weights", title, live);
  maker.probe().input.score_scale = 0x1p-4f;
  const auto is_top = [&](std::size_t row, std::size_t token) {
    return token == (row % 2 == 0 ? 0 : live - 1);
  };
  for (std::size_t channel = 0; channel < frame.shape.head_dim; ++channel) {
    for (std::size_t token = 0; token < live; ++token)
      maker.key(token, channel, is_top(channel, token) ? 0 : -sixteenths);
  }
  maker.values([](std::size_t, std::size_t, std::size_t) { return 1.0; });
  const Weight top = weight_below(spec, 0), other = weight_below(spec, sixteenths / 16.0);
  const double prescale = spec.prescale.value_or(1.0f), codes = top.code + 31 * other.code,
               sums = (top.P + 31 * other.P) * prescale;
  const double value = spec.sum_of == SumOf::quantized ? 1 : codes / sums;
  for (std::size_t row = 0; row < maker.probe().input.rows(); ++row) {
    maker.query(row, channel_of(frame.shape, row), 1);
    for (std::size_t d = 0; d < frame.shape.value_dim && maker.sees_all(row); ++d)
      maker.claim_between(row, d, value * (1 - 0x1p-18), value * (1 + 0x1p-18));
  }
  maker.check_scores();
  maker.check("keys against the tile, so that all meet one maximum", static_cast<double>(live),
              static_cast<double>(spec.tile));
  maker.probe().reach = Reach::these_tiles;
  maker.probe().proof =
      "All keys lie in one tile, so every P is cast under the same maximum. The codes are known, and so is "
      "the sum: of the float32 P, or of "
      "the codes where the spec says so (then O is 1). 33 roundings of 2^-24 and the error of exp2 stay "
      "below 2^-18.";
  maker.probe().fails = "sums the other P into l, or casts P with another rounding";
  return maker.finish();
}

}  // namespace

std::vector<Probe> weight_probes(const KernelSpec& spec, const Frame& frame) {
  std::vector<Probe> list = {ones_equal(spec, frame, 64), ones_equal(spec, frame, 256),
                             ones_any(spec, frame)};
  if (spec.softcap) return list;
  const UnitWeight unit = unit_weight(spec);
  if (weight_below(spec, 10).code == std::ldexp(unit.code, -10)) list.push_back(far_keys(spec, frame));
  for (std::size_t g = 1; g <= 3; ++g) {
    const bool may_saturate = spec.threshold && static_cast<float>(g) <= *spec.threshold &&
                              std::ldexp(unit.code, static_cast<int>(g)) > largest_of(spec);
    if (!may_saturate) list.push_back(late_maximum(spec, frame, g));
  }
  if (spec.tile >= 32) {
    if (format_named(spec.k_format).fraction_bits != 2)  // 15 has four bits
      list.push_back(rounded_weights(spec, frame, 15, "31 keys whose P is cast down"));
    list.push_back(rounded_weights(spec, frame, 14, "31 keys whose P is cast up"));
  }
  return list;
}

}  // namespace halfulp::attention::detail
