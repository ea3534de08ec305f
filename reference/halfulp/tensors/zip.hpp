// ZIP archives as .npz files use them (PKWARE APPNOTE 6.3.10): stored and deflated members, ZIP64; every
// CRC is checked.
//
// Only the central directory is believed, and it must agree with each local header. Refused: encryption,
// several disks, other methods, names that leave a folder, the same name twice, members that overlap, sizes
// that deflate cannot reach.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/tensors/bytes.hpp"

namespace halfulp::tensors {

enum class ZipMethod : std::uint16_t { stored = 0, deflate = 8 };

struct ZipEntry {
  std::string name;
  ZipMethod method = ZipMethod::stored;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0;  ///< bytes in the archive and of the member
  std::uint64_t header_offset = 0, data_offset = 0;
};

/// Lists the members in the order of the central directory. Throws InputError naming the byte.
std::vector<ZipEntry> read_zip(const ByteSource& archive);

/// Deflated members up to this size are inflated into memory; larger ones are inflated as they are read, so that reading
/// backwards starts again.
inline constexpr std::uint64_t kHeldMember = 64 << 20;

/// The bytes of a member. Its length and CRC are checked before this returns. Throws InputError.
Bytes open_zip_member(const Bytes& archive, const ZipEntry& entry, std::uint64_t held = kHeldMember);

}  // namespace halfulp::tensors
