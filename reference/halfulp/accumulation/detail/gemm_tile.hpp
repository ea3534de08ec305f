// How gemm cuts its work: a tile is some rows of A times one panel of columns of B. Private to gemm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halfulp/accumulation/detail/engine_plan.hpp"
#include "halfulp/accumulation/detail/fused_kernel.hpp"
#include "halfulp/accumulation/gemm.hpp"

namespace halfulp::accumulation::detail {

/// Which lanes serve a spec; none: the scalar engine.
enum class Lanes : std::uint8_t { none, bits16, bits32 };
Lanes lanes_for(const EnginePlan& plan);

/// A problem with what all its tiles share.
struct GemmRun {
  GemmRun(const GemmProblem& problem, const EnginePlan& plan);

  const GemmProblem& problem;
  const EnginePlan& plan;
  std::size_t a_bytes, b_bytes;  ///< per word
  std::size_t blocks = 0;        ///< scales per row
  Lanes lanes = Lanes::none;

  // Of lanes only: products in the order of the kernels, padded so that every piece is whole chunks.
  struct Piece {
    std::size_t first_chunk, chunks;
  };
  int chunk = 0;
  std::vector<std::int32_t> source;  ///< k of every slot, or -1: absent
  std::vector<Piece> pieces;
  bool from_zero = false;            ///< every piece starts at zero and is promoted

  std::uint32_t a_word(std::size_t row, std::size_t k) const;
  std::uint32_t b_word(std::size_t column, std::size_t k) const;
  const std::uint32_t* scales_of_a(std::size_t row) const;
  const std::uint32_t* scales_of_b(std::size_t column) const;
  std::uint32_t c_of(std::size_t row, std::size_t column) const;
};

/// Rows [row, row_end) times columns [column, column_end), at most kPanel of them, into D (all of it, row after row).
void scalar_tile(const GemmRun& run, std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end, std::uint32_t* d);

/// Everything through the vector kernels; run.lanes says which.
void lanes_gemm(const GemmRun& run, int threads, const std::function<void(std::size_t)>& tick, std::uint32_t* d);

/// Runs task(i) for i below `count` on `threads` threads; throws what a task threw first.
void for_each_task(std::size_t count, int threads, const std::function<void(std::size_t)>& task);

}  // namespace halfulp::accumulation::detail
