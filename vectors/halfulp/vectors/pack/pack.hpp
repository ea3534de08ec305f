// Packs on disk: a folder (manifest.json and one .bin per column), .npz or .safetensors. Written whole or
// not at all; read by mapping, so that a pack larger than memory can be judged.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

inline constexpr const char* kManifestFile = "manifest.json";  ///< in a folder
inline constexpr const char* kManifestName = "manifest";       ///< array of an .npz, with the text in bytes
inline constexpr const char* kManifestKey = "halfulp";         ///< metadata of a .safetensors

/// Writes columns in pieces. A folder and a .safetensors take the pieces of different columns in any order;
/// an .npz needs whole columns, one after the other.
class PackWriter {
 public:
  virtual ~PackWriter() = default;
  /// Appends bytes to a column. Throws InputError when the disk is full, and for more bytes than its shape
  /// says.
  virtual void write(std::size_t column, std::span<const std::byte> bytes) = 0;
  /// True when the columns must come one after the other.
  virtual bool in_order() const { return false; }
  /// Completes the columns and the manifest, and returns the folder in which they wait for commit(): a pack
  /// that can be read, and files put beside its columns come along. Empty for the one-file forms, which
  /// have no such folder.
  virtual std::string stage() { return {}; }
  /// Checks that every column has the size that its shape says, writes the manifest with the hashes, and
  /// puts the pack in its place. Without it nothing is left behind.
  virtual void commit() = 0;
};

/// The form is chosen by the ending of `path`; a folder otherwise, which must be new or empty. Files and
/// hashes of `manifest` need not be filled in. Throws InputError.
std::unique_ptr<PackWriter> write_pack(const std::string& path, Manifest manifest);

/// A pack opened for reading. Every claim of the manifest about sizes has been checked.
class PackReader {
 public:
  virtual ~PackReader() = default;
  virtual const Manifest& manifest() const = 0;
  /// All bytes of a column. Valid as long as the reader. They are mapped: a file that is cut short later
  /// than read_pack() ends the process with SIGBUS.
  virtual std::span<const std::byte> column(std::size_t index) const = 0;
};

/// `checked`: also reads every column, compares its SHA-256, and refuses words with bits beyond their
/// format and flags without a note.
enum class Hashes : bool { trusted, checked };

/// Opens a pack. Throws InputError.
std::unique_ptr<PackReader> read_pack(const std::string& path, Hashes hashes = Hashes::checked);

/// True when the argument names a pack on disk rather than a SPEC: a folder that is there, or a name that
/// ends in .npz or .safetensors.
bool is_pack(const std::string& argument);

}  // namespace halfulp::vectors
