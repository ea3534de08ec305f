#include "halfulp/attention/probes_maker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "halfulp/accumulation/bounds.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/exp2.hpp"
#include "halfulp/cast.hpp"

namespace halfulp::attention::detail {
namespace {

using accumulation::MmaSpec;

constexpr FormatSpec kF32 = spec_of("f32");

/// The word of the largest code without the sign: a NaN where the format has one in its top binade, else
/// the largest number.
std::uint32_t dead_word(const FormatSpec& format) {
  return format.width >= 32 ? 0x7fffffffu : (std::uint32_t{1} << (format.width - 1)) - 1;
}

float prescale_of(const KernelSpec& spec) {
  return spec.prescale.value_or(1.0f);
}

/// Whether no order of the products can change the sum.
bool is_order_free(const MmaSpec& spec, const std::vector<std::uint32_t>& a,
                   const std::vector<std::uint32_t>& b) {
  using accumulation::Scheme;
  double sum = 0, unit = HUGE_VAL;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double product =
        static_cast<double>(value_of(spec.a, a[i])) * static_cast<double>(value_of(spec.b, b[i]));
    if (!std::isfinite(product)) return false;
    if (product == 0) continue;
    sum += std::fabs(product);
    int exponent;
    const auto fraction =
        static_cast<std::int64_t>(std::ldexp(std::frexp(std::fabs(product), &exponent), 53));
    unit = std::min(
        unit, std::ldexp(1.0, exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(fraction))));
  }
  if (sum == 0) return true;
  if (spec.model.scheme == Scheme::integer) return sum < 0x1p24;  // int32, exact in float32 afterwards
  if (spec.model.scheme != Scheme::fused)
    return sum < 0x1p11 * unit;  // every partial sum fits even float16's significand
  return accumulation::order_free(spec, {a, b, 0, {}, {}}) == accumulation::OrderFree::yes;
}

}  // namespace

Weight weight_below(const KernelSpec& spec, double below) {
  const float t = std::fma(-static_cast<float>(below), 1.0f, spec.offset);
  const float P = exp2_p6(t);
  const float x = spec.prescale ? P * *spec.prescale : P;
  const FormatSpec& format = format_named(spec.p_format);
  const auto code =
      static_cast<std::uint32_t>(cast(kF32, std::bit_cast<std::uint32_t>(x), format, {}).code);
  return {static_cast<double>(P), static_cast<double>(value_of(format, code))};
}

UnitWeight unit_weight(const KernelSpec& spec) {
  const Weight top = weight_below(spec, 0);
  const double whole = top.P * static_cast<double>(prescale_of(spec));
  int exponent;
  const bool power = std::frexp(top.P, &exponent) == 0.5;
  const bool exact = top.code == whole && power && std::frexp(prescale_of(spec), &exponent) == 0.5f;
  // Powers of two sum exactly, which leaves the few roundings at the end; other weights take one per key.
  const double roundings = power ? 0x1p-20 : 0x1p-15;
  return {
      static_cast<float>(top.P), top.code,
      exact ? 0
            : std::ldexp(std::ceil(std::ldexp(std::fabs(top.code - whole) / whole, 30)), -30) + roundings};
}

double telling(std::size_t kv_head, std::size_t token, std::size_t d) {
  const std::size_t pick = token + 3 * d;
  const double magnitude =
      std::ldexp(1 + static_cast<double>(pick % 8) / 8, static_cast<int>(pick / 8 % 4) - 1);
  return (kv_head + d) % 2 == 0 ? magnitude : -magnitude;
}

std::size_t channel_of(const Shape& shape, std::size_t row) {
  return row % shape.head_dim;
}

std::vector<std::size_t> starts(std::size_t count, std::size_t length) {
  constexpr std::size_t kMost = 8;
  const std::size_t whole = (count + length - 1) / length, used = std::min(whole, kMost);
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < used; ++i) list.push_back(used == 1 ? 0 : i * (whole - 1) / (used - 1) * length);
  return list;
}

Maker::Maker(const KernelSpec& spec, const Frame& frame, std::string kind, std::string title,
             std::size_t live)
    : spec_(spec), frame_(frame) {
  probe_.kind = std::move(kind);
  probe_.title = std::move(title);
  Case& c = probe_.input;
  c.shape = frame.shape;
  c.live = live;
  c.q.assign(c.rows() * c.shape.head_dim, 0);
  c.q_scale.assign(c.shape.query_heads, 1);
  c.k_scale.assign(c.shape.kv_heads, 1);
  c.v_scale.assign(c.shape.kv_heads, 1);
  if (frame.sinks) c.sink.assign(c.shape.query_heads, -0x1p13f);
  probe_.output.resize(c.rows() * c.shape.value_dim);
  k_.assign(c.shape.kv_heads * live * c.shape.head_dim, 0);
  v_.assign(c.shape.kv_heads * live * c.shape.value_dim, 0);
}

