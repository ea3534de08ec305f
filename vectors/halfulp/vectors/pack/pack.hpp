// Packs on disk: a folder (manifest.json and one .bin per column), .npz or .safetensors. Written whole or not at all;
// read by mapping, so that a pack larger than memory can be judged.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

/// Writes columns in pieces. A folder takes the pieces of different columns in any order; the one-file forms need whole
/// columns, one after the other.
class PackWriter {
 public:
  virtual ~PackWriter() = default;
  /// Appends bytes to a column. Throws InputError when the disk is full.
  virtual void write(std::size_t column, std::span<const std::byte> bytes) = 0;
  /// Checks that every column has the size that its shape says, writes the manifest with the hashes, and puts the pack in
  /// its place. Without it nothing is left behind.
  virtual void commit() = 0;
};

/// The form is chosen by the ending of `path`; a folder otherwise. Throws InputError.
std::unique_ptr<PackWriter> write_pack(const std::string& path, Manifest manifest);

/// A pack opened for reading. Every claim of the manifest about sizes has been checked.
class PackReader {
 public:
  virtual ~PackReader() = default;
  virtual const Manifest& manifest() const = 0;
  /// All bytes of a column. Valid as long as the reader.
  virtual std::span<const std::byte> column(std::size_t index) const = 0;
};

/// Opens a pack; `check_hashes`: also reads every column and compares its SHA-256. Throws InputError.
enum class Hashes : bool { trusted, checked };
std::unique_ptr<PackReader> read_pack(const std::string& path, Hashes hashes = Hashes::checked);

/// True when the argument names a pack on disk rather than a SPEC.
bool is_pack(const std::string& argument);

}  // namespace halfulp::vectors
