// The side that sends jobs to the process of a library and watches it; see library.hpp.
#include "halfulp/vectors/kernels/library.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "halfulp/error.hpp"
#include "halfulp/vectors/implementation.hpp"
#include "halfulp/vectors/kernels/library_host.hpp"
#include "halfulp/vectors/kernels/lost_rows.hpp"
#include "halfulp/vectors/kernels/process.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::uint64_t kMostRows = 1 << 16;              ///< of a job
constexpr std::size_t kMostBytes = std::size_t{1} << 24;  ///< of a job's columns
constexpr int kMostCrashes = 8;                           ///< rows that crash are passed over until then
constexpr std::byte kFirstFiller{0x5a};  ///< of output bytes before a run; the second run has another
constexpr std::byte kSecondFiller{0xa5};

/// A process with the library loaded.
class Host {
 public:
  Host(const std::string& path, const RowShape& shape, const JobMemory& memory) {
    int requests[2];
    int replies[2];
    if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(replies, O_CLOEXEC) != 0)
      throw KernelFailure(std::string("no pipe: ") + std::strerror(errno));
    std::fflush(nullptr);  // or a library that calls exit() writes it again
    pid_ = fork();
    if (pid_ == 0) {
      setpgid(0, 0);
      close(requests[1]);
      close(replies[0]);
      host_library(path, shape, memory, requests[0], replies[1]);
    }
    const int error = errno;
    close(requests[0]);
    close(replies[1]);
    requests_ = requests[1];
    replies_ = replies[0];
    if (pid_ < 0) {
      close(requests_);
      close(replies_);
      throw KernelFailure(std::string("no process: ") + std::strerror(error));
    }
    setpgid(pid_, pid_);
    guard_.emplace(pid_);
  }
  ~Host() {
    close(requests_);
    close(replies_);
    kill(-pid_, SIGKILL);
    guard_.reset();
    if (!reaped_) waitpid(pid_, nullptr, 0);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  struct Reply {
    enum class Kind : std::uint8_t { answered, ended, timed_out };
    Kind kind;
    HostReply what = HostReply::done;
    int wait_status = 0;
  };

  void request() {
    const char byte = 0;
    // A process that is gone shows in the reply; SIGPIPE cannot come, because it closes its ends only by
    // ending.
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, &before);
    [[maybe_unused]] const ssize_t sent = write(requests_, &byte, 1);
    sigaction(SIGPIPE, &before, nullptr);
  }

  Reply wait(std::chrono::milliseconds timeout) {
    pollfd file = {replies_, POLLIN, 0};
    int ready = 0;
    do {
      ready = poll(&file, 1, static_cast<int>(timeout.count()));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0) return {Reply::Kind::timed_out};
    unsigned char byte = 0;
    ssize_t count = 0;
    do {
      count = read(replies_, &byte, 1);
    } while (count < 0 && errno == EINTR);
    if (count == 1) return {Reply::Kind::answered, static_cast<HostReply>(byte)};
    if (!wait_for_end(pid_, timeout)) return {Reply::Kind::timed_out};
    int status = 0;
    waitpid(pid_, &status, 0);
    reaped_ = true;
    return {Reply::Kind::ended, HostReply::done, status};
  }

 private:
  int pid_ = -1;
  int requests_ = -1;
  int replies_ = -1;
  bool reaped_ = false;
  std::optional<GroupGuard> guard_;
};

std::string rows_text(std::uint64_t first, std::uint64_t rows) {
  if (rows == 1) return "row " + grouped_digits(first);
  return "rows " + grouped_digits(first) + " to " + grouped_digits(first + rows - 1);
}

std::uint64_t rows_per_job(const RowShape& shape) {
  const std::size_t row = std::max<std::size_t>(1, shape.input_bytes() + shape.output_bytes());
  return std::max<std::uint64_t>(
      1, std::min<std::uint64_t>({kMostRows, kMostBytes / row, std::max<std::uint64_t>(1, shape.rows)}));
}

class Library {
 public:
  Library(std::string path, RowShape shape, const LibraryOptions& options)
      : path_(std::move(path)),
        shape_(std::move(shape)),
        options_(options),
        memory_(shape_, rows_per_job(shape_)) {
    start();
    name_ = printable(memory_.control().text, 200);
  }

  const std::string& name() const { return name_; }

  void answer(const RowJob& job) {
    for (std::uint64_t begin = 0; begin < job.rows;) {
      const std::uint64_t rows = std::min(memory_.most_rows(), job.rows - begin);
      answer_piece(job, begin, rows);
      begin += rows;
    }
  }

  std::vector<KernelFinding> finish() const { return findings_; }