bool Maker::sees(std::size_t row, std::size_t token) const {
  Shape shape = this->shape();
  shape.keys = live();
  return is_visible(spec_, shape, query_of(row), token);
}

bool Maker::sees_all(std::size_t row) const {
  for (std::size_t token = 0; token < live(); ++token) {
    if (!sees(row, token)) return false;
  }
  return true;
}

void Maker::key(std::size_t token, std::size_t channel, double value) {
  const std::uint32_t word = word_of(format_named(spec_.k_format), value);
  for (std::size_t head = 0; head < shape().kv_heads; ++head)
    k_[(head * live() + token) * shape().head_dim + channel] = word;
}

void Maker::value(std::size_t kv_head, std::size_t token, std::size_t d, double value) {
  constexpr FormatSpec kF64 = spec_of("f64");
  v_[(kv_head * live() + token) * shape().value_dim + d] = static_cast<std::uint32_t>(
      cast(kF64, std::bit_cast<std::uint64_t>(value), format_named(spec_.v_format), {}).code);
}

void Maker::values(const std::function<double(std::size_t, std::size_t, std::size_t)>& of) {
  for (std::size_t head = 0; head < shape().kv_heads; ++head) {
    for (std::size_t token = 0; token < live(); ++token) {
      for (std::size_t d = 0; d < shape().value_dim; ++d) value(head, token, d, of(head, token, d));
    }
  }
}

void Maker::tell_values() {
  const bool narrow = spec_.pv_output == "f16";
  const double gain = narrow ? 0x1p-5 : 1;
  values(
      [&](std::size_t head, std::size_t token, std::size_t d) { return gain * telling(head, token, d); });
  check("a sum P V of all keys at the largest weight, against the largest number of its format",
        unit_weight(spec_).code * 7.5 * gain * static_cast<double>(live()),
        narrow ? 65504 : 0x1.fffffep127);
}

double Maker::value_at(std::size_t kv_head, std::size_t token, std::size_t d) const {
  return static_cast<double>(
      value_of(format_named(spec_.v_format), v_[(kv_head * live() + token) * shape().value_dim + d]));
}

void Maker::query(std::size_t row, std::size_t channel, double value) {
  probe_.input.q[row * shape().head_dim + channel] = word_of(format_named(spec_.q_format), value);
}

void Maker::claim_between(std::size_t row, std::size_t d, double low, double high) {
  const auto scale = static_cast<double>(probe_.input.v_scale[kv_head_of(row)]);
  probe_.output[row * shape().value_dim + d] = {low * scale, high * scale, true};
}

void Maker::claim(std::size_t row, std::size_t d, double value) {
  const double slack = std::fabs(value) * unit_weight(spec_).slack;
  claim_between(row, d, value - slack, value + slack);
}

std::vector<std::uint32_t> Maker::query_words(std::size_t row) const {
  const auto at = probe_.input.q.begin() + static_cast<std::ptrdiff_t>(row * shape().head_dim);
  return {at, at + static_cast<std::ptrdiff_t>(shape().head_dim)};
}

std::vector<std::uint32_t> Maker::key_words(std::size_t kv_head, std::size_t token) const {
  const auto at = k_.begin() + static_cast<std::ptrdiff_t>((kv_head * live() + token) * shape().head_dim);
  return {at, at + static_cast<std::ptrdiff_t>(shape().head_dim)};
}

void Maker::check_scores() {
  const MmaSpec qk = accumulation::make_spec(
      {.model = spec_.qk_model, .format_a = spec_.q_format, .format_b = spec_.k_format});
  double open = 0;
  for (std::size_t row = 0; row < probe_.input.rows(); ++row) {
    for (std::size_t token = 0; token < live(); ++token)
      open += is_order_free(qk, query_words(row), key_words(kv_head_of(row), token)) ? 0 : 1;
  }
  check("score sums that an order, a chunking or a truncation could change", open, 0);
}

