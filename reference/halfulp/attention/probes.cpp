#include "halfulp/attention/probes.hpp"

#include <algorithm>
#include <bit>

#include "halfulp/attention/probes_maker.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"

namespace halfulp::attention {

namespace {

/// Names every key of a shape that is too small for the probes, and what they need.
InputError small_frame(const Shape& have, const Shape& need, std::size_t page_size) {
  const auto pair = [](std::size_t a, std::size_t b) { return std::to_string(a) + ":" + std::to_string(b); };
  std::string small, least;
  const auto key = [&](const std::string& name, bool wrong, const std::string& is, const std::string& wanted) {
    if (!wrong) return;
    small += (small.empty() ? "" : ", ") + name + "=" + is;
    least += (least.empty() ? "" : ",") + name + "=" + wanted;
  };
  key("heads",
      have.query_heads < need.query_heads || have.kv_heads < need.kv_heads || have.query_heads % have.kv_heads != 0,
      pair(have.query_heads, have.kv_heads), pair(need.query_heads, need.kv_heads));
  key("queries", have.queries < need.queries, std::to_string(have.queries), std::to_string(need.queries));
  key("keys", have.keys < need.keys || (page_size != 0 && have.keys % page_size != 0), std::to_string(have.keys),
      std::to_string(page_size == 0 ? need.keys : (need.keys + page_size - 1) / page_size * page_size));
  key("dim", have.head_dim < need.head_dim || have.value_dim < need.value_dim, pair(have.head_dim, have.value_dim),
      pair(need.head_dim, need.value_dim));
  return {"probes of attention", "they do not fit into " + small,
          "write at least " + least + ", or probes=no for random rows alone"};
}

}  // namespace

Shape smallest_frame() {
  return {.query_heads = 4, .kv_heads = 2, .queries = 1, .keys = 320, .head_dim = 8, .value_dim = 4};
}

bool Probe::claims() const {
  if (same_as >= 0 || !scores.empty()) return true;
  for (const Claim& claim : output) {
    if (claim.made) return true;
  }
  return false;
}

Admitted admitted(const FormatSpec& format, const Claim& claim) {
  constexpr FormatSpec kF64 = spec_of("f64");
  const auto round = [&](double value) {
    return static_cast<std::uint32_t>(
        cast(kF64, std::bit_cast<std::uint64_t>(value), format, {.overflow = Overflow::overflow}).code);
  };
  return {round(claim.low), round(claim.high)};
}

bool Admitted::holds(const FormatSpec& format, std::uint32_t word) const {
  const float value = value_of(format, word);
  return value >= value_of(format, low) && value <= value_of(format, high);
}

std::vector<Probe> probes(const KernelSpec& spec, const Frame& frame) {
  const Shape& have = frame.shape;
  const Shape need = smallest_frame();
  if (have.query_heads < need.query_heads || have.kv_heads < need.kv_heads || have.queries < need.queries ||
      have.keys < need.keys || have.head_dim < need.head_dim || have.value_dim < need.value_dim ||
      have.query_heads % have.kv_heads != 0 || (frame.page_size != 0 && have.keys % frame.page_size != 0)) {
    throw small_frame(have, need, frame.page_size);
  }
  std::vector<Probe> list = detail::basic_probes(spec, frame);
  for (auto make : {detail::weight_probes, detail::scale_probes, detail::mask_probes}) {
    for (Probe& probe : make(spec, frame)) list.push_back(std::move(probe));
  }
  std::erase_if(list, [](const Probe& probe) {
    return !std::ranges::all_of(probe.checks, [](const Inequality& line) { return line.holds(); });
  });
  // The permutations of one problem repeat the first of them.
  int first = -1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind != "permutation") continue;
    list[i].same_as = first;
    if (first < 0) first = static_cast<int>(i);
  }
  return list;
}

}  // namespace halfulp::attention
