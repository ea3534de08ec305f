// Signals while files are written: what was begun is removed, then the signal does its work.
#pragma once

#include <csignal>

namespace halfulp::tool {

/// Thrown by throw_if_interrupted(); no std::exception, so that nothing on the way takes it for an error.
struct Interrupted {
  int signal;
};

inline volatile std::sig_atomic_t interrupted_by = 0;

inline void throw_if_interrupted() {
  if (interrupted_by != 0) throw Interrupted{interrupted_by};
}

/// Catches the signals that end a command from outside while it lives. One that was ignored stays ignored (`nohup`, a job
/// in the background).
class CaughtSignals {
 public:
  CaughtSignals() {
    struct sigaction caught {};
    caught.sa_handler = [](int number) { interrupted_by = number; };
    sigemptyset(&caught.sa_mask);
    for (int i = 0; i < kCount; ++i) {
      sigaction(kSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &caught, nullptr);
    }
  }
  ~CaughtSignals() {
    for (int i = 0; i < kCount; ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

 private:
  static constexpr int kCount = 5;
  static constexpr int kSignals[kCount] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
  struct sigaction before_[kCount] = {};
};

/// Holds the same signals back in this thread while it lives: for files that are written in one go, from memory. No other
/// thread may run.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

/// Raises a signal with what it does by default; for a shell the status is 128 + signal.
inline int end_by(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  return 128 + signal;
}

/// Runs `work`. A signal that throw_if_interrupted() notices, or that made a write fail (a reader that went away), is raised
/// again after the files of `work` are removed; one that comes too late to stop it is not.
template <class Work>
int run_interruptible(const Work& work) {
  try {
    const CaughtSignals caught;
    return work();
  } catch (const Interrupted& stop) {
    return end_by(stop.signal);
  } catch (...) {
    if (interrupted_by == 0) throw;
    return end_by(interrupted_by);
  }
}

}  // namespace halfulp::tool
