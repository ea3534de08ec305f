// OutputFile: written beside its target and renamed into place by commit(); without commit() it leaves
// nothing behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "halfulp/error.hpp"

namespace halfulp::tensors {

/// Where symbolic links lead, also to a file that is not there yet: a link stays a link to what was written. Devices and pipes
/// are left as they are named. Throws InputError for links that lead nowhere.
std::string through_links(const std::string& path);

class OutputFile {
 public:
  /// Through symbolic links. Throws InputError when the file beside the target cannot be made, or when the target is there
  /// and is no regular file.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends. Throws InputError.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Writes at a position without moving the end that write() appends to. Throws InputError.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Bytes appended so far.
  std::uint64_t size() const { return size_; }
  /// Renames the file into place. Throws InputError. Nothing may be written after.
  void commit();
  const std::string& path() const { return path_; }

 private:
  InputError failed(int error) const;
  void put(std::uint64_t offset, std::span<const std::byte> bytes);
  std::string path_, beside_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace halfulp::tensors
