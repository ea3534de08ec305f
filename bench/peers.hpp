// Other people's casts from f32, element by element as their users call them. Each has its own translation unit.
#pragma once

#include <cstdint>
#include <span>

namespace halfulp::bench {

enum class PeerTarget : std::uint8_t { e4m3, e5m2 };

/// NVIDIA's cuda_fp8.h on the host: __nv_cvt_float_to_fp8 with __NV_SATFINITE. Only with HALFULP_BENCH_CUDA.
void cuda_header_cast(PeerTarget to, std::span<const std::uint32_t> in, std::uint8_t* out);
/// LLVM 19's APFloat::convert, rmNearestTiesToEven (overflow gives NaN or Inf). Only with HALFULP_BENCH_APFLOAT.
void apfloat_cast(PeerTarget to, std::span<const std::uint32_t> in, std::uint8_t* out);

}  // namespace halfulp::bench
