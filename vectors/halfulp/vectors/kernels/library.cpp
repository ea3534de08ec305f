// The side that sends jobs to the process of a library and watches it; see library.hpp.
#include "halfulp/vectors/kernels/library.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/library_jobs.hpp"
#include "halfulp/vectors/kernels/lost_rows.hpp"

namespace halfulp::vectors {
namespace {

using Reply = LibraryProcess::Reply;
using std::chrono::milliseconds;

constexpr int kMostCrashes = 8;  ///< rows that crash are passed over until then
constexpr int kMostHangs = 3;    ///< the same for rows that hang, which take time
constexpr milliseconds kShortestProbe{200};  ///< given to the halves of a job that hung
constexpr int kPatience = 16;                ///< times the longest answered job so far, of the same

std::string rows_text(std::uint64_t first, std::uint64_t rows) {
  if (rows == 1) return "row " + grouped_digits(first);
  return "rows " + grouped_digits(first) + " to " + grouped_digits(first + rows - 1);
}

class Library {
 public:
  Library(const std::string& path, RowShape shape, const LibraryOptions& options)
      : timeout_(options.timeout), jobs_(path, std::move(shape), options) {}

  const std::string& name() const { return jobs_.name(); }

  void answer(const RowJob& job) {
    for (std::uint64_t begin = 0; begin < job.rows;) {
      const std::uint64_t rows = std::min(jobs_.memory().most_rows(), job.rows - begin);
      answer_piece(job, begin, rows);
      begin += rows;
    }
  }

  std::vector<KernelFinding> finish() const { return findings_; }

 private:
  void answer_piece(const RowJob& job, std::uint64_t begin, std::uint64_t rows) {
    const Reply reply = jobs_.run(job, begin, rows, kFirstFiller, timeout_);
    if (reply.kind != Reply::Kind::answered) locate(job, begin, rows, reply);
    const std::string where = rows_text(job.first + begin, rows);
    if (reply.what == HostReply::error) {
      const std::string text = jobs_.memory().control().text;
      throw KernelFailure(where + ": it reports error " + std::to_string(jobs_.memory().control().error) +
                              (text.empty() ? "" : ": " + printable(text, 400)),
                          fault_text().empty() ? Trouble::failure : Trouble::out_of_bounds, begin);
    }
    jobs_.take(job, begin, rows);
    note_overrun(where, rows);
    const bool sampled = (answered_ & (answered_ + 1)) == 0;  // jobs 0, 1, 3, 7 …
    ++answered_;
    if (!sampled && !has_filler(job, begin, rows)) return;
    std::vector<RowGap> gaps = run_again(job, begin, rows);
    if (!gaps.empty()) throw LostRows("", Trouble::missing_output, begin + rows, std::move(gaps));
  }

  /// A word looks as before the run: not written, or by chance.
  bool has_filler(const RowJob& job, std::uint64_t begin, std::uint64_t rows) const {
    for (std::size_t c = 0; c < jobs_.shape().outputs.size(); ++c) {
      const std::size_t row = jobs_.shape().outputs[c].row_bytes();
      const auto size = static_cast<std::size_t>(jobs_.shape().outputs[c].word_bytes);
      const auto data = job.answers[c].subspan(static_cast<std::size_t>(begin) * row,
                                               static_cast<std::size_t>(rows) * row);
      for (std::size_t at = 0; at + size <= data.size(); at += size) {
        const auto word = data.subspan(at, size);
        if (std::all_of(word.begin(), word.end(), [](std::byte b) { return b == kFirstFiller; }))
          return true;
      }
    }
    return false;
  }

  void note(Trouble trouble, const std::string& text) {
    const bool known = std::any_of(findings_.begin(), findings_.end(),
                                   [&](const auto& f) { return f.trouble == trouble; });
    if (!known) findings_.push_back({trouble, text});
  }

  void note_overrun(const std::string& where, std::uint64_t rows) {
    const std::string text = jobs_.memory().overrun(rows);
    if (!text.empty()) note(Trouble::out_of_bounds, where + ": it wrote " + text);
  }

  /// The same job with other bytes in the outputs: what differs is random, or was not written at all. The
  /// rows that were not written.
  std::vector<RowGap> run_again(const RowJob& job, std::uint64_t begin, std::uint64_t rows) {
    const Reply reply = jobs_.run(job, begin, rows, kSecondFiller, timeout_);
    const std::string where = rows_text(job.first + begin, rows);
    if (reply.kind != Reply::Kind::answered || reply.what != HostReply::done) {
      note(Trouble::non_determinism, where + ": answered once, and not when asked again");
      return {};
    }
    note_overrun(where, rows);
    std::vector<bool> lost(static_cast<std::size_t>(rows), false);
    for (std::size_t c = 0; c < jobs_.shape().outputs.size(); ++c) {
      const std::size_t row = jobs_.shape().outputs[c].row_bytes();
      const auto first = job.answers[c].subspan(static_cast<std::size_t>(begin) * row,
                                                static_cast<std::size_t>(rows) * row);
      const auto second = jobs_.memory().output(c, rows);
      std::uint64_t differing = 0;
      std::uint64_t unwritten = 0, first_unwritten = 0;
      std::uint64_t first_differing = 0;
      for (std::size_t i = 0; i < rows; ++i) {
        const auto a = first.subspan(i * row, row);
        const auto b = second.subspan(i * row, row);
        if (std::equal(a.begin(), a.end(), b.begin())) continue;
        if (differing++ == 0) first_differing = job.first + begin + i;
        for (std::size_t k = 0; k < row; ++k) {
          if (a[k] == b[k] || a[k] != kFirstFiller || b[k] != kSecondFiller) continue;
          if (unwritten++ == 0) first_unwritten = i;
          lost[i] = true;
          break;
        }
      }
      if (differing == 0) continue;
      const std::string text = grouped_digits(differing) + " of " + grouped_digits(rows) + " rows of " +
                               jobs_.shape().outputs[c].name + " (first: row " + grouped_digits(first_differing) +
                               ")";
      if (unwritten > 0)
        note(Trouble::missing_output,
             where + ": it leaves " + grouped_digits(unwritten) + " of " + grouped_digits(rows) +
                 " rows of " + jobs_.shape().outputs[c].name + " (first: row " +
                 grouped_digits(job.first + begin + first_unwritten) + ") unwritten");
      if (unwritten < differing) note(Trouble::non_determinism, where + ": two runs differ in " + text);
    }
    return gaps_of(lost, begin);
  }