 private:
  std::string timeout_text() const { return duration_text(options_.timeout); }

  void start() {
    host_.reset();
    memory_.control().fault = JobControl::Fault::none;
    host_.emplace(path_, shape_, memory_);
    const Host::Reply reply = host_->wait(options_.timeout);
    if (reply.kind == Host::Reply::Kind::ended)
      throw KernelFailure("while it was loaded: " + status_text(reply.wait_status), Trouble::crash);
    if (reply.kind == Host::Reply::Kind::timed_out)
      throw KernelFailure("it was not loaded within " + timeout_text(), Trouble::time_out);
    const std::string what = "library '" + printable(path_, 200) + "'";
    const std::string text = printable(memory_.control().text, 400);
    switch (reply.what) {
      case HostReply::not_loadable:
        throw InputError(what, "it cannot be loaded (" + text + ")", "check the file");
      case HostReply::no_symbol:
        throw InputError(what, "it exports no " + text, "export the two functions of halfulp/kernel.h");
      case HostReply::wrong_abi:
        throw InputError(what, text + ", and this command has version 1",
                         "compile it with this halfulp/kernel.h");
      case HostReply::no_info:
        throw InputError(what, "halfulp_kernel_info() returned NULL: it cannot run here",
                         "see what it needs");
      case HostReply::device_memory:
        throw InputError(what, "it asks for device memory, and " + text,
                         "run it where the device is, or copy from and to the host in halfulp_kernel_run()");
      case HostReply::spec_not_listed:
        throw InputError(what, "it does not list " + shape_.spec + " (it lists " + text + ")",
                         "name one of its SPECs");
      default: return;
    }
  }

  /// One job, in a process that is started when there is none.
  Host::Reply run(const RowJob& job, std::uint64_t begin, std::uint64_t rows, std::byte filler) {
    if (!host_) start();
    for (std::size_t c = 0; c < shape_.inputs.size(); ++c) {
      const std::size_t bytes = shape_.inputs[c].row_bytes();
      const auto data = job.inputs[c].subspan(static_cast<std::size_t>(begin) * bytes,
                                              static_cast<std::size_t>(rows) * bytes);
      std::copy(data.begin(), data.end(), memory_.input(c, rows).begin());
    }
    memory_.prepare(rows, filler);
    JobControl& control = memory_.control();
    control.fault = JobControl::Fault::none;
    control.first = job.first + begin;
    control.rows = rows;
    host_->request();
    const Host::Reply reply = host_->wait(options_.timeout);
    if (reply.kind != Host::Reply::Kind::answered) host_.reset();
    return reply;
  }

  void take(const RowJob& job, std::uint64_t begin, std::uint64_t rows) const {
    for (std::size_t c = 0; c < shape_.outputs.size(); ++c) {
      const auto data = memory_.output(c, rows);
      std::copy(
          data.begin(), data.end(),
          job.answers[c].begin() + static_cast<std::ptrdiff_t>(begin * shape_.outputs[c].row_bytes()));
    }
  }

  void answer_piece(const RowJob& job, std::uint64_t begin, std::uint64_t rows) {
    const Host::Reply reply = run(job, begin, rows, kFirstFiller);
    if (reply.kind == Host::Reply::Kind::ended) locate(job, begin, rows, reply);
    const std::string where = rows_text(job.first + begin, rows);
    if (reply.kind == Host::Reply::Kind::timed_out) {
      throw KernelFailure(where + ": no answer within " + timeout_text() + ", stopped", Trouble::time_out,
                          begin);
    }
    if (reply.what == HostReply::error) {
      const std::string text = memory_.control().text;
      throw KernelFailure(where + ": it reports error " + std::to_string(memory_.control().error) +
                              (text.empty() ? "" : ": " + printable(text, 400)),
                          Trouble::failure, begin);
    }
    take(job, begin, rows);
    note_overrun(where, rows);
    const bool sampled = (jobs_ & (jobs_ + 1)) == 0;  // jobs 0, 1, 3, 7 …
    ++jobs_;
    if (!sampled && !has_filler(job, begin, rows)) return;
    std::vector<RowGap> gaps = run_again(job, begin, rows);
    if (!gaps.empty()) throw LostRows("", Trouble::missing_output, begin + rows, std::move(gaps));
  }

