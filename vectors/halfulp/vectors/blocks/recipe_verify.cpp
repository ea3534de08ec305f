// Rows into kernels, answers to the judge; see recipe_verify.hpp.
#include "halfulp/vectors/blocks/recipe_verify.hpp"

#include <algorithm>
#include <chrono>

#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/lost_rows.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kStretchBytes = std::size_t{1} << 18;  ///< of inputs per call

/// Columns of some rows, whole.
class Columns {
 public:
  Columns(const std::vector<RecipeColumn>& columns, std::size_t rows) {
    for (const RecipeColumn& column : columns) {
      row_bytes_.push_back(column.row_bytes());
      bytes_.emplace_back(column.row_bytes() * rows);
    }
  }
  template <class Byte>
  std::vector<std::span<Byte>> part(std::size_t first, std::size_t rows) {
    std::vector<std::span<Byte>> spans;
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      spans.push_back(std::span<Byte>(bytes_[i]).subspan(first * row_bytes_[i], rows * row_bytes_[i]));
    return spans;
  }
  std::size_t bytes_per_row() const {
    std::size_t sum = 0;
    for (const std::size_t bytes : row_bytes_) sum += bytes;
    return sum;
  }

 private:
  std::vector<std::size_t> row_bytes_;
  std::vector<std::vector<std::byte>> bytes_;
};

}  // namespace

RecipeAnswers run_rows(const RecipePlan& plan, const RecipeRows& rows, const RowKernel& kernel,
                       const RecipeVerifyOptions& options) {
  const std::size_t total = rows.rows.size();
  Columns in(input_columns(plan), total), out(expected_columns(plan), total);
  for (std::size_t i = 0; i < total; ++i) put_inputs(plan, rows.rows[i], in.part<std::byte>(i, 1));
  const std::size_t stretch =
      std::max<std::size_t>(1, kStretchBytes / std::max<std::size_t>(1, in.bytes_per_row()));
  RecipeAnswers answers;
  std::vector<bool> lost(total, false);
  Losses losses;
  const RowKernel going = going_on(
      kernel,
      [&](const RowJob& job) {
        for (std::uint64_t i = 0; i < job.rows; ++i) lost[static_cast<std::size_t>(job.first + i)] = true;
      },
      losses);
  for (std::size_t first = 0; first < total; first += stretch) {
    const std::size_t count = std::min(stretch, total - first);
    std::size_t answered = count;
    try {
      going({first, count, in.part<const std::byte>(first, count), out.part<std::byte>(first, count)});
    } catch (const KernelFailure& failure) {
      answers.failure = failure.what();
      answered = static_cast<std::size_t>(std::min<std::uint64_t>(count, failure.answered));
    }
    for (std::size_t i = first; i < first + answered; ++i)
      answers.rows.push_back(lost[i] ? RowAnswer{} : get_answer(plan, out.part<const std::byte>(i, 1)));
    answers.lost = losses.rows;
    if (!answers.failure.empty()) return answers;
    if (options.progress) options.progress(first + count, total);
  }
  return answers;
}

RecipeVerdict verify_rows(const RecipePlan& plan, RecipeRows rows, const RowKernel& kernel,
                          const RecipeVerifyOptions& options) {
  RecipeVerdict verdict{.plan = plan,
                        .implementation = options.implementation,
                        .version = options.version,
                        .level = options.level,
                        .seed = options.seed,
                        .rows = std::move(rows),
                        .answers = {},
                        .tally = {}};
  const auto start = std::chrono::steady_clock::now();
  verdict.answers = run_rows(plan, verdict.rows, kernel, options);
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  verdict.tally = judge_blocks(plan, verdict.rows, verdict.answers.rows);
  return verdict;
}

RecipeVerdict verify_recipe(const RecipePlan& plan, const RowKernel& kernel,
                            const RecipeVerifyOptions& options) {
  return verify_rows(plan, level_rows(plan, options.level, options.seed, options.threads), kernel, options);
}

}  // namespace halfulp::vectors