  static std::vector<RowGap> gaps_of(const std::vector<bool>& lost, std::uint64_t begin) {
    std::vector<RowGap> gaps;
    for (std::size_t i = 0; i < lost.size(); ++i) {
      if (!lost[i]) continue;
      if (i > 0 && lost[i - 1])
        ++gaps.back().rows;
      else
        gaps.push_back({begin + i, 1});
    }
    return gaps;
  }

  std::string fault_text() const {
    const JobControl& control = jobs_.memory().control();
    if (control.fault == JobControl::Fault::output_overrun)
      return "it wrote outside column " + jobs_.shape().outputs[control.fault_column].name;
    if (control.fault == JobControl::Fault::input_written)
      return "it wrote into its input " + jobs_.shape().inputs[control.fault_column].name;
    return {};
  }

  std::string end_text(const Reply& reply) const {
    if (reply.kind == Reply::Kind::timed_out) return "no answer within " + duration_text(timeout_) + ", stopped";
    return WIFSIGNALED(reply.wait_status) ? "it crashed: " + status_text(reply.wait_status)
                                          : "it ended the process: " + status_text(reply.wait_status);
  }

  /// Finds the row that a crash or a hang needs, by halves, in new processes. Answers the rows before it;
  /// throws KernelFailure. Halves of a job that hung get less time, so that the row is found soon: only a
  /// row that hangs alone for the whole time is named.
  [[noreturn]] void locate(const RowJob& job, std::uint64_t begin, std::uint64_t rows, Reply reply) {
    const bool hung = reply.kind == Reply::Kind::timed_out;
    if (const std::string fault = fault_text(); !fault.empty() && !hung) {
      throw KernelFailure(rows_text(job.first + begin, rows) + ": " + fault + "; " + end_text(reply),
                          Trouble::out_of_bounds, begin);
    }
    const milliseconds patience =
        hung ? std::clamp(kPatience * jobs_.longest(), std::min(kShortestProbe, timeout_), timeout_) : timeout_;
    std::uint64_t good = 0;  // rows answered before the crash
    std::uint64_t bad = rows;
    while (bad - good > 1) {
      const std::uint64_t middle = good + (bad - good) / 2;
      const Reply half = jobs_.run(job, begin + good, middle - good, kFirstFiller, patience);
      if (half.done()) {
        jobs_.take(job, begin + good, middle - good);
        good = middle;
      } else {
        bad = middle;
        if (half.kind == Reply::Kind::ended) reply = half;
      }
    }
    const Reply alone = jobs_.run(job, begin + good, 1, kFirstFiller, timeout_);
    const std::uint64_t first = job.first + begin;
    const Trouble trouble = alone.kind == Reply::Kind::timed_out ? Trouble::time_out : Trouble::crash;
    if (alone.kind != Reply::Kind::answered) {
      const std::string text =
          rows_text(first + good, 1) + input_text(job, begin + good) + ": " + end_text(alone);
      const bool goes_on = trouble == Trouble::crash ? ++crashes_ < kMostCrashes : ++hangs_ < kMostHangs;
      if (goes_on) throw LostRows(text, trouble, begin + good + 1, {{begin + good, 1}});
      throw KernelFailure(text + "; no more are looked for", trouble, begin + good);
    }
    throw KernelFailure(rows_text(first, rows) + ": " + end_text(reply) + " (not on each row alone)",
                        reply.kind == Reply::Kind::timed_out ? Trouble::time_out : Trouble::crash, begin);
  }

  /// The words of a row where they are few.
  std::string input_text(const RowJob& job, std::uint64_t row) const {
    if (jobs_.shape().inputs.size() != 1 || jobs_.shape().inputs[0].words_per_row != 1) return {};
    const std::size_t bytes = jobs_.shape().inputs[0].row_bytes();
    std::string text = ", input 0x";
    for (std::size_t k = bytes; k-- > 0;) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x",
                    std::to_integer<unsigned>(job.inputs[0][static_cast<std::size_t>(row) * bytes + k]));
      text += digits;
    }
    return text;
  }

  milliseconds timeout_;
  LibraryJobs jobs_;
  std::uint64_t answered_ = 0;  ///< jobs
  int crashes_ = 0, hangs_ = 0;
  std::vector<KernelFinding> findings_;
};

}  // namespace

Plug library(const std::string& path, const LibraryOptions& options) {
  return {printable(path, 200), "--lib " + shell_quoted(path) + timeout_option(options.timeout),
          [path, options](const RowShape& shape, const InputRows&) -> Plugged {
            const auto loaded = std::make_shared<Library>(path, shape, options);
            return {[loaded](const RowJob& job) { loaded->answer(job); },
                    [loaded] { return loaded->finish(); }, loaded->name()};
          }};
}

}  // namespace halfulp::vectors
