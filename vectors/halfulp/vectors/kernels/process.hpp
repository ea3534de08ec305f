// Process: a shell command in a process group of its own, with pipes at its standard input and output.
//
// Decides: that nothing a user starts here outlives the command: the group is killed when the object goes,
// on Ctrl-C, SIGTERM, SIGHUP and SIGQUIT.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace halfulp::vectors {

/// Kills a process group when the program is interrupted, as long as it lives.
class GroupGuard {
 public:
  explicit GroupGuard(int group);
  ~GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;

 private:
  std::size_t slot_;
};

/// Waits until a child has ended and leaves it to be reaped; false after `timeout`.
bool wait_for_end(int pid, std::chrono::milliseconds timeout);

/// `exit status 3`, `signal 11 (Segmentation fault)`; also of a shell that reports a signal as 128 + N.
std::string status_text(int wait_status);

class Process {
 public:
  /// Runs `sh -c command`; its standard error is ours. Throws KernelFailure.
  explicit Process(const std::string& command);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int input() const { return input_; }    ///< non-blocking; -1 once closed
  int output() const { return output_; }  ///< non-blocking
  void close_input();
  /// Writes what the pipe takes: bytes written, 0 when it is full, -1 when nobody reads. No SIGPIPE.
  long write_some(std::span<const std::byte> bytes);
  /// The wait status of the shell, or nothing when it still runs after `timeout`. The group lives on.
  std::optional<int> wait(std::chrono::milliseconds timeout);
  /// Ends the whole group.
  void kill_group();

 private:
  int pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::optional<GroupGuard> guard_;
};

}  // namespace halfulp::vectors
