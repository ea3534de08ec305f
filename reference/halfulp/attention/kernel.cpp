// The reference kernel: rows cut into blocks, stages made ready for them; see kernel.hpp. The steps are in detail/row_block.hpp.
#include "halfulp/attention/kernel.hpp"

#include <algorithm>
#include <thread>

#include "halfulp/accumulation/detail/gemm_tile.hpp"
#include "halfulp/attention/detail/row_block.hpp"

namespace halfulp::attention {

Stages run(const KernelSpec& spec, const Problem& problem, Keep keep, unsigned threads) {
  const detail::KernelPlan plan(spec, problem);
  const Shape& shape = problem.shape;
  Stages stages;
  stages.rows = shape.query_heads * shape.queries;
  stages.keys = shape.keys;
  stages.tiles = plan.tiles;
  stages.lanes = static_cast<std::size_t>(spec.lanes);
  stages.value_dim = shape.value_dim;
  for (auto* per_row : {&stages.L, &stages.row_sum, &stages.m_last}) per_row->resize(stages.rows);
  stages.O.resize(stages.rows * stages.value_dim);
  if (keep == Keep::all) {
    for (auto* per_key : {&stages.S, &stages.t, &stages.P, &stages.P_code}) per_key->resize(stages.rows * stages.keys);
    for (auto* per_tile : {&stages.m, &stages.alpha}) per_tile->resize(stages.rows * stages.tiles);
    stages.l.resize(stages.rows * stages.tiles * stages.lanes);
    stages.O_tile.resize(stages.rows * stages.tiles * stages.value_dim);
  }
  constexpr std::size_t kRows = 64;
  const std::size_t per_head = plan.rows_per_kv_head(), blocks = (per_head + kRows - 1) / kRows;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  accumulation::detail::for_each_task(blocks * shape.kv_heads, static_cast<int>(threads == 0 ? cores : threads), [&](std::size_t i) {
    const std::size_t first = i % blocks * kRows;
    detail::RowBlock(plan, i / blocks * per_head + first, std::min(kRows, per_head - first), keep, stages).run();
  });
  return stages;
}

}  // namespace halfulp::attention