  /// A word looks as before the run: not written, or by chance.
  bool has_filler(const RowJob& job, std::uint64_t begin, std::uint64_t rows) const {
    for (std::size_t c = 0; c < shape_.outputs.size(); ++c) {
      const std::size_t row = shape_.outputs[c].row_bytes();
      const auto size = static_cast<std::size_t>(shape_.outputs[c].word_bytes);
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
    const std::string text = memory_.overrun(rows);
    if (!text.empty()) note(Trouble::out_of_bounds, where + ": it wrote " + text);
  }

  /// The same job with other bytes in the outputs: what differs is random, or was not written at all. The
  /// rows that were not written.
  std::vector<RowGap> run_again(const RowJob& job, std::uint64_t begin, std::uint64_t rows) {
    const Host::Reply reply = run(job, begin, rows, kSecondFiller);
    const std::string where = rows_text(job.first + begin, rows);
    if (reply.kind != Host::Reply::Kind::answered || reply.what != HostReply::done) {
      note(Trouble::non_determinism, where + ": answered once, and not when asked again");
      return {};
    }
    note_overrun(where, rows);
    std::vector<bool> lost(static_cast<std::size_t>(rows), false);
    for (std::size_t c = 0; c < shape_.outputs.size(); ++c) {
      const std::size_t row = shape_.outputs[c].row_bytes();
      const auto first = job.answers[c].subspan(static_cast<std::size_t>(begin) * row,
                                                static_cast<std::size_t>(rows) * row);
      const auto second = memory_.output(c, rows);
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
                               shape_.outputs[c].name + " (first: row " + grouped_digits(first_differing) +
                               ")";
      if (unwritten > 0)
        note(Trouble::missing_output,
             where + ": it leaves " + grouped_digits(unwritten) + " of " + grouped_digits(rows) +
                 " rows of " + shape_.outputs[c].name + " (first: row " +
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
    const JobControl& control = memory_.control();
    if (control.fault == JobControl::Fault::output_overrun)
      return "it wrote outside column " + shape_.outputs[control.fault_column].name;
    if (control.fault == JobControl::Fault::input_written)
      return "it wrote into its input " + shape_.inputs[control.fault_column].name;
    return {};
  }

  static std::string end_text(const Host::Reply& reply) {
    return WIFSIGNALED(reply.wait_status) ? "it crashed: " + status_text(reply.wait_status)
                                          : "it ended the process: " + status_text(reply.wait_status);
  }

  /// Finds the row that a crash needs, by halves, in new processes. Answers the rows before it; throws
  /// KernelFailure.
  [[noreturn]] void locate(const RowJob& job, std::uint64_t begin, std::uint64_t rows, Host::Reply reply) {
    if (const std::string fault = fault_text(); !fault.empty()) {
      throw KernelFailure(rows_text(job.first + begin, rows) + ": " + fault + "; " + end_text(reply),
                          Trouble::out_of_bounds, begin);
    }
    std::uint64_t good = 0;  // rows answered before the crash
    std::uint64_t bad = rows;
    while (bad - good > 1) {
      const std::uint64_t middle = good + (bad - good) / 2;
      const Host::Reply half = run(job, begin + good, middle - good, kFirstFiller);
      if (half.kind == Host::Reply::Kind::answered && half.what == HostReply::done) {
        take(job, begin + good, middle - good);
        good = middle;
      } else {
        bad = middle;
        if (half.kind == Host::Reply::Kind::ended) reply = half;
      }
    }
    const Host::Reply alone = run(job, begin + good, 1, kFirstFiller);
    const std::uint64_t first = job.first + begin;
    if (alone.kind == Host::Reply::Kind::ended) {
      const std::string text =
          rows_text(first + good, 1) + input_text(job, begin + good) + ": " + end_text(alone);
      if (++crashes_ < kMostCrashes)
        throw LostRows(text, Trouble::crash, begin + good + 1, {{begin + good, 1}});
      throw KernelFailure(text + "; no more are looked for", Trouble::crash, begin + good);
    }
    throw KernelFailure(rows_text(first, rows) + ": " + end_text(reply) + " (not on each row alone)",
                        Trouble::crash, begin);
  }

  /// The words of a row where they are few.
  std::string input_text(const RowJob& job, std::uint64_t row) const {
    if (shape_.inputs.size() != 1 || shape_.inputs[0].words_per_row != 1) return {};
    const std::size_t bytes = shape_.inputs[0].row_bytes();
    std::string text = ", input 0x";
    for (std::size_t k = bytes; k-- > 0;) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x",
                    std::to_integer<unsigned>(job.inputs[0][static_cast<std::size_t>(row) * bytes + k]));
      text += digits;
    }
    return text;
  }

  std::string path_;
  RowShape shape_;
  LibraryOptions options_;
  JobMemory memory_;
  std::optional<Host> host_;
  std::string name_;
  std::uint64_t jobs_ = 0;
  int crashes_ = 0;
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
