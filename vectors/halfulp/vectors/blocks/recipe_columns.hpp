// Columns of a recipe pack: their names, formats and shapes, and rows as the bytes in them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "halfulp/vectors/blocks/recipe_row.hpp"
#include "halfulp/vectors/pack/manifest.hpp"

namespace halfulp::vectors {

/// What of a row a column holds.
enum class Part : std::uint8_t { elements, tensor_scale, scale, zero, code, kept, value, input };

struct RecipeColumn {
  std::string name;
  Part part = Part::elements;
  std::string format;
  std::vector<std::uint64_t> shape;  ///< of one row
  std::size_t input = 0;             ///< place in RecipePlan::varied, of inputs

  std::size_t words() const;      ///< of one row
  std::size_t row_bytes() const;  ///< of one row
};

/// What a kernel gets, and what it must give, in the order of the pack.
std::vector<RecipeColumn> input_columns(const RecipePlan& plan);
std::vector<RecipeColumn> expected_columns(const RecipePlan& plan);

/// The bytes of one row of every input column; each span has row_bytes().
void put_inputs(const RecipePlan& plan, const RecipeRow& row, std::span<const std::span<std::byte>> columns);
RecipeRow get_inputs(const RecipePlan& plan, std::span<const std::span<const std::byte>> columns);

/// The bytes of one row of every expected column. Padding of layouts is zero, and not read back. An empty
/// span in get_answer() stands for a column that the kernel does not give.
void put_answer(const RecipePlan& plan, const RowAnswer& answer, std::span<const std::span<std::byte>> columns);
RowAnswer get_answer(const RecipePlan& plan, std::span<const std::span<const std::byte>> columns);

/// The columns as a manifest lists them, without files and hashes, for so many rows.
std::vector<ColumnInfo> manifest_columns(const RecipePlan& plan, std::uint64_t rows);

}  // namespace halfulp::vectors
