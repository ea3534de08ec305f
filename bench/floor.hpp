// The floors: kernels that read and write the same bytes as a cast and do nothing else, at the best SIMD level.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halfulp::bench {

/// 4 bytes in, 1 byte out. `count` is a multiple of 256; `out` is aligned to 64 bytes.
void floor_narrow(const std::uint32_t* in, std::size_t count, std::uint8_t* out);
/// 1 byte in, 4 bytes out. The same requirements.
void floor_widen(const std::uint8_t* in, std::size_t count, std::uint32_t* out);

}  // namespace halfulp::bench
