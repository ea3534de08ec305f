// Rows whose sum no order, chunking or promotion can change, with the proof checked; and error bounds for any order.
//
// Both hold for the NVIDIA fused models (Scheme::fused and scaled_groups), the bounds also for FP8 mma.sync; others throw
// std::invalid_argument. The proof is in docs/accumulation.md, "Order-free rows".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/accumulation/model.hpp"

namespace halfulp::accumulation {

/// What stands in the way of order-freedom.
enum class OrderFree : std::uint8_t {
  yes,
  special,       ///< a NaN or an infinity
  alignment,     ///< a term, maybe a zero, is aligned above 2^F units: smaller terms may be cut
  range,         ///< the sum of magnitudes may pass what one partial result or the alignment holds
  last_place,    ///< the unit lies below the last place of the smallest normal result
  overflow,      ///< the sum of magnitudes may reach the overflow threshold
};
std::string_view name_of(OrderFree verdict);

/// Whether every order of the products, any chunking into at most any number of products, and any promotion interval give
/// the exact sum c + sum(a*b). Conditions, for the largest power of two u that divides every product (every group) and c:
/// every alignment exponent that takes part is at most F + log2 u; u is at least the last place at the smallest normal
/// number; sum |a*b| + |c| is below 2^(F+1) u, 2^(p+1) u for a result of p fraction bits, and the overflow threshold.
OrderFree order_free(const MmaSpec& spec, const Row& row);

/// A row of k products from small integers and zeros that order_free accepts for `spec` (no c, scales of 1 where the model
/// has block scales: 0x7f for e8m0, 0x38 for ue4m3). The same words for the same seed on every machine.
/// Throws std::invalid_argument where the format has no such integers, std::logic_error if the check refuses the row.
struct ProbeRow {
  std::vector<std::uint32_t> a, b, scale_a, scale_b;
  std::int64_t sum = 0;  ///< the exact result
  Row row() const { return {a, b, 0, scale_a, scale_b}; }
};
ProbeRow order_free_row(const MmaSpec& spec, std::size_t k, std::uint64_t seed);

/// An upper bound of |D - (c + sum(a*b))| for any order of the products, chunks of the model's size, the spec's promotion
/// (without scales), when no partial result overflows. Infinity where a term is NaN or Inf.
double error_bound(const MmaSpec& spec, const Row& row);

}  // namespace halfulp::accumulation
