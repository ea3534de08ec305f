#include "gpu_check/host/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "gpu_check/host/block.hpp"
#include "gpu_check/host/workers.hpp"

namespace halfulp::gpu::host {
namespace {

constexpr unsigned kMaxThreads = 1024;

constexpr RunOrder kOrders[] = {{Order::forward, Order::forward},
                                {Order::reverse, Order::reverse},
                                {Order::permuted, Order::forward, 0x5eed1},
                                {Order::permuted, Order::reverse, 0x5eed2}};

std::uint64_t mixed(std::uint64_t x) {  // SplitMix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

std::vector<unsigned> sequence(unsigned count, Order order, std::uint64_t seed) {
  std::vector<unsigned> all(count);
  std::iota(all.begin(), all.end(), 0u);
  if (order == Order::reverse) std::reverse(all.begin(), all.end());
  if (order == Order::permuted) {
    for (unsigned i = count; i > 1; --i) std::swap(all[i - 1], all[mixed(seed + i) % i]);
  }
  return all;
}

void fiber_main() {
  Block& block = this_block();
  (*block.body)();
  block.fiber().state = State::done;
  block.fiber().context.leave_for_good(block.scheduler);
}

void run_fiber(Block& block, unsigned thread) {
  block.running = thread;
  threadIdx.x = thread;
  block.scheduler.switch_to(block.fibers[thread].context);
}

void run_block(Block& block, unsigned number, const std::vector<unsigned>& order) {
  blockIdx.x = number;
  block.shared.clear();
  block.tensor = {};
  for (unsigned t = 0; t < block.threads; ++t) {
    Fiber& fiber = block.fibers[t];
    fiber.context.begin_at(fiber_main);
    fiber.state = State::ready;
    fiber.epoch = fiber.warp_epoch = 0;
  }
  const auto end = block.fibers.begin() + block.threads;
  bool ended = true;
  while (std::any_of(block.fibers.begin(), end, [](const Fiber& f) { return f.state != State::done; })) {
    bool ran = false;
    for (const unsigned t : order) {
      if (block.fibers[t].state != State::ready) continue;
      run_fiber(block, t);
      ran = true;
    }
    if (!release_barriers(block) && !ran) {
      block.faults->add(FaultKind::divergence, divergence_of(block));
      ended = false;
      break;
    }
  }
  if (ended) block.tensor.end(*block.faults);
  for (const SharedArray& array : block.shared) array.memory->check_canaries(*block.faults);
  block.shared.clear();
}

}  // namespace

std::span<const RunOrder> run_orders() { return kOrders; }

void run_grid(unsigned blocks, unsigned threads, const RunOrder& order, const std::function<void()>& body, Faults& faults) {
  if (threads == 0 || threads > kMaxThreads || blocks == 0) throw std::invalid_argument("a launch needs 1..1024 threads and some blocks");
  const std::vector<unsigned> thread_order = sequence(threads, order.threads, order.seed), block_order = sequence(blocks, order.blocks, order.seed);
  std::atomic<unsigned> next{0};
  const auto take_blocks = [&](Faults& found) {
    Block& block = this_block();
    block.threads = threads;
    block.concurrent = order.cpu_threads > 1;
    block.body = &body;
    block.faults = &found;
    while (block.fibers.size() < threads) block.fibers.emplace_back();
    block.lanes.resize((threads + kWarp - 1) / kWarp * kWarp);
    blockDim.x = threads;
    gridDim.x = blocks;
    for (unsigned i = next++; i < blocks; i = next++) run_block(block, block_order[i], thread_order);
  };
  if (order.cpu_threads == 1) return take_blocks(faults);
  std::vector<Faults> found(order.cpu_threads);
  on_cpu_threads(order.cpu_threads, [&](unsigned thread) { take_blocks(found[thread]); });
  for (const Faults& each : found) faults.add(each);
}

}  // namespace halfulp::gpu::host
