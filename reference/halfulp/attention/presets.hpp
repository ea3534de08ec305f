// The registry of kernel families, and how a spec is made from text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "halfulp/attention/kernel_spec.hpp"

namespace halfulp::attention {

/// A named family: the arithmetic order of a kernel, not its bits (docs/attention.md says which cells were read in a source).
struct Preset {
  KernelSpec spec;
  std::string_view source;  ///< kernel and version the order was read in
  std::string_view scales;  ///< how the family makes Q, K and V scales
};
std::span<const Preset> presets();

/// `PRESET[,key=value]...` after `attention:`; keys are the members of KernelSpec (window=before:after, softcap=cap:scale,
/// floats as literals or 0x bits). Throws InputError with the nearest names.
KernelSpec parse_spec(std::string_view text);

/// The text that parse_spec reads as this spec, with every parameter that differs from the preset.
std::string text_of(const KernelSpec& spec);

/// Throws InputError where the parts do not fit: unknown models or formats, tile < 1, split not a multiple of tile,
/// lanes other than 1 and 4, interval without two_level, pv_output f16 without two_level.
void check(const KernelSpec& spec);

}  // namespace halfulp::attention
