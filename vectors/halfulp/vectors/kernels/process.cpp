// Starting, watching and ending process groups; see process.hpp.
#include "halfulp/vectors/kernels/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "halfulp/vectors/implementation.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kSlots = 16;
constexpr int kPipeBytes = 1 << 20;
std::array<std::atomic<int>, kSlots> g_groups{};
static_assert(std::atomic<int>::is_always_lock_free);  // it is read in a signal handler

void end_groups(int signal_number) {
  for (const std::atomic<int>& group : g_groups) {
    if (const int id = group.load(); id > 0) kill(-id, SIGKILL);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/// Where the program has no handler of its own.
void catch_interrupts() {
  static const bool once = [] {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      struct sigaction now {};
      if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
      struct sigaction ours {};
      ours.sa_handler = end_groups;
      sigemptyset(&ours.sa_mask);
      sigaction(number, &ours, nullptr);
    }
    return true;
  }();
  (void)once;
}

/// Holds SIGPIPE back for a write by this thread.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;
  /// After EPIPE: takes the pending signal away.
  void discard() {
    const timespec none{};
    if (sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe_, nullptr, &none);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace

GroupGuard::GroupGuard(int group) : slot_(0) {
  catch_interrupts();
  for (; slot_ < kSlots; ++slot_) {
    int free = 0;
    if (g_groups[slot_].compare_exchange_strong(free, group)) return;
  }
  throw KernelFailure("too many commands at once");
}

GroupGuard::~GroupGuard() {
  g_groups[slot_] = 0;
}

bool wait_for_end(int pid, std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (auto pause = std::chrono::microseconds(50);;
       pause = std::min(2 * pause, std::chrono::microseconds(5000))) {
    siginfo_t state{};
    const int result = waitid(P_PID, static_cast<id_t>(pid), &state, WEXITED | WNOWAIT | WNOHANG);
    if (result == 0 && state.si_pid == pid) return true;
    if (result != 0 && errno != EINTR) return true;  // already reaped
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
  }
}

std::string status_text(int wait_status) {
  const auto signal_text = [](int number) {
    return "signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  };
  if (WIFSIGNALED(wait_status)) return signal_text(WTERMSIG(wait_status));
  const int status = WEXITSTATUS(wait_status);
  const std::string text = "exit status " + std::to_string(status);
  if (status == 127) return text + " (the shell found no such command)";
  if (status == 126) return text + " (the shell could not run it)";
  return status > 128 && status < 128 + 65 ? text + ", " + signal_text(status - 128) : text;
}

Process::Process(const std::string& command) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0) throw KernelFailure(std::string("no pipe: ") + std::strerror(errno));
  if (pipe2(out, O_CLOEXEC) != 0) {
    const int error = errno;
    for (const int file : in) close(file);
    throw KernelFailure(std::string("no pipe: ") + std::strerror(error));
  }
#ifdef F_SETPIPE_SZ
  fcntl(in[1], F_SETPIPE_SZ, kPipeBytes);
  fcntl(out[0], F_SETPIPE_SZ, kPipeBytes);
#endif
  const int parent = static_cast<int>(getpid());
  pid_ = fork();
  if (pid_ == 0) {  // only async-signal-safe calls from here to exec
    setpgid(0, 0);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before that
#else
    (void)parent;
#endif
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  const int error = errno;
  close(in[0]);
  close(out[1]);
  input_ = in[1];
  output_ = out[0];
  if (pid_ < 0) {
    close(input_);
    close(output_);
    throw KernelFailure(std::string("cannot start a shell: ") + std::strerror(error));
  }
  setpgid(pid_, pid_);  // both sides do it, so that the group exists whoever comes first
  guard_.emplace(pid_);
  for (const int file : {input_, output_}) fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
}

Process::~Process() {
  close_input();
  close(output_);
  kill_group();
  guard_.reset();
  waitpid(pid_, nullptr, 0);
}

void Process::close_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

long Process::write_some(std::span<const std::byte> bytes) {
  NoSigpipe guard;
  const ssize_t count = write(input_, bytes.data(), bytes.size());
  if (count >= 0) return static_cast<long>(count);
  if (errno == EAGAIN || errno == EINTR) return 0;
  if (errno == EPIPE) guard.discard();
  return -1;
}

std::optional<int> Process::wait(std::chrono::milliseconds timeout) {
  if (!wait_for_end(pid_, timeout)) return {};
  siginfo_t state{};
  waitid(P_PID, static_cast<id_t>(pid_), &state, WEXITED | WNOWAIT);
  // As waitpid() would give it; the group's leader stays a zombie until the group is killed.
  return state.si_code == CLD_EXITED ? (state.si_status & 0xff) << 8 : state.si_status & 0x7f;
}

void Process::kill_group() {
  kill(-pid_, SIGKILL);
}

}  // namespace halfulp::vectors
