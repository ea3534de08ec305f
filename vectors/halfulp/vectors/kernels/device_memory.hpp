// DeviceMemory: the columns of a job in GPU memory, for libraries that take device pointers. Uses the CUDA driver through its
// library, so that nothing need be linked; pointers belong to the primary context, which CUDA's runtime uses too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halfulp::vectors {

class DeviceMemory {
 public:
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Why there is no device memory here; empty when there is.
  const std::string& missing() const { return missing_; }
  /// Copies a column to the device, with a pattern on either side. Returns its device pointer.
  /// Throws std::runtime_error, as all below do.
  void* put(const std::string& name, std::span<const std::byte> data);
  /// Waits for the device, then copies back column `index`, in the order of put(). Names the column when bytes beside it were overwritten.
  void get(std::size_t index, std::span<std::byte> data);
  /// Frees all columns.
  void clear();

 private:
  static constexpr std::size_t kGuard = 256;
  using Pointer = unsigned long long;
  struct Column {
    std::string name;
    Pointer base;
  };
  template <class... Arguments>
  void call(const char* function, Arguments... arguments) const;

  void* library_ = nullptr;
  std::string missing_;
  std::vector<Column> columns_;
};

}  // namespace halfulp::vectors
