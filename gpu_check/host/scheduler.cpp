#include "gpu_check/host/scheduler.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "gpu_check/host/memory.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define HALFULP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALFULP_ASAN 1
#endif
#endif
#ifdef HALFULP_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace halfulp::gpu {

thread_local Index threadIdx, blockIdx, blockDim, gridDim;

namespace host {
namespace {

#ifdef HALFULP_ASAN
constexpr std::size_t kStackBytes = 1024 * 1024;  // red zones take room
#else
constexpr std::size_t kStackBytes = 256 * 1024;
#endif
constexpr unsigned kMaxThreads = 1024;
constexpr std::uint32_t kSharedAlignment = 128;

enum class State { ready, at_block_barrier, at_warp_barrier, done };

struct Context {
  ucontext_t context;
  jmp_buf jump;
  bool begun = false;  ///< `jump` is set
};

/// Leaves one context for another; returns when somebody comes back. Contexts begin by ucontext and go on by jumps, which
/// make no system call; AddressSanitizer follows ucontext only.
[[gnu::noinline]] void switch_to(Context& from, Context& to) {
#ifdef HALFULP_ASAN
  swapcontext(&from.context, &to.context);
#else
  from.begun = true;
  if (_setjmp(from.jump) != 0) return;
  if (to.begun) _longjmp(to.jump, 1);
  setcontext(&to.context);
#endif
}

struct Fiber : Context {
  std::unique_ptr<std::byte[]> stack;
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

/// The block that runs on this CPU thread.
struct Block {
  Context scheduler;
  std::vector<Fiber> fibers;
  unsigned threads = 0, running = 0;
  const std::function<void()>* body = nullptr;
  Faults* faults = nullptr;
  std::vector<SharedArray> shared;
  std::vector<std::array<std::byte, kLaneBytes>> lanes;
  void* scheduler_fake_stack = nullptr;
  const void* scheduler_stack = nullptr;
  std::size_t scheduler_stack_bytes = 0;
};
thread_local Block block;

// AddressSanitizer wants to be told when the stack changes.
void before_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* stack, [[maybe_unused]] std::size_t bytes) {
#ifdef HALFULP_ASAN
  __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
#endif
}
void after_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] bool from_scheduler) {
#ifdef HALFULP_ASAN
  if (from_scheduler) {
    __sanitizer_finish_switch_fiber(fake_stack, &block.scheduler_stack, &block.scheduler_stack_bytes);
  } else {
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
  }
#endif
}

void to_scheduler(bool for_good) {
  Fiber& fiber = block.fibers[block.running];
  void* fake_stack = nullptr;
  before_switch(for_good ? nullptr : &fake_stack, block.scheduler_stack, block.scheduler_stack_bytes);
  switch_to(fiber, block.scheduler);
  after_switch(fake_stack, true);
}

void fiber_main() {
  after_switch(nullptr, true);
  (*block.body)();
  block.fibers[block.running].state = State::done;
  to_scheduler(true);
}

void run_fiber(unsigned thread) {
  Fiber& fiber = block.fibers[thread];
  block.running = thread;
  threadIdx.x = thread;
  before_switch(&block.scheduler_fake_stack, fiber.stack.get(), kStackBytes);
  switch_to(block.scheduler, fiber);
  after_switch(block.scheduler_fake_stack, false);
}

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

/// "0-3, 7": thread numbers for which `chosen` holds.
template <class Chosen>
std::string thread_list(Chosen chosen) {
  std::string text;
  for (unsigned t = 0; t < block.threads; ++t) {
    if (!chosen(block.fibers[t])) continue;
    unsigned last = t;
    while (last + 1 < block.threads && chosen(block.fibers[last + 1])) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(t) + (last > t ? "-" + std::to_string(last) : "");
    t = last;
  }
  return text.empty() ? "none" : text;
}

std::string line_of(const Where& where) {
  const std::string file = where.file;
  return file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where.line);
}

bool same_place(const Where& a, const Where& b) {
  return a.line == b.line && std::strcmp(a.file, b.file) == 0;
}

void report_divergence() {
  const auto waiting = std::find_if(block.fibers.begin(), block.fibers.begin() + block.threads,
                                    [](const Fiber& f) { return f.state == State::at_block_barrier || f.state == State::at_warp_barrier; });
  const Fiber& first = *waiting;
  const auto waits_there = [&first](const Fiber& f) { return f.state == first.state && same_place(f.where, first.where); };
  std::string text = "block " + std::to_string(blockIdx.x) + ": threads " + thread_list(waits_there) + " wait at the " +
                     (first.state == State::at_block_barrier ? "block" : "warp") + " barrier of " + line_of(first.where) +
                     "; ended: " + thread_list([](const Fiber& f) { return f.state == State::done; });
  const auto elsewhere = [&](const Fiber& f) { return f.state != State::done && !waits_there(f); };
  text += "; at another barrier: " + thread_list(elsewhere);
  block.faults->add(FaultKind::divergence, text);
}

/// True when every thread of the block waits at one block barrier; they are then let go.
bool release_block() {
  const Fiber& first = block.fibers[0];
  for (unsigned t = 0; t < block.threads; ++t) {
    const Fiber& fiber = block.fibers[t];
    if (fiber.state != State::at_block_barrier || !same_place(fiber.where, first.where)) return false;
  }
  for (unsigned t = 0; t < block.threads; ++t) {
    Fiber& fiber = block.fibers[t];
    ++fiber.epoch;
    ++fiber.warp_epoch;
    fiber.state = State::ready;
  }
  return true;
}

