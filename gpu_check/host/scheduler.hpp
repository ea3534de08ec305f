// The thread shim: every CUDA thread of a block is a fiber of one CPU thread. A fiber runs until it waits at a barrier; when
// all have arrived, all go on. The order in which fibers run is a parameter, so a kernel's result can be compared between
// orders, and every access can be asked whether a barrier orders it after the one before. Blocks run one after the other, or
// on several CPU threads at a time; then global memory has no such answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu_check/host/faults.hpp"

namespace halfulp::gpu {

inline constexpr unsigned kWarp = 32;

struct Index {
  unsigned x = 0;
};
/// Of the running fiber; set at every switch.
extern thread_local Index threadIdx, blockIdx, blockDim, gridDim;

}  // namespace halfulp::gpu

namespace halfulp::gpu::host {

class Memory;

/// One access, as the shadow memory keeps it.
struct Access {
  static constexpr std::uint32_t kNobody = 0xffffffff;
  std::uint32_t block = kNobody, thread = 0;
  std::uint32_t epoch = 0;       ///< block barriers passed
  std::uint32_t warp_epoch = 0;  ///< __syncwarp passed, block barriers counted too
  bool atomic = false;

  bool exists() const { return block != kNobody; }
  /// True when a barrier, or being one thread, puts this access before `later`.
  bool ordered_before(const Access& later) const {
    if (block != later.block) return false;
    if (thread == later.thread || epoch < later.epoch) return true;
    return thread / kWarp == later.thread / kWarp && warp_epoch < later.warp_epoch;
  }
  /// "thread 5 of block 0".
  std::string text() const;
};

/// A line of a kernel, by __builtin_FILE() and __builtin_LINE() at the call.
struct Where {
  const char* file = "";
  int line = 0;

  /// "sweep.cuh:12".
  std::string text() const;
};

/// Order in which threads of a block, and blocks of a grid, are run.
enum class Order { forward, reverse, permuted };
struct RunOrder {
  Order threads = Order::forward;
  Order blocks = Order::forward;
  std::uint64_t seed = 1;
  unsigned cpu_threads = 1;  ///< that run blocks at the same time
};
/// Forward, reverse and two permutations of the threads; blocks forward and in reverse.
std::span<const RunOrder> run_orders();
/// Blocks on four CPU threads.
inline constexpr RunOrder kConcurrent{Order::forward, Order::forward, 1, 4};

/// Runs `body` once for every thread of the grid. Faults are added to `faults`; after a divergence the rest of the block is
/// left out.
void run_grid(unsigned blocks, unsigned threads, const RunOrder& order, const std::function<void()>& body, Faults& faults);

/// For the running fiber; only inside run_grid.
Access current_access(bool atomic = false);
bool blocks_are_concurrent();
void report(FaultKind kind, std::string text);
void wait_for_block(const Where& where);
/// `order_memory`: as __syncwarp; a shuffle only exchanges registers.
void wait_for_warp(unsigned mask, bool order_memory, const Where& where);
/// 256 bytes of a lane of the running fiber's warp, for exchanges between two wait_for_warp.
inline constexpr std::size_t kLaneBytes = 256;
std::byte* lane_bytes(unsigned lane);
/// Shared memory of the running block: the array of that name, made by the first thread that asks.
Memory& shared_memory(const char* name, std::size_t count, std::size_t element_bytes);
/// The array of the block that holds a byte address, and the address of its first byte; nullptr if none.
Memory* shared_memory_at(std::uint32_t address, std::uint32_t& first_byte);
std::uint32_t shared_address_of(const Memory& memory);

}  // namespace halfulp::gpu::host
