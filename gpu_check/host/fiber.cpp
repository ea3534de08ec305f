#include "gpu_check/host/fiber.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALFULP_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define HALFULP_TSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define HALFULP_ASAN
#endif
#if defined(__SANITIZE_THREAD__)
#define HALFULP_TSAN
#endif
#ifdef HALFULP_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef HALFULP_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace halfulp::gpu::host {
namespace {

#if defined(HALFULP_ASAN) || defined(HALFULP_TSAN)
constexpr std::size_t kStackBytes = 1024 * 1024;  // red zones take room
#else
constexpr std::size_t kStackBytes = 256 * 1024;
#endif

/// Of the last switch on this CPU thread.
thread_local Context *left = nullptr, *entered = nullptr;

}  // namespace

Context::~Context() {
#ifdef HALFULP_TSAN
  if (stack_ && watched_ != nullptr) __tsan_destroy_fiber(watched_);
#endif
}

void Context::begin_at(void (*entry)()) {
  if (!stack_) stack_.reset(new std::byte[kStackBytes]);
  stack_begin_ = stack_.get();
  stack_bytes_ = kStackBytes;
  entry_ = entry;
  begun_ = false;
#ifdef HALFULP_TSAN
  if (watched_ != nullptr) __tsan_destroy_fiber(watched_);  // with the calls that it never returned from
  watched_ = __tsan_create_fiber(0);
#endif
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = kStackBytes;
  context_.uc_link = nullptr;
  makecontext(&context_, &Context::enter, 0);
}

void Context::enter() {
  entered->arrive(true);
  entered->entry_();
}

void Context::switch_to(Context& to) {
  leave(to, false);
  arrive(false);
}

void Context::leave_for_good(Context& to) { leave(to, true); }

// Contexts begin by ucontext and go on by jumps, which make no system call; the sanitizers follow ucontext only.
[[gnu::noinline]] void Context::leave(Context& to, [[maybe_unused]] bool for_good) {
  left = this;
  entered = &to;
#ifdef HALFULP_ASAN
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack_, to.stack_begin_, to.stack_bytes_);
#endif
#ifdef HALFULP_TSAN
  if (watched_ == nullptr) watched_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.watched_, 0);
#endif
#if defined(HALFULP_ASAN) || defined(HALFULP_TSAN)
  swapcontext(&context_, &to.context_);
#else
  begun_ = true;
  if (_setjmp(jump_) != 0) return;
  if (to.begun_) _longjmp(to.jump_, 1);
  setcontext(&to.context_);
#endif
}

void Context::arrive([[maybe_unused]] bool first) {
#ifdef HALFULP_ASAN
  __sanitizer_finish_switch_fiber(first ? nullptr : fake_stack_, &left->stack_begin_, &left->stack_bytes_);
#endif
}

}  // namespace halfulp::gpu::host
