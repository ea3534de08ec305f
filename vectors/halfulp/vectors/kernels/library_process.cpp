// Pipes to and from the process of a library; see library_process.hpp.
#include "halfulp/vectors/kernels/library_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {

LibraryProcess::LibraryProcess(const std::string& path, const RowShape& shape, const JobMemory& memory) {
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

LibraryProcess::~LibraryProcess() {
  close(requests_);
  close(replies_);
  kill(-pid_, SIGKILL);
  guard_.reset();
  if (!reaped_) waitpid(pid_, nullptr, 0);
}

void LibraryProcess::request() {
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

LibraryProcess::Reply LibraryProcess::wait(std::chrono::milliseconds timeout) {
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

}  // namespace halfulp::vectors
