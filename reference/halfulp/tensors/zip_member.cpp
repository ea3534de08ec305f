// The bytes of a ZIP member: a part of the archive, or inflated; read once through for length and CRC
// before use.
#include <zlib.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "halfulp/tensors/zip.hpp"

namespace halfulp::tensors {
namespace {

constexpr std::size_t kChunk = 64 * 1024;
constexpr const char* kAgain = "save it again with numpy.savez_compressed";

/// A raw deflate stream (RFC 1951) that is inflated forwards.
class Inflater {
 public:
  Inflater(const ByteSource& archive, const ZipEntry& entry, const std::string& name)
      : archive_(archive), entry_(entry), name_(name), in_(kChunk) {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK)
      throw InputError("file '" + name_ + "'", "memory ran out", "free some");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `out`, whose last byte is at most the member's last one.
  void next(std::span<std::byte> out) {
    while (!out.empty()) {
      const std::size_t n = std::min<std::size_t>(out.size(), 1u << 30);
      const std::size_t made = n - step(out.first(n));
      out = out.subspan(made);
    }
  }

  /// After the member's last byte: the stream must end here, and with it the compressed bytes.
  void finish() {
    std::byte extra[1];
    while (!ended_) {
      if (step(extra) == 0) throw bad("it inflates to more than " + std::to_string(entry_.size) + " bytes");
    }
    if (taken_ != entry_.compressed || stream_.avail_in != 0) throw bad("bytes follow its deflate stream");
  }

 private:
  InputError bad(const std::string& why) const {
    return malformed(archive_.name(), entry_.data_offset + taken_ - stream_.avail_in,
                     "member '" + entry_.name + "': " + why, kAgain);
  }

  /// One call of inflate; returns how many bytes of `out` are still empty.
  std::size_t step(std::span<std::byte> out) {
    if (ended_) throw bad("it inflates to less than " + std::to_string(entry_.size) + " bytes");
    if (stream_.avail_in == 0) {
      const std::size_t n =
          static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, entry_.compressed - taken_));
      archive_.read(entry_.data_offset + taken_, std::span(in_).first(n));
      taken_ += n;
      stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
      stream_.avail_in = static_cast<uInt>(n);
      if (n == 0) throw bad("its deflate stream does not end");
    }
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      ended_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw bad("its deflate stream is damaged");
    }
    return stream_.avail_out;
  }

  const ByteSource& archive_;
  const ZipEntry& entry_;
  const std::string& name_;
  std::vector<std::byte> in_;
  z_stream stream_{};
  std::uint64_t taken_ = 0;
  bool ended_ = false;
};

/// A large deflated member: one stream that runs forwards, and starts again to go back.
class InflatedBytes final : public ByteSource {
 public:
  InflatedBytes(Bytes archive, ZipEntry entry, std::string name)
      : archive_(std::move(archive)), entry_(std::move(entry)), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return entry_.size; }
  bool random_access() const override { return false; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size() || out.size() > size() - offset) {
      throw malformed(name_, size(), "the member ends here", kAgain);
    }
    const std::lock_guard lock(mutex_);
    if (!stream_ || offset < at_) {
      stream_ = std::make_unique<Inflater>(*archive_, entry_, name_);
      at_ = 0;
    }
    std::vector<std::byte> skipped(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, offset - at_)));
    while (at_ < offset) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, offset - at_));
      stream_->next(std::span(skipped).first(n));
      at_ += n;
    }
    stream_->next(out);
    at_ += out.size();
  }

 private:
  Bytes archive_;
  ZipEntry entry_;
  std::string name_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Inflater> stream_;
  mutable std::uint64_t at_ = 0;
};

}  // namespace

Bytes open_zip_member(const Bytes& archive, const ZipEntry& entry, std::uint64_t held_size) {
  const std::string name = archive->name() + ":" + entry.name;
  const bool inflates = entry.method == ZipMethod::deflate, held = inflates && entry.size <= held_size;
  std::vector<std::byte> all, chunk(kChunk);
  Inflater inflater(*archive, entry, name);
  uLong crc = crc32(0, nullptr, 0);
  for (std::uint64_t done = 0; done < entry.size;) {
    const auto part = std::span(chunk).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, entry.size - done)));
    if (inflates) {
      inflater.next(part);
    } else {
      archive->read(entry.data_offset + done, part);
    }
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    if (held) all.insert(all.end(), part.begin(), part.end());
    done += part.size();
  }
  if (inflates) inflater.finish();
  if (crc != entry.crc) {
    throw malformed(archive->name(), entry.data_offset,
                    "member '" + entry.name + "' does not have the CRC that it should: it is damaged",
                    kAgain);
  }
  if (held) return memory_bytes(name, all);
  if (inflates) return std::make_shared<InflatedBytes>(archive, entry, name);
  return slice(archive, entry.data_offset, entry.size, name);
}

}  // namespace halfulp::tensors
