// Fibers: several stacks on one CPU thread, left and entered by hand.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace halfulp::gpu::host {

/// Where a CPU thread, or a fiber of it, goes on when somebody switches to it. It stays on the CPU thread that made it.
class Context {
 public:
  Context() = default;
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// The next switch to it calls `entry` on a stack of its own. `entry` must end in leave_for_good().
  void begin_at(void (*entry)());
  /// Leaves this context, which is the running one; returns when somebody comes back.
  void switch_to(Context& to);
  void leave_for_good(Context& to);

 private:
  static void enter();
  void leave(Context& to, bool for_good);
  void arrive(bool first);

  ucontext_t context_;
  [[maybe_unused]] jmp_buf jump_;
  [[maybe_unused]] bool begun_ = false;  ///< `jump_` is set
  void (*entry_)() = nullptr;
  std::unique_ptr<std::byte[]> stack_;
  /// What the sanitizers are told about a stack.
  const void* stack_begin_ = nullptr;
  std::size_t stack_bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* watched_ = nullptr;
};

}  // namespace halfulp::gpu::host
