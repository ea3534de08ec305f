// Quantized tensors as files: a pack folder, .safetensors or .npz, written whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::tool {

/// One column: little-endian words of a format, one per code.
struct ColumnPlan {
  std::string name;
  std::string format;
  std::vector<std::uint64_t> shape;
};

/// Columns in the order of their plans, in pieces.
class ColumnFiles {
 public:
  virtual ~ColumnFiles() = default;
  virtual void write(std::size_t column, std::span<const std::byte> bytes) = 0;
  virtual void commit() = 0;
};

/// True for names that mean a file or folder of columns; false for `-`. Throws InputError for other files.
bool is_column_file(const std::string& path);

/// `manifest` is JSON text; a pack's gets the files and hashes of the columns. Throws InputError.
std::unique_ptr<ColumnFiles> make_column_files(const std::string& path, const std::string& manifest,
                                               const std::vector<ColumnPlan>& plans);

/// The manifest of a tensor without its columns: the recipe spelled out step by step, the shape and the axis.
std::string quantize_manifest(const recipes::QuantRecipe& recipe, const std::vector<std::uint64_t>& shape, int axis);

}  // namespace halfulp::tool
