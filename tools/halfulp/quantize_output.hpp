// Where strips of a quantized tensor go: columns of files, or text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/vectors/pack/pack.hpp"
#include "quantize_stream.hpp"
#include "row_packer.hpp"

namespace halfulp::tool {

/// Codes go out as they come; scales and zero points, which are few, at the end. Columns: codes, scales, zeros, tensor_scale (codes of
/// their formats), tensor_amax, kept_index, kept_value. With a packing, codes are bytes: as many per row as its codes fill.
class StripFiles {
 public:
  /// Throws InputError when the packing does not hold the element's codes.
  StripFiles(const recipes::QuantRecipe& recipe, const TensorRows& tensor, std::string path, std::optional<Packing> packing);
  void take(const Strip& strip);
  void commit();

 private:
  void plan(const std::string& name, const std::string& format, std::vector<std::uint64_t> shape, std::vector<std::byte>* bytes);
  void open();

  const recipes::QuantRecipe* recipe_;
  std::optional<RowPacker> packer_;
  std::string path_;
  vectors::Manifest manifest_;
  bool repeats_;  ///< each strip has the scales of all its blocks again
  std::vector<std::vector<std::byte>*> later_;
  std::unique_ptr<vectors::PackWriter> files_;
  std::vector<std::byte> codes_, scales_, zeros_, tensor_scale_, tensor_amax_, kept_index_, kept_value_;
  std::vector<std::uint64_t> shape_, scales_shape_;  ///< shape_: of the column of codes
  bool first_ = true;
};

}  // namespace halfulp::tool
