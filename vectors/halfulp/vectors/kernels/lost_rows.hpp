// Rows that a kernel has no answer for although it can go on behind them, as a library after a crash.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

/// Thrown instead of KernelFailure when the rows behind the lost ones may be asked for.
struct LostRows : KernelFailure {
  LostRows(const std::string& why, Trouble kind, std::uint64_t rows_answered, std::uint64_t rows_lost)
      : KernelFailure(why, kind, rows_answered), lost(rows_lost) {}
  std::uint64_t lost;  ///< rows of the job, behind the answered ones
};

/// What going_on() has seen.
struct Losses {
  std::uint64_t rows = 0;
  std::vector<KernelFinding> findings;
};

/// A kernel that goes on behind lost rows. `fill` puts the right answers of a job, so that they are not judged; who
/// counts rows subtracts `losses.rows`. Both must outlive the kernel.
RowKernel going_on(RowKernel kernel, std::function<void(const RowJob&)> fill, Losses& losses);

}  // namespace halfulp::vectors
