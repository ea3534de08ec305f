#include <cuda_fp8.h>

#include <bit>

#include "peers.hpp"

namespace halfulp::bench {

void cuda_header_cast(PeerTarget to, std::span<const std::uint32_t> in, std::uint8_t* out) {
  const auto kind = to == PeerTarget::e4m3 ? __NV_E4M3 : __NV_E5M2;
  for (const std::uint32_t word : in) *out++ = __nv_cvt_float_to_fp8(std::bit_cast<float>(word), __NV_SATFINITE, kind);
}

}  // namespace halfulp::bench
