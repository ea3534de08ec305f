// LibraryJobs: some rows of a job through the process of a library, which is started when there is none.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "halfulp/vectors/kernels/library.hpp"
#include "halfulp/vectors/kernels/library_process.hpp"

namespace halfulp::vectors {

inline constexpr std::byte kFirstFiller{0x5a};  ///< of output bytes before a run; the second run has another
inline constexpr std::byte kSecondFiller{0xa5};

class LibraryJobs {
 public:
  /// Loads the library. Throws InputError when it is none for these rows, KernelFailure when it crashes or hangs.
  LibraryJobs(std::string path, RowShape shape, const LibraryOptions& options);

  const RowShape& shape() const { return shape_; }
  const JobMemory& memory() const { return memory_; }
  const std::string& name() const { return name_; }  ///< what the library calls itself

  /// Rows `begin` … of the job, at most memory().most_rows(). A process that does not answer within the
  /// time is ended.
  LibraryProcess::Reply run(const RowJob& job, std::uint64_t begin, std::uint64_t rows, std::byte filler,
                            std::chrono::milliseconds timeout);
  /// Copies the answers of the last run to the job.
  void take(const RowJob& job, std::uint64_t begin, std::uint64_t rows) const;
  /// The longest time that an answered run took.
  std::chrono::milliseconds longest() const { return longest_; }

 private:
  void start();

  std::string path_;
  RowShape shape_;
  LibraryOptions options_;
  JobMemory memory_;
  std::optional<LibraryProcess> process_;
  std::string name_;
  std::chrono::milliseconds longest_{0};
};

}  // namespace halfulp::vectors