void Maker::check_products(const std::function<double(std::size_t, std::size_t)>& below) {
  const MmaSpec pv = accumulation::make_spec({.model = spec_.pv_model,
                                              .format_a = spec_.p_format,
                                              .format_b = spec_.v_format,
                                              .output = spec_.pv_output});
  const FormatSpec& format = format_named(spec_.p_format);
  const auto top = static_cast<double>(unit_weight(spec_).code);
  double open = 0, changed = 0;
  for (std::size_t row = 0; row < probe_.input.rows(); ++row) {
    std::vector<std::uint32_t> codes;
    for (std::size_t token = 0; token < live(); ++token) {
      const double under = below(row, token);
      if (under < 0 || !sees(row, token)) {
        codes.push_back(0);
        continue;
      }
      const double want = std::ldexp(top, -static_cast<int>(under));
      changed += weight_below(spec_, under).code == want ? 0 : 1;
      codes.push_back(word_of(format, weight_below(spec_, under).code));
    }
    for (std::size_t d = 0; d < shape().value_dim; ++d) {
      std::vector<std::uint32_t> column;
      for (std::size_t token = 0; token < live(); ++token)
        column.push_back(v_[(kv_head_of(row) * live() + token) * shape().value_dim + d]);
      open += is_order_free(pv, codes, column) ? 0 : 1;
    }
  }
  if (!spec_.softcap) check("scores that lie elsewhere below the largest one than their weights say", misplaced_scores(below), 0);
  check("weights that the cast of P changes by more than the largest one", changed, 0);
  check("sums P V that an order, a chunking, a promotion or a truncation could change", open, 0);
}

double Maker::misplaced_scores(const std::function<double(std::size_t, std::size_t)>& below) const {
  constexpr double kNothing = 160;  // so far below exp2 is 0 in float32, whatever the offset
  const Case& c = probe_.input;
  const FormatSpec &q_format = format_named(spec_.q_format), &k_format = format_named(spec_.k_format);
  double misplaced = 0;
  for (std::size_t row = 0; row < c.rows(); ++row) {
    const auto claims = std::span(probe_.output).subspan(row * shape().value_dim, shape().value_dim);
    if (std::ranges::none_of(claims, &Claim::made)) continue;
    const std::size_t head = row / shape().queries, kv_head = kv_head_of(row);
    const auto L = static_cast<double>(c.score_scale * c.q_scale[head] * c.k_scale[kv_head]);
    double top = frame_.sinks ? L * static_cast<double>(c.sink[head]) : -HUGE_VAL;
    const std::vector<std::uint32_t> q = query_words(row);
    std::vector<double> scores;
    for (std::size_t token = 0; token < live(); ++token) {
      const std::uint32_t* k = &k_[(kv_head * live() + token) * shape().head_dim];
      double sum = 0;  // exact: few bits in every product
      for (std::size_t channel = 0; channel < shape().head_dim; ++channel) {
        if (q[channel] != 0) sum += static_cast<double>(value_of(q_format, q[channel])) * static_cast<double>(value_of(k_format, k[channel]));
      }
      scores.push_back(L * sum);
      if (sees(row, token)) top = std::max(top, scores.back());
    }
    for (std::size_t token = 0; token < live(); ++token) {
      if (!sees(row, token)) continue;
      const double want = below(row, token), is = top - scores[token];
      misplaced += want < 0 ? is < kNothing : is != want;
    }
  }
  return misplaced;
}

Probe Maker::finish(std::size_t stride) {
  Case& c = probe_.input;
  const Shape& shape = c.shape;
  if (frame_.page_size != 0) {
    c.page_size = frame_.page_size;
    const std::size_t pages = shape.keys / frame_.page_size;
    for (std::size_t page = 0; page < pages; ++page)
      c.page_table.push_back(static_cast<std::uint32_t>((page * stride + 3) % pages));
  }
  const auto place = [&](const std::vector<std::uint32_t>& from, const FormatSpec& format,
                         std::size_t width, std::vector<std::uint32_t>& to) {
    to.assign(shape.kv_heads * shape.keys * width, dead_word(format));
    for (std::size_t head = 0; head < shape.kv_heads; ++head) {
      for (std::size_t token = 0; token < c.live; ++token) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>((head * c.live + token) * width), width,
                    to.begin() + static_cast<std::ptrdiff_t>((head * shape.keys + c.slot(token)) * width));
      }
    }
  };
  place(k_, format_named(spec_.k_format), shape.head_dim, c.k);
  place(v_, format_named(spec_.v_format), shape.value_dim, c.v);
  return std::move(probe_);
}

}  // namespace halfulp::attention::detail
