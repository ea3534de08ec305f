// Ctrl-C and SIGTERM while files are written: what was begun is removed, then the signal does its work.
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

/// Runs `work` with both signals caught; after its files are removed the signal is raised again.
template <class Work>
int run_interruptible(const Work& work) {
  const auto catch_signal = [](int number) { interrupted_by = number; };
  std::signal(SIGINT, catch_signal);
  std::signal(SIGTERM, catch_signal);
  try {
    return work();
  } catch (const Interrupted& stop) {
    std::signal(stop.signal, SIG_DFL);
    std::raise(stop.signal);
    return 128 + stop.signal;
  }
}

}  // namespace halfulp::tool
