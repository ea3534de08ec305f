// LibraryProcess: a forked process that loads a kernel library and runs jobs, one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "halfulp/vectors/kernels/library_host.hpp"
#include "halfulp/vectors/kernels/process.hpp"

namespace halfulp::vectors {

class LibraryProcess {
 public:
  /// Starts loading; what becomes of it is the first wait(). Throws KernelFailure.
  LibraryProcess(const std::string& path, const RowShape& shape, const JobMemory& memory);
  ~LibraryProcess();
  LibraryProcess(const LibraryProcess&) = delete;
  LibraryProcess& operator=(const LibraryProcess&) = delete;

  struct Reply {
    enum class Kind : std::uint8_t { answered, ended, timed_out };
    Kind kind;
    HostReply what = HostReply::done;
    int wait_status = 0;
    bool done() const { return kind == Kind::answered && what == HostReply::done; }
  };

  /// Asks for the job that lies in the memory.
  void request();
  Reply wait(std::chrono::milliseconds timeout);

 private:
  int pid_ = -1;
  int requests_ = -1;
  int replies_ = -1;
  bool reaped_ = false;
  std::optional<GroupGuard> guard_;
};

}  // namespace halfulp::vectors
