// Barriers of a block: who waits, who may go on, and what it means when nobody may.
#include <algorithm>
#include <cstring>

#include "gpu_check/host/block.hpp"

namespace halfulp::gpu::host {
namespace {

/// "0-3, 7": thread numbers for which `chosen` holds.
template <class Chosen>
std::string thread_list(const Block& block, Chosen chosen) {
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

bool same_place(const Where& a, const Where& b) { return a.line == b.line && std::strcmp(a.file, b.file) == 0; }

/// True when every thread of the block waits at one block barrier; they are then let go.
bool release_block(Block& block) {
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
bool release_warp(Block& block, unsigned warp) {
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

void wait(State state, const Where& where) {
  Block& block = this_block();
  block.fiber().state = state;
  block.fiber().where = where;
  block.fiber().context.switch_to(block.scheduler);
}

}  // namespace

bool release_barriers(Block& block) {
  bool released = release_block(block);
  for (unsigned warp = 0; warp * kWarp < block.threads; ++warp) released = release_warp(block, warp) || released;
  return released;
}

std::string divergence_of(const Block& block) {
  const auto end = block.fibers.begin() + block.threads;
  const Fiber& first = *std::find_if(block.fibers.begin(), end, [](const Fiber& f) { return f.state == State::at_block_barrier || f.state == State::at_warp_barrier; });
  const auto waits_there = [&first](const Fiber& f) { return f.state == first.state && same_place(f.where, first.where); };
  const auto ended = [](const Fiber& f) { return f.state == State::done; };
  const auto elsewhere = [&](const Fiber& f) { return !ended(f) && !waits_there(f); };
  return "block " + std::to_string(blockIdx.x) + ": threads " + thread_list(block, waits_there) + " wait at the " +
         (first.state == State::at_block_barrier ? "block" : "warp") + " barrier of " + first.where.text() + "; ended: " + thread_list(block, ended) +
         "; at another barrier: " + thread_list(block, elsewhere);
}

void wait_for_block(const Where& where) { wait(State::at_block_barrier, where); }

void wait_for_warp(unsigned mask, bool order_memory, const Where& where) {
  Fiber& fiber = this_block().fiber();
  fiber.mask = mask;
  fiber.orders_memory = order_memory;
  wait(State::at_warp_barrier, where);
}

}  // namespace halfulp::gpu::host
