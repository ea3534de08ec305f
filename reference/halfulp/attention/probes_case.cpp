#include "halfulp/attention/probes_case.hpp"

#include <bit>
#include <stdexcept>
#include <string>

#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"

namespace halfulp::attention {
namespace {

constexpr FormatSpec kF32 = spec_of("f32"), kF64 = spec_of("f64");

}  // namespace

std::size_t Case::slot(std::size_t token) const {
  return page_size == 0 ? token : page_table[token / page_size] * page_size + token % page_size;
}

const FormatSpec& format_named(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return format.spec;
  }
  throw InputError("format '" + std::string(name.substr(0, 40)) + "'", "unknown", "`halfulp formats` lists the formats");
}

std::uint32_t word_of(const FormatSpec& format, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto code = cast(kF64, bits, format, {}).code;
  if (static_cast<double>(value_of(format, static_cast<std::uint32_t>(code))) != value)
    throw std::logic_error("a probe asks for " + std::to_string(value) + " in a format that does not hold it");
  return static_cast<std::uint32_t>(code);
}

float value_of(const FormatSpec& format, std::uint32_t word) {
  if (format == kF32) return std::bit_cast<float>(word);
  return std::bit_cast<float>(static_cast<std::uint32_t>(cast(format, word, kF32, {.overflow = Overflow::overflow}).code));
}

Gathered gathered(const KernelSpec& spec, const Case& c) {
  Gathered g{c.shape, c.q, {}, {}, {}, {}, c.sink};
  g.shape.keys = c.live;
  const auto gather = [&](const std::vector<std::uint32_t>& from, std::size_t width, std::vector<std::uint32_t>& to) {
    for (std::size_t head = 0; head < c.shape.kv_heads; ++head) {
      for (std::size_t token = 0; token < c.live; ++token) {
        const auto at = from.begin() + static_cast<std::ptrdiff_t>((head * c.shape.keys + c.slot(token)) * width);
        to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(width));
      }
    }
  };
  gather(c.k, c.shape.head_dim, g.k);
  gather(c.v, c.shape.value_dim, g.v);
  const std::size_t group = c.shape.query_heads / c.shape.kv_heads;
  for (std::size_t h = 0; h < c.shape.query_heads; ++h) {
    const float with_q = c.score_scale * c.q_scale[h];
    g.logit_scale.push_back(with_q * c.k_scale[h / group]);
  }
  // A sum of the codes holds the prescale itself.
  const bool divides = spec.prescale && spec.sum_of == SumOf::f32;
  for (const float scale : c.v_scale) g.v_scale.push_back(divides ? scale / *spec.prescale : scale);
  return g;
}

bool is_visible(const KernelSpec& spec, const Shape& shape, std::size_t query, std::size_t key) {
  const auto end = static_cast<std::int64_t>(query + shape.keys) - static_cast<std::int64_t>(shape.queries);
  const auto j = static_cast<std::int64_t>(key);
  if (spec.causal && j > end) return false;
  if (!spec.window) return true;
  return j < spec.visible_prefix || (j >= end - spec.window->before && j <= end + spec.window->after);
}

}  // namespace halfulp::attention
