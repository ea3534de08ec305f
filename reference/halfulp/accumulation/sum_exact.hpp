// The exact twin of every accumulation model: integers of any width, one line per step of the definition. Slow on purpose.
//
// Decides: what a model gives. Twin of engine.hpp and of the vector kernels; shares no deciding code with them.
#pragma once

#include <cstdint>

#include "halfulp/accumulation/model.hpp"

namespace halfulp::accumulation {

/// The word of the output format that c + sum(a*b) gives under `spec`. A short last chunk or group is made of absent terms.
/// Throws std::invalid_argument when the spans do not fit: a and b of one length, one scale per begun block where there
/// are scales. No products: c goes through one chunk.
std::uint32_t dot_exact(const MmaSpec& spec, const Row& row);

}  // namespace halfulp::accumulation
