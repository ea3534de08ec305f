// DefaultFloatModes: round to nearest even, no flushing, no traps, while it lives; then the thread's modes and flags as
// they were. The f32 kernel rounds with one float addition, so the caller's modes must not reach it.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace halfulp::detail {

class DefaultFloatModes {
 public:
#if defined(__SSE2__)
  DefaultFloatModes() : saved_(_mm_getcsr()) {
    if ((saved_ & ~kFlags) != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloatModes() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }
#else
  DefaultFloatModes() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatModes() { std::fesetenv(&saved_); }
#endif
  DefaultFloatModes(const DefaultFloatModes&) = delete;
  DefaultFloatModes& operator=(const DefaultFloatModes&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned kFlags = 0x3f;      // MXCSR: exception flags
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, nearest even, no FTZ, no DAZ
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace halfulp::detail
