// The block that runs on this CPU thread: its fibers, its barriers, its shared arrays. For the shim's own sources.
#pragma once

#include <array>
#include <deque>

#include "gpu_check/host/fiber.hpp"
#include "gpu_check/host/memory.hpp"
#include "gpu_check/host/tensor_unit.hpp"

namespace halfulp::gpu::host {

enum class State { ready, at_block_barrier, at_warp_barrier, done };

struct Fiber {
  Context context;
  State state = State::done;
  std::uint32_t epoch = 0, warp_epoch = 0;
  unsigned mask = 0;
  bool orders_memory = false;
  Where where;
};

struct SharedArray {
  std::string name;
  std::unique_ptr<Memory> memory;
  std::uint32_t address;
};

struct Block {
  Context scheduler;
  std::deque<Fiber> fibers;  ///< the first `threads` are in use; a fiber keeps its place
  unsigned threads = 0, running = 0;
  bool concurrent = false;  ///< other blocks run at the same time on other CPU threads
  const std::function<void()>* body = nullptr;
  Faults* faults = nullptr;
  std::vector<SharedArray> shared;
  TensorUnit tensor;
  std::vector<std::array<std::byte, kLaneBytes>> lanes;

  Fiber& fiber() { return fibers[running]; }
};

/// Of this CPU thread.
Block& this_block();

/// Lets threads go on whose barrier is complete. False when there are none.
bool release_barriers(Block& block);
/// Who waits where, and who has ended, of a block in which nobody can go on.
std::string divergence_of(const Block& block);

}  // namespace halfulp::gpu::host
