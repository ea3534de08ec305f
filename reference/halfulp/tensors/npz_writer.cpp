// Writing .npz: the local header of a member is written twice, at last with its CRC and sizes.
#include <zlib.h>

#include <utility>

#include "halfulp/tensors/npz.hpp"

namespace halfulp::tensors {
namespace {

constexpr std::uint64_t kLimit32 =
    0x7fffffff;  // above it, as Python's zipfile does, the number goes into the ZIP64 field
constexpr std::uint16_t kDate = 0x0021;  // 1980-01-01, the first that the format has
constexpr std::size_t kChunk = 64 * 1024;

/// Little-endian fields one after the other.
struct Fields {
  std::string bytes;
  template <class T>
  Fields& operator<<(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xff);
    return *this;
  }
};

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

U16 flags_of(const std::string& name) {
  for (const char c : name) {
    if (static_cast<unsigned char>(c) >= 0x80) return 0x800;  // the name is UTF-8
  }
  return 0;
}

std::string local_header(const ZipEntry& e) {
  Fields f;
  f << U32{0x04034b50} << U16{45} << flags_of(e.name) << static_cast<U16>(e.method) << U16{0} << kDate
    << e.crc << U32{0xffffffff} << U32{0xffffffff} << static_cast<U16>(e.name.size()) << U16{20};
  f.bytes += e.name;
  f << U16{1} << U16{16} << e.size << e.compressed;
  return f.bytes;
}

std::string central_record(const ZipEntry& e) {
  Fields extra;
  const bool large = e.size > kLimit32 || e.compressed > kLimit32, far = e.header_offset > kLimit32;
  if (large || far) extra << U16{1} << static_cast<U16>((large ? 16 : 0) + (far ? 8 : 0));
  if (large) extra << e.size << e.compressed;
  if (far) extra << e.header_offset;
  const auto in32 = [](U64 value, bool in64) { return in64 ? U32{0xffffffff} : static_cast<U32>(value); };
  Fields f;
  f << U32{0x02014b50} << U16{45 | 3 << 8} << U16{45} << flags_of(e.name) << static_cast<U16>(e.method)
    << U16{0} << kDate << e.crc << in32(e.compressed, large) << in32(e.size, large)
    << static_cast<U16>(e.name.size()) << static_cast<U16>(extra.bytes.size()) << U16{0} << U16{0} << U16{0}
    << U32{0600u << 16} << in32(e.header_offset, far);
  return f.bytes + e.name + extra.bytes;
}

std::string end_records(U64 entries, U64 offset, U64 size) {
  Fields f;
  const bool large = entries > 0xffff || offset > kLimit32 || size > kLimit32;
  if (large) {
    f << U32{0x06064b50} << U64{44} << U16{45} << U16{45} << U32{0} << U32{0} << entries << entries << size
      << offset;
    f << U32{0x07064b50} << U32{0} << offset + size << U32{1};
  }
  const auto least = [](U64 value, U64 most) { return value < most ? value : most; };
  f << U32{0x06054b50} << U16{0} << U16{0} << static_cast<U16>(least(entries, 0xffff))
    << static_cast<U16>(least(entries, 0xffff)) << static_cast<U32>(least(size, 0xffffffff))
    << static_cast<U32>(least(offset, 0xffffffff)) << U16{0};
  return f.bytes;
}

}  // namespace

struct NpzWriter::State {
  State(const std::string& path, ZipMethod m) : file(path), method(m), out(kChunk) {}
  ~State() {
    if (open && method == ZipMethod::deflate) deflateEnd(&stream);
  }

  void put(std::span<const std::byte> bytes) {
    ZipEntry& e = entries.back();
    e.size += bytes.size();
    while (!bytes.empty()) {
      const auto part = bytes.first(bytes.size() < (1u << 30) ? bytes.size() : 1u << 30);
      e.crc = static_cast<U32>(
          crc32(e.crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size())));
      if (method == ZipMethod::stored) {
        file.write(part);
      } else {
        compress(part, Z_NO_FLUSH);
      }
      bytes = bytes.subspan(part.size());
    }
  }

  void compress(std::span<const std::byte> part, int flush) {
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));  // zlib does not write to it
    stream.avail_in = static_cast<uInt>(part.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(kChunk);
      deflate(&stream, flush);
      file.write(std::span(out).first(kChunk - stream.avail_out));
    } while (stream.avail_out == 0);
  }

  void end() {
    if (!open) return;
    ZipEntry& e = entries.back();
    if (left != 0) {
      throw InputError("array '" + e.name + "'", std::to_string(left) + " bytes of it are missing",
                       "write what the shape says");
    }
    if (method == ZipMethod::deflate) {
      compress({}, Z_FINISH);
      deflateEnd(&stream);
    }
    open = false;
    e.compressed = file.size() - e.data_offset;
    const std::string header = local_header(e);
    file.write_at(e.header_offset, std::as_bytes(std::span(header)));
  }

  OutputFile file;
  ZipMethod method;
  std::vector<std::byte> out;
  std::vector<ZipEntry> entries;
  z_stream stream{};
  U64 left = 0;
  bool open = false;
};

NpzWriter::NpzWriter(const std::string& path, ZipMethod method)
    : state_(std::make_unique<State>(path, method)) {}
NpzWriter::~NpzWriter() = default;

void NpzWriter::begin(const std::string& name, const NpyHeader& header) {
  State& s = *state_;
  s.end();
  const auto count = element_count(header.shape);
  const auto item = static_cast<U64>(header.item_bytes());
  if (name.empty() || name.size() > 1000 || item == 0 || header.descr[0] == '>' || !count ||
      *count > (~U64{0} >> 1) / item) {
    throw InputError(
        "array '" + name + "' of type '" + header.descr + "' and shape " + shape_text(header.shape),
        "it cannot be written",
        "use a name of 1 to 1000 bytes, a little-endian type and a size below 2^63 bytes");
  }
  for (const ZipEntry& e : s.entries) {
    if (e.name == name + ".npy")
      throw InputError("array '" + name + "'", "it is there already", "give each a name of its own");
  }
  ZipEntry entry;
  entry.name = name + ".npy";
  entry.method = s.method;
  entry.header_offset = s.file.size();
  s.file.write(local_header(entry));
  entry.data_offset = s.file.size();
  s.entries.push_back(std::move(entry));
  if (s.method == ZipMethod::deflate) {
    s.stream = {};
    if (deflateInit2(&s.stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
      throw InputError("array '" + name + "'", "memory ran out", "free some");
    }
  }
  s.open = true;
  s.left = *count * item;
  const std::string text = npy_header_text(header);
  s.put(std::as_bytes(std::span(text)));
}

void NpzWriter::write(std::span<const std::byte> words) {
  State& s = *state_;
  if (!s.open || words.size() > s.left) {
    throw InputError("file '" + s.file.path() + "'", "more elements come than the array has",
                     "write what the shape says");
  }
  s.left -= words.size();
  s.put(words);
}

void NpzWriter::commit() {
  State& s = *state_;
  s.end();
  const U64 offset = s.file.size();
  for (const ZipEntry& e : s.entries) s.file.write(central_record(e));
  s.file.write(end_records(s.entries.size(), offset, s.file.size() - offset));
  s.file.commit();
}

}  // namespace halfulp::tensors
