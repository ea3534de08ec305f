// NumPy's .npz files: ZIP archives of .npy members, read in pieces and written in pieces.
//
// What is written equals numpy.savez (stored) for the same arrays: ZIP64 local headers, the date
// 1980-01-01, no other metadata; so the same arrays give the same bytes. Deflated members have the bytes
// that the linked zlib makes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/tensors/npy.hpp"
#include "halfulp/tensors/zip.hpp"

namespace halfulp::tensors {

class NpzFile {
 public:
  /// Reads the directory. Throws InputError.
  explicit NpzFile(Bytes archive);
  /// Names of the arrays: those of the members without `.npy`; members of other kinds are left out.
  std::vector<std::string> names() const;
  /// Opens an array after checking its CRC; `dtype` as for open_npy(). Throws InputError with the nearest
  /// names.
  TensorSource open(std::string_view name, std::optional<std::string_view> dtype = {}) const;
  const std::vector<ZipEntry>& entries() const { return entries_; }

 private:
  Bytes archive_;
  std::vector<ZipEntry> entries_;
};

class NpzWriter {
 public:
  explicit NpzWriter(const std::string& path, ZipMethod method = ZipMethod::stored);
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  /// Starts the next array; the one before must be complete. Throws InputError.
  void begin(const std::string& name, const NpyHeader& header);
  /// Appends little-endian words of the array. Throws InputError.
  void write(std::span<const std::byte> words);
  /// Completes the archive and renames it into place. Throws InputError.
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `halfulp: WHAT is not there` with the nearest of `names`, or the first few.
InputError no_such_member(const std::string& file, std::string_view name,
                          const std::vector<std::string>& names);

}  // namespace halfulp::tensors
