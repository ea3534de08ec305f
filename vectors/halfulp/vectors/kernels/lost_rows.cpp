// Jobs in parts around the rows that are lost.
#include "halfulp/vectors/kernels/lost_rows.hpp"

namespace halfulp::vectors {
namespace {

RowJob part(const RowJob& job, std::uint64_t begin, std::uint64_t rows) {
  const auto cut = [&](auto bytes) {
    const std::size_t row = bytes.size() / static_cast<std::size_t>(job.rows);
    return bytes.subspan(static_cast<std::size_t>(begin) * row, static_cast<std::size_t>(rows) * row);
  };
  RowJob some = {job.first + begin, rows, {}, {}};
  for (const auto& column : job.inputs) some.inputs.push_back(cut(column));
  for (const auto& column : job.answers) some.answers.push_back(cut(column));
  return some;
}

}  // namespace

RowKernel going_on(RowKernel kernel, std::function<void(const RowJob&)> fill, Losses& losses) {
  return [kernel = std::move(kernel), fill = std::move(fill), &losses](const RowJob& job) {
    for (std::uint64_t begin = 0; begin < job.rows;) {
      try {
        kernel(part(job, begin, job.rows - begin));
        return;
      } catch (const LostRows& gap) {
        if (*gap.what() != 0) losses.findings.push_back({gap.trouble, gap.what()});
        for (const RowGap& lost : gap.gaps) {
          losses.rows += lost.rows;
          fill(part(job, begin + lost.first, lost.rows));
        }
        begin += gap.settled;
      } catch (const KernelFailure& failure) {
        throw KernelFailure(failure.what(), failure.trouble, begin + failure.answered);
      }
    }
  };
}

}  // namespace halfulp::vectors
