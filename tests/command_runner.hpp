// Runs the built `halfulp` command as a user does: arguments, standard input, and what comes back.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

namespace command {

struct Result {
  int status = -1;  ///< exit status; 128 + signal
  std::string out;
  std::string error;
};

/// A running command with pipes at its three standard files.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments,
                   const std::string& program = HALFULP_COMMAND) {
    signal(SIGPIPE, SIG_IGN);  // a child that does not read must not end the test
    int in[2];
    int out[2];
    int error[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0)
      std::abort();
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      signal(SIGPIPE, SIG_DFL);
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(error[1], 2);
      execv(program.c_str(), argv.data());
      _exit(127);
    }
    for (const int file : {in[0], out[1], error[1]}) close(file);
    in_ = in[1];
    out_ = out[0];
    error_ = error[0];
  }
  ~Process() {
    for (const int file : {in_, out_, error_}) {
      if (file >= 0) close(file);
    }
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void write_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = write(in_, text.data(), text.size());
      if (count <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void send_signal(int number) const { kill(pid_, number); }

  /// What standard output holds within `milliseconds`, up to and including the next line end.
  std::string read_line(int milliseconds) {
    std::string line;
    char c = 0;
    for (pollfd ready = {out_, POLLIN, 0}; poll(&ready, 1, milliseconds) > 0 && read(out_, &c, 1) == 1;) {
      line += c;
      if (c == '\n') break;
    }
    return line;
  }

  /// Feeds `input` while reading, so that neither side waits for ever; then waits for the end.
  Result finish(std::string_view input) {
    Result result;
    fcntl(in_, F_SETFL, O_NONBLOCK);
    char buffer[65536];
    bool out_open = true;
    bool error_open = true;
    while (out_open || error_open) {
      if (input.empty() && in_ >= 0) {
        close(in_);
        in_ = -1;
      }
      pollfd files[3] = {
          {out_open ? out_ : -1, POLLIN, 0}, {error_open ? error_ : -1, POLLIN, 0}, {in_, POLLOUT, 0}};
      if (poll(files, 3, -1) < 0) break;
      if (files[0].revents != 0) out_open = append(out_, buffer, sizeof buffer, result.out);
      if (files[1].revents != 0) error_open = append(error_, buffer, sizeof buffer, result.error);
      if (in_ >= 0 && files[2].revents != 0) {
        const ssize_t count = write(in_, input.data(), input.size());
        if (count < 0 && errno != EAGAIN)
          input = {};
        else if (count > 0)
          input.remove_prefix(static_cast<std::size_t>(count));
      }
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }

 private:
  static bool append(int file, char* buffer, std::size_t size, std::string& text) {
    const ssize_t count = read(file, buffer, size);
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
    return count > 0;
  }

  pid_t pid_ = -1;
  int in_ = -1;
  int out_ = -1;
  int error_ = -1;
};

inline Result run(const std::vector<std::string>& arguments, std::string_view input = {}) {
  return Process(arguments).finish(input);
}

/// Runs a shell command in which `halfulp` is the built command.
inline Result run_shell(const std::string& text) {
  const std::string path(HALFULP_COMMAND);
  const std::string folder = path.substr(0, path.rfind('/'));
  return Process({"-c", "PATH='" + folder + "':\"$PATH\"; " + text}, "/bin/sh").finish({});
}

/// Arguments separated by blanks.
inline std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    if (blank != 0) words.emplace_back(text.substr(0, blank));
    text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
  }
  return words;
}

/// One error line in the form `halfulp: error: WHAT: WHY; HOW TO MEND`, and nothing else.
inline void expect_one_error_line(const std::string& text) {
  EXPECT_EQ(text.rfind("halfulp: error: ", 0), 0u) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
  EXPECT_NE(text.find(": ", 16), std::string::npos) << text;
  EXPECT_NE(text.find("; "), std::string::npos) << text;
}

}  // namespace command
