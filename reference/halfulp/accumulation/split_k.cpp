// Split-K: stretches of k summed from zero, then combined; see gemm.hpp.
#include <algorithm>
#include <stdexcept>

#include "halfulp/accumulation/detail/engine_plan.hpp"
#include "halfulp/accumulation/gemm.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/detail/float_modes.hpp"

namespace halfulp::accumulation {
namespace {

/// Columns [first, first + count) of a matrix of `k` entries of `bytes` bytes per row.
std::vector<std::byte> columns_of(std::span<const std::byte> words, std::size_t rows, std::size_t k, std::size_t bytes, std::size_t first,
                                  std::size_t count) {
  std::vector<std::byte> part(rows * count * bytes);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto from = words.subspan((r * k + first) * bytes, count * bytes);
    std::copy(from.begin(), from.end(), part.begin() + static_cast<std::ptrdiff_t>(r * count * bytes));
  }
  return part;
}

std::vector<std::uint32_t> scale_columns_of(const ScaleMatrix& scales, std::size_t blocks, std::size_t first, std::size_t count) {
  std::vector<std::uint32_t> part;
  for (std::size_t at = 0; blocks != 0 && at < scales.words.size(); at += blocks) {
    const auto from = scales.words.subspan(at + first, count);
    part.insert(part.end(), from.begin(), from.end());
  }
  return part;
}

}  // namespace

std::vector<std::uint32_t> split_k_sums(const GemmProblem& problem, std::size_t parts, Combine combine, int threads,
                                        const std::function<void(std::size_t)>& tick) {
  if (parts == 0) throw std::invalid_argument("halfulp: k in no parts");
  const halfulp::detail::DefaultFloatModes modes;
  const MmaSpec& spec = problem.spec;
  const std::size_t k = problem.a.k, block = std::max<std::size_t>(1, static_cast<std::size_t>(scale_block(spec)));
  const std::size_t blocks = scale_block(spec) == 0 ? 0 : (k + block - 1) / block;
  const std::size_t length = ((k + parts - 1) / parts + block - 1) / block * block;
  std::vector<std::vector<std::uint32_t>> sums;
  for (std::size_t first = 0; first < k; first += length) {
    const std::size_t count = std::min(length, k - first);
    const auto a = columns_of(problem.a.words, problem.a.rows, k, static_cast<std::size_t>(spec.a.storage_bytes()), first, count);
    const auto b = columns_of(problem.b.words, problem.b.rows, k, static_cast<std::size_t>(spec.b.storage_bytes()), first, count);
    const std::size_t scales = blocks == 0 ? 0 : (count + block - 1) / block;
    const auto scale_a = scale_columns_of(problem.scale_a, blocks, first / block, scales);
    const auto scale_b = scale_columns_of(problem.scale_b, blocks, first / block, scales);
    sums.push_back(gemm_sums({spec, {a, problem.a.rows, count}, {b, problem.b.rows, count}, {scale_a, problem.scale_a.row_block},
                              {scale_b, problem.scale_b.row_block}, {}},
                             threads, tick));
  }
  const auto add_into = [&spec](std::vector<std::uint32_t>& x, std::span<const std::uint32_t> y, bool y_first) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = y_first ? detail::add_words(spec.output, y[i], x[i]) : detail::add_words(spec.output, x[i], y[i]);
  };
  std::vector<std::uint32_t> d(problem.a.rows * problem.b.rows, 0);
  if (!problem.c.empty()) d.assign(problem.c.begin(), problem.c.end());
  if (combine == Combine::sequential) {
    for (const auto& part : sums) add_into(d, part, false);
    return d;
  }
  for (std::size_t count = sums.size(); count > 1; count = (count + 1) / 2) {
    for (std::size_t i = 0; 2 * i < count; ++i) {
      if (2 * i + 1 < count) add_into(sums[2 * i], sums[2 * i + 1], false);
      if (i != 0) sums[i] = std::move(sums[2 * i]);
    }
  }
  if (!sums.empty()) add_into(d, sums[0], true);
  return d;
}

}  // namespace halfulp::accumulation
