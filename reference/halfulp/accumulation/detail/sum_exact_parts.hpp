// The parts of the exact twin, one function per scheme. Private to the twin.
#pragma once

#include <cstdint>

#include "halfulp/accumulation/detail/exact_number.hpp"
#include "halfulp/accumulation/model.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::accumulation::exact {

inline constexpr FormatSpec kF32Format = spec_of("f32"), kF16Format = spec_of("f16"), kInt32Format = spec_of("int32");

inline const FormatSpec& output_format(Output output) {
  return output == Output::f32 ? kF32Format : output == Output::f16 ? kF16Format : kInt32Format;
}

/// A block scale of the model. The sign bit of a UE4M3 scale does not count.
Operand scale_of(const MmaSpec& spec, std::uint32_t word);

/// x + y rounded once to nearest even (int32: modulo 2^32).
std::uint32_t ieee_add(Output output, std::uint32_t x, std::uint32_t y);
/// acc + (sA*sB)*partial or acc + (partial*sA)*sB in float32, with or without contraction of the last multiply and the add.
std::uint32_t scaled_add(const MmaSpec& spec, std::uint32_t accumulator, std::uint32_t partial, std::uint32_t scale_a,
                         std::uint32_t scale_b);

// One chunk each: at most spec.model.chunk products, scales from the chunk's first block on.
std::uint32_t fused_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c);
std::uint32_t widened_halves_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c);
std::uint32_t scaled_groups_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c);
std::uint32_t pairwise_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c);
std::uint32_t two_stage_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c);
std::uint32_t integer_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c);
/// The software orders, whole rows.
std::uint32_t software_row(const MmaSpec& spec, const Row& row, std::uint32_t c);

}  // namespace halfulp::accumulation::exact
