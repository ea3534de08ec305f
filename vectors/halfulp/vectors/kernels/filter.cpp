// One loop moves bytes both ways; see filter.hpp.
#include "halfulp/vectors/kernels/filter.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/hex_words.hpp"
#include "halfulp/vectors/kernels/process.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;          ///< bytes fed or read at a time
constexpr std::uint64_t kMostExtra = std::uint64_t{1} << 26;  ///< bytes of extra output that are counted

std::string rows_of(std::uint64_t some, std::uint64_t all) {
  return grouped_digits(some) + " of " + grouped_digits(all) + (all == 1 ? " row" : " rows");
}

class Filter {
 public:
  Filter(const std::string& command, RowShape shape, InputRows source, const FilterOptions& options)
      : shape_(std::move(shape)),
        source_(std::move(source)),
        options_(options),
        words_(shape_.outputs),
        process_(command) {}

  void answer(const RowJob& job) {
    const std::size_t row = shape_.output_bytes();
    const auto wanted = static_cast<std::size_t>(job.rows) * row;
    while (available() < wanted && step()) {
    }
    const std::size_t rows = std::min<std::size_t>(available() / row, static_cast<std::size_t>(job.rows));
    scatter(job, rows);
    answered_ += rows;
    if (rows < job.rows) fail(rows);
  }

  /// Extra output, and how it ended.
  std::vector<KernelFinding> finish() {
    std::vector<KernelFinding> findings;
    std::uint64_t extra = 0;
    const auto count = [&] {
      extra += available();
      received_.clear();
      taken_ = 0;
    };
    count();
    // Extra bytes are no progress: a command that trickles for ever has one time-out in all.
    const auto end_by = std::chrono::steady_clock::now() + options_.timeout;
    while (extra < kMostExtra && step()) {
      count();
      if (extra == 0 || std::chrono::steady_clock::now() < end_by) continue;
      timed_out_ = true;
      process_.kill_group();
      end();
    }
    count();
    if (extra > 0 || !words_.garbage().empty()) {
      const std::size_t row = shape_.output_bytes();
      const std::string least = extra >= kMostExtra ? "at least " : "";
      std::string text = least + grouped_digits(extra / row) + " more than the " + rows_text();
      if (extra % row != 0) text += " and " + std::to_string(extra % row) + " bytes";
      if (!words_.garbage().empty()) text = "behind the last row, " + words_.garbage();
      findings.push_back({Trouble::extra_output, text});
    }
    if (timed_out_) {
      findings.push_back(
          {Trouble::time_out, "all rows are answered, but it did not end within " + timeout_text()});
    } else if (extra < kMostExtra) {
      const auto status = process_.wait(options_.timeout);
      if (!status)
        findings.push_back(
            {Trouble::time_out, "it closed its output, but did not end within " + timeout_text()});
      else if (*status != 0)
        findings.push_back(
            {Trouble::crash, "all rows are answered, but it ended with " + status_text(*status)});
    }
    return findings;
  }

 private:
  std::size_t available() const { return received_.size() - taken_; }
  std::string rows_text() const {
    return grouped_digits(shape_.rows) + (shape_.rows == 1 ? " row" : " rows");
  }
  std::string timeout_text() const { return duration_text(options_.timeout); }

  /// Waits for either stream and moves what it can. False when no more answers will come.
  bool step() {
    if (at_end_) return false;
    refill();
    std::array<pollfd, 2> files = {pollfd{process_.output(), POLLIN, 0},
                                   pollfd{process_.input(), POLLOUT, 0}};  // -1 is ignored
    const int ready = poll(files.data(), files.size(), static_cast<int>(options_.timeout.count()));
    if (ready < 0) {
      if (errno == EINTR) return true;
      throw KernelFailure(std::string("poll: ") + std::strerror(errno));
    }
    if (ready == 0) {
      timed_out_ = true;
      process_.kill_group();
      return end();
    }
    if (files[1].revents != 0 && process_.input() >= 0) feed();
    return files[0].revents == 0 || receive();
  }

  /// The next rows to be fed; closes the input behind the last.
  void refill() {
    if (fed_ < pending_.size() || process_.input() < 0) return;
    pending_.clear();
    fed_ = 0;
    if (next_row_ == shape_.rows) return process_.close_input();
    const std::size_t row = shape_.input_bytes();
    const std::uint64_t rows =
        std::min<std::uint64_t>(std::max<std::size_t>(1, kPiece / row), shape_.rows - next_row_);
    gather(rows);
    next_row_ += rows;
    if (options_.form == FilterOptions::Form::text) {
      std::string text;
      append_hex_rows(shape_.inputs, pending_, text);
      const auto bytes = std::as_bytes(std::span(text));
      pending_.assign(bytes.begin(), bytes.end());
    }
  }

