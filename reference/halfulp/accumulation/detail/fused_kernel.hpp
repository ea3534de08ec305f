// The vector kernels of gemm behind run-time dispatch, and how their operands are packed. Private to gemm.
//
// Both kernels take one row of A and a panel of kPanel columns of B through a stretch of chunks, and both leave to the
// caller, lane by lane, what they do not do: NaN, Inf, tiny and huge c, results below the smallest normal number.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halfulp::accumulation::detail {

inline constexpr std::size_t kPanel = 16;  ///< columns of B side by side

/// Exponent of an absent term in 16-bit lanes: two of them do not overflow, and no shift brings such a term back.
inline constexpr std::int16_t kAbsentLane = -8000;

/// Constants of a run.
struct LaneConstants {
  int chunk;              ///< products, even
  int fraction_bits;      ///< F
  int f32_fraction_bits;  ///< of the result
  int floor;              ///< of the largest exponent
  int zero_exponent;      ///< of c
};

/// A row of A: for each product exponent, lifted magnitude, sign (0, or 0xfffe in 16-bit lanes, -1 in 32-bit lanes).
template <class Lane>
struct PackedRow {
  const Lane *exponent, *magnitude, *sign;
};
/// A panel of B. 16-bit lanes: [k / 2][column][k % 2], sign 1 or -1; 32-bit lanes: [k][column], sign 0 or -1.
template <class Lane>
struct PackedPanel {
  const Lane *exponent, *magnitude, *sign;
};

/// Called for lanes that the kernel leaves: must replace results[lane] for every set bit of `lanes`, given c before the chunk
/// in c[lane]. `chunk` counts from the start of the stretch, `row`
/// from the first of the rows.
struct SlowLanes {
  void* context;
  void (*run)(void* context, std::size_t chunk, std::size_t row, std::uint32_t lanes, const float* c, float* results);
};

/// Rows that run_lanes16 takes together, to fill the pipelines; it also takes one.
inline constexpr std::size_t kRowsTogether = 2;

/// F = 13, operands of at most 8 bits whose lifted products stay below 2^15: 16-bit lanes. `sums` holds kPanel floats for each
/// row: c before, D after. `extra_lift` is the number of bits by which magnitudes of A are lifted beyond F - places.
void run_lanes16(const LaneConstants& constants, std::size_t chunks, const PackedRow<std::int16_t>* rows, std::size_t row_count,
                 const PackedPanel<std::int16_t>& panel, float* sums, const SlowLanes& slow);
/// Bits by which run_lanes16 wants products lifted beyond F - places at the level in use: 0 or 1.
int lanes16_extra_lift();

/// F <= 25: 32-bit lanes; lifted magnitudes below 2^15 on either side, lifted products below 2^(F+2). `scale`: for every chunk
/// kPanel exponents that are added to those of the products; null for none.
void run_lanes32(const LaneConstants& constants, std::size_t chunks, const PackedRow<std::int32_t>& row,
                 const PackedPanel<std::int32_t>& panel, const std::int32_t* scale, float* sums, const SlowLanes& slow);

/// False where the level in use has no vectors.
bool has_lanes();

}  // namespace halfulp::accumulation::detail
