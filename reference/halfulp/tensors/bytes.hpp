// ByteSource: bytes of known length that are read by position, so that no reader ever holds a whole file.
//
// Files are read with pread, not mapped: a file that is cut short while it is read gives an error, not a
// signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "halfulp/error.hpp"

namespace halfulp::tensors {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// What messages call it: the path, or path:member.
  virtual const std::string& name() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Fills `out` with the bytes from `offset` on. Any number of threads may read. Throws InputError when
  /// offset + out.size() > size() or the bytes cannot be read.
  virtual void read(std::uint64_t offset, std::span<std::byte> out) const = 0;
  /// False when reading backwards costs as much as reading from the start (a deflated member too large to
  /// be held).
  virtual bool random_access() const { return true; }
};

using Bytes = std::shared_ptr<const ByteSource>;

/// Opens a regular file. Throws InputError.
Bytes open_file(const std::string& path);

/// Bytes in memory; they are copied.
Bytes memory_bytes(std::string name, std::span<const std::byte> bytes);

/// `length` bytes of `whole` from `offset` on, under another name. Requires that they lie inside.
Bytes slice(Bytes whole, std::uint64_t offset, std::uint64_t length, std::string name);

/// The error of a file whose byte `offset` is wrong: `file 'x.npy', byte 10: WHY; MEND`.
InputError malformed(const std::string& file, std::uint64_t offset, const std::string& why,
                     const std::string& mend);

/// Little-endian number of 1 to 8 bytes.
std::uint64_t little(std::span<const std::byte> bytes);

}  // namespace halfulp::tensors