  /// Rows with their columns back to back.
  void gather(std::uint64_t rows) {
    std::vector<std::vector<std::byte>> columns;
    std::vector<std::span<std::byte>> spans;
    for (const KernelColumn& column : shape_.inputs)
      columns.emplace_back(static_cast<std::size_t>(rows) * column.row_bytes());
    for (auto& column : columns) spans.emplace_back(column);
    source_(next_row_, spans);
    if (columns.size() == 1) {
      pending_ = std::move(columns.front());
      return;
    }
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::size_t bytes = shape_.inputs[c].row_bytes();
        const auto begin = columns[c].begin() + static_cast<std::ptrdiff_t>(i * bytes);
        pending_.insert(pending_.end(), begin, begin + static_cast<std::ptrdiff_t>(bytes));
      }
    }
  }

  void scatter(const RowJob& job, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < job.answers.size(); ++c) {
        const std::size_t bytes =
            job.answers.size() == 1 ? rows * shape_.outputs[c].row_bytes() : shape_.outputs[c].row_bytes();
        std::memcpy(job.answers[c].data() + i * bytes, received_.data() + taken_, bytes);
        taken_ += bytes;
      }
      if (job.answers.size() == 1) break;  // all rows at once
    }
    if (taken_ == received_.size() || taken_ > 4 * kPiece) {
      received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
  }

  void feed() {
    const long count = process_.write_some(std::span(pending_).subspan(fed_));
    if (count < 0)
      process_.close_input();  // it reads no more; what it still writes counts
    else
      fed_ += static_cast<std::size_t>(count);
  }

  bool receive() {
    buffer_.resize(kPiece);
    const ssize_t count = read(process_.output(), buffer_.data(), buffer_.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (count <= 0) return end();
    const auto bytes = std::span(buffer_).first(static_cast<std::size_t>(count));
    if (options_.form == FilterOptions::Form::binary) {
      received_.insert(received_.end(), bytes.begin(), bytes.end());
      return true;
    }
    words_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, received_);
    return words_.garbage().empty() || end();
  }

  bool end() {
    if (options_.form == FilterOptions::Form::text) words_.end(received_);
    at_end_ = true;
    return false;
  }

  [[noreturn]] void fail(std::uint64_t rows) {
    const std::string so_far = rows_of(answered_, shape_.rows) + " answered";
    if (!words_.garbage().empty())
      throw KernelFailure(so_far + "; " + words_.garbage(), Trouble::garbage, rows);
    if (timed_out_) {
      throw KernelFailure(so_far + "; no progress for " + timeout_text() + ", stopped", Trouble::time_out,
                          rows);
    }
    const std::size_t rest = available();
    std::string text = so_far + (rest > 0 ? " (and " + std::to_string(rest) + " bytes of another)" : "");
    const auto status = process_.wait(options_.timeout);
    if (!status) {
      process_.kill_group();
      throw KernelFailure(text + "; it closed its output and did not end", Trouble::missing_output, rows);
    }
    if (*status != 0)
      throw KernelFailure(text + "; it ended with " + status_text(*status), Trouble::crash, rows);
    throw KernelFailure(text + ", " + grouped_digits(shape_.rows - answered_) + " missing",
                        Trouble::missing_output, rows);
  }

  RowShape shape_;
  InputRows source_;
  FilterOptions options_;
  HexWords words_;
  Process process_;
  std::uint64_t next_row_ = 0;      ///< to be fed
  std::vector<std::byte> pending_;  ///< being fed
  std::size_t fed_ = 0;             ///< bytes of it
  std::vector<std::byte> buffer_;
  std::vector<std::byte> received_;  ///< answers as words
  std::size_t taken_ = 0;            ///< bytes of it
  std::uint64_t answered_ = 0;       ///< rows
  bool at_end_ = false;
  bool timed_out_ = false;
};

}  // namespace

Plug filter(const std::string& command, const FilterOptions& options) {
  const bool text = options.form == FilterOptions::Form::text;
  return {printable(command),
          "--exec " + shell_quoted(command) + (text ? " --text" : "") + timeout_option(options.timeout),
          [command, options](const RowShape& shape, InputRows source) -> Plugged {
            const auto running = std::make_shared<Filter>(command, shape, std::move(source), options);
            return {[running](const RowJob& job) { running->answer(job); },
                    [running] { return running->finish(); },
                    {}};
          }};
}

}  // namespace halfulp::vectors
