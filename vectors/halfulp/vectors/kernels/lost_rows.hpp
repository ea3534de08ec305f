// Rows that a kernel has no answer for although it can go on behind them, as a library after a crash, or
// one that leaves rows unwritten.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

/// Some rows of a job.
struct RowGap {
  std::uint64_t first = 0;  ///< counted from the job's first
  std::uint64_t rows = 0;
};

/// Thrown instead of KernelFailure when the rows behind the lost ones may be asked for.
struct LostRows : KernelFailure {
  /// `why` is empty where the kernel's own `finish` says it.
  LostRows(const std::string& why, Trouble kind, std::uint64_t rows_settled, std::vector<RowGap> rows_lost)
      : KernelFailure(why, kind, rows_lost.front().first),
        settled(rows_settled),
        gaps(std::move(rows_lost)) {}
  std::uint64_t settled;     ///< rows of the job that are answered or lost
  std::vector<RowGap> gaps;  ///< the lost ones, ascending; at least one
};

/// What going_on() has seen.
struct Losses {
  std::uint64_t rows = 0;
  std::vector<KernelFinding> findings;
};

/// A kernel that goes on behind lost rows. `fill` puts the right answers of a job, so that they are not
/// judged; who counts rows subtracts `losses.rows`. Both must outlive the kernel.
RowKernel going_on(RowKernel kernel, std::function<void(const RowJob&)> fill, Losses& losses);

}  // namespace halfulp::vectors
