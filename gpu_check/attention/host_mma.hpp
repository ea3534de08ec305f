// Matrix instructions on the host: dots by the accumulation models of the modelled GPU.
#pragma once

#include <array>
#include <cstdint>

#include "gpu_check/host/intrinsics.hpp"

namespace halfulp::gpu::host {

enum class MatrixUnit : std::uint8_t { mma_sync, wgmma };

/// c + the dot of 32 bytes of a row with 32 bytes of a column. `type`: an MmaType. Throws std::invalid_argument where the
/// modelled GPU has no such instruction.
std::uint32_t modelled_dot(MatrixUnit unit, int type, const std::array<std::uint32_t, 8>& row, const std::array<std::uint32_t, 8>& column,
                           std::uint32_t c);

/// 32 bytes of shared memory as words: 16 from `address` on, then 16 from `address + core_bytes` on. Reads are checked.
std::array<std::uint32_t, 8> shared_column(std::uint32_t address, std::uint32_t core_bytes);

}  // namespace halfulp::gpu::host
