// A child process over a socket pair: sends do not raise SIGPIPE, and every wait has an end.
#include "halfulp/vectors/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "halfulp/vectors/implementation.hpp"

extern char** environ;

namespace halfulp::vectors {

Child::Child(const std::vector<std::string>& argv, std::chrono::seconds timeout) : timeout_(timeout) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw KernelFailure(std::string("no socket pair: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const int failed = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    throw KernelFailure("cannot start " + argv[0] + ": " + std::strerror(failed));
  }
  socket_ = ends[0];
}

Child::~Child() {
  close(socket_);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Child::wait_for(short events, std::size_t done, std::size_t wanted) {
  pollfd poller{socket_, events, 0};
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout_).count();
  int ready = 0;
  do {
    ready = poll(&poller, 1, static_cast<int>(milliseconds));
  } while (ready < 0 && errno == EINTR);
  if (ready > 0) return;
  throw KernelFailure("no answer within " + std::to_string(timeout_.count()) + " s (" +
                      std::to_string(done) + " of " + std::to_string(wanted) + " bytes)");
}

void Child::exchange(std::span<const std::byte> frame, std::span<std::byte> answer) {
  for (std::size_t sent = 0; sent < frame.size();) {
    wait_for(POLLOUT, sent, frame.size());
    const ssize_t n = send(socket_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0)
      sent += static_cast<std::size_t>(n);
    else if (errno != EAGAIN && errno != EINTR)
      throw KernelFailure("it ended before it had read its input");
  }
  for (std::size_t got = 0; got < answer.size();) {
    wait_for(POLLIN, got, answer.size());
    const ssize_t n = recv(socket_, answer.data() + got, answer.size() - got, MSG_DONTWAIT);
    if (n > 0)
      got += static_cast<std::size_t>(n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      throw KernelFailure("short answer: " + std::to_string(got) + " of " + std::to_string(answer.size()) +
                          " bytes");
    }
  }
}

std::string Child::read_all() {
  shutdown(socket_, SHUT_WR);
  std::string text;
  constexpr std::size_t kMost = 65536;  // an interpreter that is none may talk for ever
  const auto end = std::chrono::steady_clock::now() + timeout_;
  for (char buffer[4096];;) {
    if (text.size() > kMost || std::chrono::steady_clock::now() > end) throw KernelFailure("it does not stop talking");
    wait_for(POLLIN, text.size(), text.size() + 1);
    const ssize_t n = recv(socket_, buffer, sizeof buffer, 0);
    if (n > 0)
      text.append(buffer, static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      return text;
  }
}

}  // namespace halfulp::vectors
