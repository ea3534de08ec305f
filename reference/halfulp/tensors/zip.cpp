// The central directory of a ZIP archive, and the local headers that must agree with it.
#include "halfulp/tensors/zip.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace halfulp::tensors {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator64 = 0x07064b50;
constexpr std::uint64_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kCentralSize = 46,
                        kLocalSize = 30;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number is in the ZIP64 record
constexpr const char* kAgain = "save it again with numpy.savez";

/// A fixed record read at a place; fields by offset.
template <std::size_t N>
struct Record {
  std::array<std::byte, N> bytes{};
  Record(const ByteSource& source, std::uint64_t at) { source.read(at, bytes); }
  std::uint64_t u(std::size_t offset, std::size_t size) const {
    return little(std::span(bytes).subspan(offset, size));
  }
};

struct Directory {
  std::uint64_t entries, size, offset, end;  ///< end: where it must end, the record that follows
};

/// The end record is the last thing of the archive but for a comment of the length that it states.
std::uint64_t find_end(const ByteSource& archive) {
  const std::uint64_t size = archive.size(), reach = std::min<std::uint64_t>(size, kEndSize + 0xffff);
  std::vector<std::byte> tail(static_cast<std::size_t>(reach));
  archive.read(size - reach, tail);
  for (std::uint64_t back = kEndSize; back <= reach; ++back) {
    const auto at = std::span(tail).subspan(static_cast<std::size_t>(reach - back));
    if (little(at.first(4)) == kEnd && little(at.subspan(20, 2)) == back - kEndSize) return size - back;
  }
  throw malformed(archive.name(), size, "it does not end as a ZIP archive does",
                  "it is cut short or no .npz file; save it again with numpy.savez");
}

Directory find_directory(const ByteSource& archive) {
  const std::uint64_t at = find_end(archive);
  const Record<kEndSize> end(archive, at);
  if (end.u(4, 2) != 0 || end.u(6, 2) != 0 || end.u(8, 2) != end.u(10, 2)) {
    throw malformed(archive.name(), at + 4, "the archive spans several files", kAgain);
  }
  Directory directory{end.u(10, 2), end.u(12, 4), end.u(16, 4), at};
  if (at >= kLocatorSize) {
    const Record<kLocatorSize> locator(archive, at - kLocatorSize);
    if (locator.u(0, 4) == kLocator64) {
      const std::uint64_t at64 = locator.u(8, 8);
      if (at < kLocatorSize + kEnd64Size || at64 > at - kLocatorSize - kEnd64Size) {
        throw malformed(archive.name(), at - kLocatorSize + 8,
                        "the ZIP64 end record is said to lie outside", kAgain);
      }
      const Record<kEnd64Size> end64(archive, at64);
      if (end64.u(0, 4) != kEnd64 || end64.u(16, 4) != 0 || end64.u(20, 4) != 0 ||
          end64.u(24, 8) != end64.u(32, 8)) {
        throw malformed(archive.name(), at64, "there is no ZIP64 end record of a single file", kAgain);
      }
      directory = {end64.u(32, 8), end64.u(40, 8), end64.u(48, 8), at64};
    }
  }
  if (directory.offset > directory.end || directory.size != directory.end - directory.offset) {
    throw malformed(archive.name(), at + 12, "the directory does not lie where the end record says",
                    kAgain);
  }
  if (directory.entries > directory.size / kCentralSize) {
    throw malformed(archive.name(), at + 8,
                    std::to_string(directory.entries) + " members do not fit the directory", kAgain);
  }
  return directory;
}

void check_name(const ByteSource& archive, std::uint64_t at, const std::string& name) {
  const auto bad = [&](const std::string& why) { return malformed(archive.name(), at, why, kAgain); };
  if (name.empty() || name.back() == '/') throw bad("a member is a folder or has no name");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      throw bad("the name of a member has control characters");
  }
  if (name.front() == '/' || name.find('\\') != std::string::npos || name.find(':') != std::string::npos) {
    throw bad("member '" + name + "' is a path outside the archive");
  }
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t to = std::min(name.find('/', from), name.size());
    const std::string part = name.substr(from, to - from);
    if (part == ".." || part == "." || part.empty())
      throw bad("member '" + name + "' is a path outside the archive");
    from = to + 1;
  }
}

/// Replaces the numbers that are kept in the ZIP64 field of `extra`, in the order of the standard.
void apply_zip64(const ByteSource& archive, std::uint64_t at, std::span<const std::byte> extra,
                 std::initializer_list<std::uint64_t*> numbers) {
  while (extra.size() >= 4) {
    const std::uint64_t id = little(extra.first(2)), size = little(extra.subspan(2, 2));
    extra = extra.subspan(4);
    if (size > extra.size())
      throw malformed(archive.name(), at, "an extra field is longer than its record", kAgain);
    if (id == 1) {
      auto field = extra.first(static_cast<std::size_t>(size));
      for (std::uint64_t* number : numbers) {
        if (*number != kIn64) continue;
        if (field.size() < 8) throw malformed(archive.name(), at, "the ZIP64 field is too short", kAgain);
        *number = little(field.first(8));
        field = field.subspan(8);
      }
      return;
    }
    extra = extra.subspan(static_cast<std::size_t>(size));
  }
}

