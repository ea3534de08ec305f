// Child: a process that answers frames of bytes on its standard input with bytes on its standard output.
//
// Decides: what a crash, a hang and a short answer are. Nothing here waits longer than the time-out.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halfulp::vectors {

class Child {
 public:
  /// Starts argv[0], looked up in PATH, with both streams connected. Throws KernelFailure when that fails.
  explicit Child(const std::vector<std::string>& argv,
                 std::chrono::seconds timeout = std::chrono::seconds(60));
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends all of `frame`, then receives exactly answer.size() bytes. Throws KernelFailure.
  void exchange(std::span<const std::byte> frame, std::span<std::byte> answer);
  /// Closes the child's input and returns all that it still writes.
  std::string read_all();

 private:
  /// Waits until the socket can be read (or written); throws on time-out.
  void wait_for(short events, std::size_t done, std::size_t wanted);

  int socket_ = -1;
  int pid_ = -1;
  std::chrono::seconds timeout_;
};

}  // namespace halfulp::vectors
