// MappedFile: a file whose bytes are looked at where they lie, for readers that walk over gigabytes more
// than once.
//
// A file that is cut short while it is mapped ends the process with SIGBUS: open_file() has no such danger.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "halfulp/tensors/bytes.hpp"

namespace halfulp::tensors {

enum class Links : bool { followed, refused };

class MappedFile final : public ByteSource {
 public:
  /// Maps a regular file for reading. With Links::refused a symbolic link as the last part of the path is
  /// an error. Throws InputError.
  explicit MappedFile(const std::string& path, Links links = Links::followed);
  ~MappedFile() override;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& name() const override { return path_; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override;
  /// Valid as long as this object.
  std::span<const std::byte> bytes() const { return {data_, static_cast<std::size_t>(size_)}; }

 private:
  std::string path_;
  const std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace halfulp::tensors