/// Finds the data behind the local header and compares the two headers.
void read_local(const ByteSource& archive, const Directory& directory, ZipEntry& entry) {
  const std::uint64_t at = entry.header_offset;
  const auto bad = [&](const std::string& why) {
    return malformed(archive.name(), at, "member '" + entry.name + "': " + why, kAgain);
  };
  if (at > directory.offset || directory.offset - at < kLocalSize) throw bad("its header lies outside");
  const Record<kLocalSize> local(archive, at);
  if (local.u(0, 4) != kLocal) throw bad("there is no header");
  const std::uint64_t name_size = local.u(26, 2), before = kLocalSize + name_size + local.u(28, 2);
  if (before > directory.offset - at || entry.compressed > directory.offset - at - before)
    throw bad("it reaches into the directory");
  std::string name(static_cast<std::size_t>(name_size), '\0');
  archive.read(at + kLocalSize, std::as_writable_bytes(std::span(name)));
  if (name != entry.name || local.u(8, 2) != static_cast<std::uint64_t>(entry.method)) {
    throw bad("its header and the directory differ");
  }
  std::vector<std::byte> extra(static_cast<std::size_t>(local.u(28, 2)));
  archive.read(at + kLocalSize + name_size, extra);
  std::uint64_t size = local.u(22, 4), compressed = local.u(18, 4);
  apply_zip64(archive, at, extra, {&size, &compressed});
  const bool sizes_follow = (local.u(6, 2) & 8) != 0;  // then they may be 0 here
  const bool same = size == entry.size && compressed == entry.compressed && local.u(14, 4) == entry.crc;
  if (!same && !sizes_follow) throw bad("its header and the directory differ");
  entry.data_offset = at + before;
}

}  // namespace

std::vector<ZipEntry> read_zip(const ByteSource& archive) {
  const Directory directory = find_directory(archive);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  std::uint64_t at = directory.offset;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    const auto bad = [&](const std::string& why) { return malformed(archive.name(), at, why, kAgain); };
    if (directory.end - at < kCentralSize) throw bad("the directory ends in a record");
    const Record<kCentralSize> record(archive, at);
    const std::uint64_t name_size = record.u(28, 2), extra_size = record.u(30, 2);
    const std::uint64_t whole = kCentralSize + name_size + extra_size + record.u(32, 2);
    if (record.u(0, 4) != kCentral || directory.end - at < whole)
      throw bad("the directory has a broken record");
    ZipEntry entry;
    entry.name.resize(static_cast<std::size_t>(name_size));
    archive.read(at + kCentralSize, std::as_writable_bytes(std::span(entry.name)));
    check_name(archive, at + kCentralSize, entry.name);
    if (!names.insert(entry.name).second) throw bad("member '" + entry.name + "' is there twice");
    if ((record.u(8, 2) & 0x2041) != 0) throw bad("member '" + entry.name + "' is encrypted");
    if (record.u(10, 2) != 0 && record.u(10, 2) != 8) {
      throw bad("member '" + entry.name + "' is compressed by method " + std::to_string(record.u(10, 2)));
    }
    if (record.u(34, 2) != 0) throw bad("the archive spans several files");
    entry.method = static_cast<ZipMethod>(record.u(10, 2));
    entry.crc = static_cast<std::uint32_t>(record.u(16, 4));
    entry.compressed = record.u(20, 4);
    entry.size = record.u(24, 4);
    entry.header_offset = record.u(42, 4);
    std::vector<std::byte> extra(static_cast<std::size_t>(extra_size));
    archive.read(at + kCentralSize + name_size, extra);
    apply_zip64(archive, at, extra, {&entry.size, &entry.compressed, &entry.header_offset});
    read_local(archive, directory, entry);
    if (entry.method == ZipMethod::stored && entry.size != entry.compressed)
      throw bad("member '" + entry.name + "' has two sizes");
    // Deflate makes at most 258 bytes of 2 bits.
    if (entry.method == ZipMethod::deflate && entry.size / 1032 > entry.compressed) {
      throw bad("member '" + entry.name + "' is said to have " + std::to_string(entry.size) +
                " bytes, which " + std::to_string(entry.compressed) + " cannot make");
    }
    entries.push_back(std::move(entry));
    at += whole;
  }
  if (at != directory.end)
    throw malformed(archive.name(), at, "the directory goes on after its last record", kAgain);
  std::vector<const ZipEntry*> by_place;
  for (const ZipEntry& entry : entries) by_place.push_back(&entry);
  std::sort(by_place.begin(), by_place.end(),
            [](auto* a, auto* b) { return a->header_offset < b->header_offset; });
  for (std::size_t i = 1; i < by_place.size(); ++i) {
    const ZipEntry &before = *by_place[i - 1], &after = *by_place[i];
    if (before.data_offset + before.compressed > after.header_offset) {
      throw malformed(archive.name(), after.header_offset,
                      "members '" + before.name + "' and '" + after.name + "' overlap", kAgain);
    }
  }
  return entries;
}

}  // namespace halfulp::tensors
