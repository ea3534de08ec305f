#include "halfulp/attention/probes.hpp"

#include <algorithm>
#include <bit>

#include "halfulp/attention/probes_maker.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/error.hpp"

namespace halfulp::attention {

Shape smallest_frame() { return {.query_heads = 4, .kv_heads = 2, .queries = 2, .keys = 320, .head_dim = 8, .value_dim = 4}; }

bool Probe::claims() const {
  if (same_as >= 0 || !scores.empty()) return true;
  for (const Claim& claim : output) {
    if (claim.made) return true;
  }
  return false;
}

Admitted admitted(const FormatSpec& format, const Claim& claim) {
  constexpr FormatSpec kF64 = spec_of("f64");
  const auto round = [&](double value) { return static_cast<std::uint32_t>(cast(kF64, std::bit_cast<std::uint64_t>(value), format, {.overflow = Overflow::overflow}).code); };
  return {round(claim.low), round(claim.high)};
}

bool Admitted::holds(const FormatSpec& format, std::uint32_t word) const {
  const float value = value_of(format, word);
  return value >= value_of(format, low) && value <= value_of(format, high);
}

std::vector<Probe> probes(const KernelSpec& spec, const Frame& frame) {
  const Shape& have = frame.shape;
  const Shape need = smallest_frame();
  if (have.query_heads < need.query_heads || have.kv_heads < need.kv_heads || have.queries < need.queries || have.keys < need.keys ||
      have.head_dim < need.head_dim || have.value_dim < need.value_dim || have.query_heads % have.kv_heads != 0 ||
      (frame.page_size != 0 && have.keys % frame.page_size != 0)) {
    throw InputError("probes of attention", "the frame does not hold them", "use at least 4 query heads, 2 KV heads, 2 queries, 320 keys in whole pages and dimensions 8 and 4");
  }
  std::vector<Probe> list = detail::basic_probes(spec, frame);
  for (auto make : {detail::weight_probes, detail::scale_probes, detail::mask_probes}) {
    for (Probe& probe : make(spec, frame)) list.push_back(std::move(probe));
  }
  std::erase_if(list, [](const Probe& probe) { return !std::ranges::all_of(probe.checks, [](const Inequality& line) { return line.holds(); }); });
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
