// NumPy's .npy files, format versions 1.0, 2.0 and 3.0 (numpy.lib.format, NEP 1): reading in pieces and
// writing.
//
// Types: f2 f4 f8, i1 to i8, u1 to u8, b1, and the void types V1 and V2 (f1) that ml_dtypes writes, which
// say nothing of the format: the caller names it. Structured and object arrays are refused, and so are
// bytes after the array.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/tensors/bytes.hpp"
#include "halfulp/tensors/output_file.hpp"
#include "halfulp/tensors/tensor.hpp"

namespace halfulp::tensors {

struct NpyHeader {
  std::string descr;  ///< as numpy writes it: `<f4`, `|u1`, `<V2`
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  int version = 1;                ///< major; ignored when writing
  std::uint64_t data_offset = 0;  ///< of the first element; ignored when writing

  /// Element size in bytes; 0 for a descr that no reader here knows.
  int item_bytes() const;
};

/// Reads the header and checks it against the length of the file. Throws InputError naming the byte.
NpyHeader read_npy_header(const ByteSource& bytes);

/// Opens the array. `dtype` names the element format where the file's own type does not (void types, codes
/// in unsigned integers); its words must have the size of the array's. Throws InputError.
TensorSource open_npy(Bytes bytes, std::optional<std::string_view> dtype = {});

/// The descr of an element type on a little-endian machine: numpy's own types by name, other formats as
/// unsigned words; with ml_dtypes_void as numpy writes arrays of ml_dtypes (`<V1`, `<V2`, `<f1`).
std::string npy_descr(const ElementType& type, bool ml_dtypes_void = false);

/// The bytes before the array, equal to those of numpy 2 for the same array.
std::string npy_header_text(const NpyHeader& header);

/// Writes an array in pieces: little-endian words in the order of the header. The file appears with
/// commit().
class NpyWriter {
 public:
  /// Throws InputError for a shape that overflows, an unknown descr or a file that cannot be made.
  NpyWriter(const std::string& path, const NpyHeader& header);
  void write(std::span<const std::byte> words);
  /// Throws InputError when the array is not complete.
  void commit();

 private:
  OutputFile file_;
  std::uint64_t left_;
};

}  // namespace halfulp::tensors
