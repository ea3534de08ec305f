#include "floor.hpp"

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "floor.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace halfulp::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The floors prefetch as the engine does, across pages; without it they would not be the bound that they stand for.
constexpr std::size_t kAhead = 8192;

HWY_INLINE void prefetch(const std::uint8_t* in, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(in) + kAhead;
  for (std::size_t line = 0; line < bytes; line += 64) hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(address + line));
}

void narrow(const std::uint32_t* in, std::size_t count, std::uint8_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(in);
  for (std::size_t i = 0; i < count; i += lanes, bytes += 4 * lanes) {
    prefetch(bytes, 4 * lanes);
    const auto low = hn::Or(hn::LoadU(d, bytes), hn::LoadU(d, bytes + lanes));
    const auto high = hn::Or(hn::LoadU(d, bytes + 2 * lanes), hn::LoadU(d, bytes + 3 * lanes));
    hn::Store(hn::Or(low, high), d, out + i);
  }
}

void widen(const std::uint8_t* in, std::size_t count, std::uint32_t* out) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  auto* bytes = reinterpret_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < count; i += lanes, bytes += 4 * lanes) {
    const auto v = hn::LoadU(d, in + i);
    hn::Store(v, d, bytes);
    hn::Store(v, d, bytes + lanes);
    hn::Store(v, d, bytes + 2 * lanes);
    hn::Store(v, d, bytes + 3 * lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace halfulp::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace halfulp::bench {
HWY_EXPORT(narrow);
HWY_EXPORT(widen);

void floor_narrow(const std::uint32_t* in, std::size_t count, std::uint8_t* out) { HWY_DYNAMIC_DISPATCH(narrow)(in, count, out); }
void floor_widen(const std::uint8_t* in, std::size_t count, std::uint32_t* out) { HWY_DYNAMIC_DISPATCH(widen)(in, count, out); }

}  // namespace halfulp::bench
#endif