/// The same for the lanes of one warp that name each other in their masks.
bool release_warp(unsigned warp) {
  bool released = false;
  for (unsigned lane = 0; lane < kWarp && warp * kWarp + lane < block.threads; ++lane) {
    const Fiber& leader = block.fibers[warp * kWarp + lane];
    if (leader.state != State::at_warp_barrier) continue;
    bool all = (leader.mask >> lane & 1) != 0;
    for (unsigned other = 0; other < kWarp && all; ++other) {
      if ((leader.mask >> other & 1) == 0) continue;
      const unsigned thread = warp * kWarp + other;
      all = thread < block.threads && block.fibers[thread].state == State::at_warp_barrier && block.fibers[thread].mask == leader.mask &&
            same_place(block.fibers[thread].where, leader.where);
    }
    if (!all) continue;
    const unsigned mask = leader.mask;
    for (unsigned other = 0; other < kWarp; ++other) {
      if ((mask >> other & 1) == 0) continue;
      Fiber& fiber = block.fibers[warp * kWarp + other];
      if (fiber.orders_memory) ++fiber.warp_epoch;
      fiber.state = State::ready;
    }
    released = true;
  }
  return released;
}

void run_block(const std::vector<unsigned>& order) {
  for (unsigned t = 0; t < block.threads; ++t) {
    Fiber& fiber = block.fibers[t];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    fiber.begun = false;
    fiber.state = State::ready;
    fiber.epoch = fiber.warp_epoch = 0;
    makecontext(&fiber.context, fiber_main, 0);
  }
  for (;;) {
    bool ran = false;
    for (const unsigned t : order) {
      if (block.fibers[t].state != State::ready) continue;
      run_fiber(t);
      ran = true;
    }
    bool released = release_block();
    for (unsigned warp = 0; warp * kWarp < block.threads; ++warp) released = release_warp(warp) || released;
    const bool all_done = std::all_of(block.fibers.begin(), block.fibers.begin() + block.threads,
                                      [](const Fiber& f) { return f.state == State::done; });
    if (all_done) return;
    if (!ran && !released) return report_divergence();
  }
}

constexpr RunOrder kOrders[] = {{Order::forward, Order::forward},
                                {Order::reverse, Order::reverse},
                                {Order::permuted, Order::forward, 0x5eed1},
                                {Order::permuted, Order::reverse, 0x5eed2}};

}  // namespace

std::string Access::text() const { return "thread " + std::to_string(thread) + " of block " + std::to_string(block); }

std::span<const RunOrder> run_orders() { return kOrders; }

void run_grid(unsigned blocks, unsigned threads, const RunOrder& order, const std::function<void()>& body, Faults& faults) {
  if (threads == 0 || threads > kMaxThreads || blocks == 0) throw std::invalid_argument("a launch needs 1..1024 threads and some blocks");
  block.threads = threads;
  block.body = &body;
  block.faults = &faults;
  blockDim.x = threads;
  gridDim.x = blocks;
  if (block.fibers.size() < threads) block.fibers.resize(threads);
  for (Fiber& fiber : block.fibers) {
    if (!fiber.stack) fiber.stack.reset(new std::byte[kStackBytes]);
  }
  block.lanes.resize((threads + kWarp - 1) / kWarp * kWarp);
  const std::vector<unsigned> thread_order = sequence(threads, order.threads, order.seed);
  for (const unsigned b : sequence(blocks, order.blocks, order.seed)) {
    blockIdx.x = b;
    block.shared.clear();
    run_block(thread_order);
    for (const SharedArray& array : block.shared) array.memory->check_canaries(faults);
  }
  block.shared.clear();
}

Access current_access(bool atomic) {
  const Fiber& fiber = block.fibers[block.running];
  return {blockIdx.x, block.running, fiber.epoch, fiber.warp_epoch, atomic};
}

void report(FaultKind kind, std::string text) { block.faults->add(kind, std::move(text)); }

void wait_for_block(const Where& where) {
  Fiber& fiber = block.fibers[block.running];
  fiber.state = State::at_block_barrier;
  fiber.where = where;
  to_scheduler(false);
}

void wait_for_warp(unsigned mask, bool order_memory, const Where& where) {
  Fiber& fiber = block.fibers[block.running];
  fiber.state = State::at_warp_barrier;
  fiber.mask = mask;
  fiber.orders_memory = order_memory;
  fiber.where = where;
  to_scheduler(false);
}

std::byte* lane_bytes(unsigned lane) { return block.lanes[block.running / kWarp * kWarp + lane].data(); }

Memory& shared_memory(const char* name, std::size_t count, std::size_t element_bytes) {
  for (const SharedArray& array : block.shared) {
    if (array.name == name) return *array.memory;
  }
  std::uint32_t address = 0;
  if (!block.shared.empty()) {
    const SharedArray& last = block.shared.back();
    address = last.address + static_cast<std::uint32_t>(last.memory->bytes());
    address = (address + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
  }
  block.shared.push_back({name, std::make_unique<Memory>(std::string("shared array ") + name, count, element_bytes), address});
  return *block.shared.back().memory;
}

Memory* shared_memory_at(std::uint32_t address, std::uint32_t& first_byte) {
  for (const SharedArray& array : block.shared) {
    if (address < array.address || address - array.address >= array.memory->bytes()) continue;
    first_byte = array.address;
    return array.memory.get();
  }
  return nullptr;
}

std::uint32_t shared_address_of(const Memory& memory) {
  for (const SharedArray& array : block.shared) {
    if (array.memory.get() == &memory) return array.address;
  }
  throw std::logic_error("not an array of this block");
}

}  // namespace host
}  // namespace halfulp::gpu
