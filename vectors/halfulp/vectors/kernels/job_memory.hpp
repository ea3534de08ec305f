// JobMemory: the columns of a job in memory shared with the process that runs it, between pages that may
// not be touched.
//
// Decides: what writing out of bounds is. Every column begins on 64 bytes and ends less than 64 bytes
// before a guard page; the bytes between hold a pattern that is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {

/// What the process that runs jobs says of itself, and the job that it is given. In shared memory.
struct JobControl {
  static constexpr std::size_t kText = 1024;
  enum class Fault : std::uint32_t { none, input_written, output_overrun };
  Fault fault = Fault::none;       ///< set by the signal handler, or when columns come back from a device
  std::uint32_t fault_column = 0;  ///< of the inputs or outputs
  std::int32_t error = 0;          ///< of the last job
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
  char text[kText] = {};  ///< name or reason
};

class JobMemory {
 public:
  /// Room for `most_rows` rows of every column. Throws KernelFailure.
  JobMemory(const RowShape& shape, std::uint64_t most_rows);
  ~JobMemory();
  JobMemory(const JobMemory&) = delete;
  JobMemory& operator=(const JobMemory&) = delete;

  JobControl& control() const { return *control_; }
  std::uint64_t most_rows() const { return most_rows_; }
  std::span<std::byte> input(std::size_t column, std::uint64_t rows) const {
    return place(inputs_[column], rows);
  }
  std::span<std::byte> output(std::size_t column, std::uint64_t rows) const {
    return place(outputs_[column], rows);
  }

  /// Puts `filler` into the outputs and a pattern that depends on it around them, for a job of that many
  /// rows. Complementary fillers have complementary patterns.
  void prepare(std::uint64_t rows, std::byte filler);
  /// Names an output whose surroundings have changed; empty if none has.
  std::string overrun(std::uint64_t rows) const;
  /// In the process that runs jobs: makes the inputs read-only there.
  void protect_inputs() const;
  /// What a fault at that address is. Async-signal-safe.
  void note_fault(const void* address) const;

 private:
  struct Region {
    std::byte* begin = nullptr;  ///< whole pages, guard pages before and behind
    std::size_t bytes = 0;
    std::size_t row_bytes = 0;
    std::string name;
  };
  static std::span<std::byte> place(const Region& region, std::uint64_t rows);

  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::uint64_t most_rows_;
  JobControl* control_ = nullptr;
  std::byte around_{};  ///< the pattern of the last prepare()
  std::vector<Region> inputs_;
  std::vector<Region> outputs_;
};

}  // namespace halfulp::vectors
