// Cuts a gemm into tiles for threads, and runs tiles through the scalar engine; see gemm.hpp. Vectors: gemm_lanes.cpp.
#include "halfulp/accumulation/gemm.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "halfulp/accumulation/detail/gemm_tile.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/detail/float_modes.hpp"

namespace halfulp::accumulation {
namespace detail {
namespace {

std::uint32_t word_at(const std::byte* words, std::size_t bytes, std::size_t i) {
  if (bytes == 1) return static_cast<std::uint32_t>(words[i]);
  if (bytes == 2) {
    std::uint16_t word;
    std::memcpy(&word, words + 2 * i, 2);
    return word;
  }
  std::uint32_t word;
  std::memcpy(&word, words + 4 * i, 4);
  return word;
}

}  // namespace

std::uint32_t GemmRun::a_word(std::size_t row, std::size_t k) const { return word_at(problem.a.words.data(), a_bytes, row * problem.a.k + k); }
std::uint32_t GemmRun::b_word(std::size_t column, std::size_t k) const {
  return word_at(problem.b.words.data(), b_bytes, column * problem.b.k + k);
}
const std::uint32_t* GemmRun::scales_of_a(std::size_t row) const {
  return problem.scale_a.words.data() + (blocks == 0 ? 0 : row / problem.scale_a.row_block * blocks);
}
const std::uint32_t* GemmRun::scales_of_b(std::size_t column) const {
  return problem.scale_b.words.data() + (blocks == 0 ? 0 : column / problem.scale_b.row_block * blocks);
}
std::uint32_t GemmRun::c_of(std::size_t row, std::size_t column) const {
  return problem.c.empty() ? 0 : problem.c[row * problem.b.rows + column];
}

void scalar_tile(const GemmRun& run, std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end, std::uint32_t* d) {
  const halfulp::detail::DefaultFloatModes modes;
  const std::size_t k = run.problem.a.k;
  const bool by_words = is_row_scheme(run.plan.spec.model.scheme);
  const std::size_t columns = column_end - column;
  std::vector<EngineOperand> a(by_words ? 0 : k), b(by_words ? 0 : k * columns);
  std::vector<std::uint32_t> a_words(by_words ? k : 0), b_words(by_words ? k * columns : 0);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < k; ++i) {
      const std::uint32_t word = run.b_word(column + j, i);
      if (by_words) b_words[j * k + i] = word;
      else b[j * k + i] = run.plan.b(word);
    }
  }
  for (; row < row_end; ++row) {
    for (std::size_t i = 0; i < k; ++i) {
      const std::uint32_t word = run.a_word(row, i);
      if (by_words) a_words[i] = word;
      else a[i] = run.plan.a(word);
    }
    for (std::size_t j = 0; j < columns; ++j) {
      const RowOperands operands = {a.data(), b.data() + (by_words ? 0 : j * k), a_words.data(), b_words.data() + (by_words ? j * k : 0),
                                    k, run.scales_of_a(row), run.scales_of_b(column + j)};
      d[row * run.problem.b.rows + column + j] = row_result(run.plan, operands, run.c_of(row, column + j));
    }
  }
}

void for_each_task(std::size_t count, int threads, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  std::exception_ptr error;
  std::mutex mutex;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count && !stop; i = next++) task(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!error) error = std::current_exception();
      stop = true;
    }
  };
  std::vector<std::jthread> others;
  for (int i = 1; i < threads && static_cast<std::size_t>(i) < count; ++i) others.emplace_back(work);
  work();
  others.clear();
  if (error) std::rethrow_exception(error);
}

}  // namespace detail

namespace {

void check_matrix(const CodeMatrix& x, const FormatSpec& format) {
  if (x.words.size() != x.rows * x.k * static_cast<std::size_t>(format.storage_bytes())) {
    throw std::invalid_argument("halfulp: a matrix has not the words that its shape says");
  }
}

void check_scales(const ScaleMatrix& scales, std::size_t rows, std::size_t blocks) {
  if (scales.row_block == 0 || scales.words.size() != (rows + scales.row_block - 1) / scales.row_block * blocks) {
    throw std::invalid_argument("halfulp: not one scale per block");
  }
}

}  // namespace

std::vector<std::uint32_t> gemm_sums(const GemmProblem& problem, int threads, const std::function<void(std::size_t)>& tick) {
  check_matrix(problem.a, problem.spec.a);
  check_matrix(problem.b, problem.spec.b);
  if (problem.a.k != problem.b.k) throw std::invalid_argument("halfulp: A and B have different k");
  const std::size_t m = problem.a.rows, n = problem.b.rows;
  if (!problem.c.empty() && problem.c.size() != m * n) throw std::invalid_argument("halfulp: C has not the shape of the result");
  const Engine engine(problem.spec);
  const detail::GemmRun run(problem, engine.plan());
  check_scales(problem.scale_a, m, run.blocks);
  check_scales(problem.scale_b, n, run.blocks);

  std::vector<std::uint32_t> d(m * n);
  if (run.lanes != detail::Lanes::none) {
    detail::lanes_gemm(run, threads, tick, d.data());
    return d;
  }
  constexpr std::size_t kMostRows = 64, kTileProducts = std::size_t{1} << 20;  // long rows: small tiles, so that `tick` comes often
  const std::size_t rows_together = std::clamp<std::size_t>(kTileProducts / std::max<std::size_t>(1, problem.a.k * detail::kPanel), 1, kMostRows);
  const std::size_t row_tiles = (m + rows_together - 1) / rows_together, column_tiles = (n + detail::kPanel - 1) / detail::kPanel;
  detail::for_each_task(row_tiles * column_tiles, threads, [&](std::size_t i) {
    const std::size_t row = i / column_tiles * rows_together, column = i % column_tiles * detail::kPanel;
    const std::size_t row_end = std::min(row + rows_together, m), column_end = std::min(column + detail::kPanel, n);
    detail::scalar_tile(run, row, row_end, column, column_end, d.data());
    if (tick) tick((row_end - row) * (column_end - column));
  });
  return d;
}

}  // namespace halfulp::accumulation
