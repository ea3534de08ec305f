// AttentionPlan: what `attention:…` names - a kernel of reference/halfulp/attention and the shape of the rows it is judged on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/probes.hpp"

namespace halfulp::vectors {

/// How keys lie in the cache that a row holds.
enum class AttentionCache : std::uint8_t {
  codes,   ///< words of the spec's format
  kivi_k,  ///< float16 keys of a sequence per row, to be quantized as recipe kivi/k: 2 bits, groups of 32 tokens per channel
};

struct AttentionPlan {
  attention::KernelSpec kernel;
  bool order_unknown = false;  ///< `order=unknown`: claims and enclosures are judged, not bits
  bool anything = false;       ///< `attention:any`, too: only claims that hold for every kernel
  attention::Frame frame;
  bool probes = true;          ///< rows with the probes; else random ones only
  bool stages = false;         ///< columns for every stage, not for O alone
  std::size_t random_rows = 4;
  AttentionCache cache = AttentionCache::codes;

  attention::Case empty_case() const;
  std::size_t tiles() const;  ///< of a row whose every slot is live
};

bool is_attention_spec(std::string_view text);

/// `attention:PRESET[,key=value]…`: the keys of a kernel (attention::parse_spec) and those of rows: heads=Q:KV, queries=N,
/// keys=N, dim=D:DV, page=N, sinks=yes, rows=N (random ones), probes=no, stages=yes, cache=kivi_k. order=unknown: no
/// tile, order or split is known. PRESET `any`: nothing is but formats and masks. Throws InputError.
AttentionPlan parse_attention_spec(std::string_view text);

/// What parse_attention_spec() reads as this plan.
std::string spec_text(const AttentionPlan& plan);

}  // namespace halfulp::vectors
