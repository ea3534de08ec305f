// Memory of the thread shim: a buffer with canaries around it and a shadow word per element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "gpu_check/host/scheduler.hpp"

namespace halfulp::gpu::host {

/// Who touched one element last. Readers are kept so that a later write that no barrier orders after *some* reader finds
/// one that proves it: a reader, one of its warp, one of another warp, one of another block.
struct Shadow {
  Access write;
  Access reader, same_warp, other_warp, other_block;
};

/// Who can reach a memory: one block, or all.
enum class Scope : std::uint8_t { block, grid };

class Memory {
 public:
  /// Filled with 0xff bytes: NaN in every floating format that has one.
  Memory(std::string name, std::size_t count, std::size_t element_bytes, Scope scope = Scope::grid);

  const std::string& name() const { return name_; }
  std::size_t count() const { return shadow_.size(); }
  std::size_t bytes() const { return count() * element_bytes_; }
  std::byte* data() { return bytes_.data() + kGuard; }
  const std::byte* data() const { return bytes_.data() + kGuard; }

  /// Contents given by the host count as written.
  void set_initialised() { initialised_ = true; }
  /// Forgets all accesses, before a launch.
  void forget_accesses();
  /// False after a report when `index` is outside. While blocks run at the same time, accesses to memory of the grid are
  /// checked for nothing else.
  bool check_read(std::size_t index);
  bool check_write(std::size_t index, bool atomic);
  /// Held around an atomic: locks where another CPU thread may reach the word.
  std::unique_lock<std::mutex> atomic_lock() const;
  /// Reports bytes beside the buffer that changed, and mends them.
  void check_canaries(Faults& faults);

 private:
  static constexpr std::size_t kGuard = 256;
  bool is_shadowed() const { return scope_ == Scope::block || !blocks_are_concurrent(); }
  bool in_range(std::size_t index, const char* what) const;
  void report_race(std::size_t index, const Access& before, const char* was, const Access& now, const char* is) const;

  std::string name_;
  std::size_t element_bytes_;
  Scope scope_;
  std::vector<std::byte> bytes_;
  std::vector<Shadow> shadow_;
  bool initialised_ = false;
};

}  // namespace halfulp::gpu::host
