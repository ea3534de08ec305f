// Rows are compared by the bytes of their input columns; see recipe_claims.hpp.
#include "halfulp/vectors/blocks/recipe_claims.hpp"

#include "halfulp/error.hpp"
#include "halfulp/names.hpp"
#include "halfulp/vectors/blocks/recipe_columns.hpp"
#include "halfulp/vectors/kernels/plugged.hpp"

namespace halfulp::vectors {
namespace {

InputError wrong(const RecipePlan& plan, const std::string& why) {
  return InputError("pack of " + spec_text(plan), why, "make it again with `halfulp gen`");
}

/// The bytes of a row's inputs, padding zero.
std::vector<std::byte> bytes_of(const RecipePlan& plan, const std::vector<RecipeColumn>& columns,
                                const RecipeRow& row) {
  std::size_t size = 0;
  for (const RecipeColumn& column : columns) size += column.row_bytes();
  std::vector<std::byte> bytes(size);
  std::vector<std::span<std::byte>> cells;
  for (std::size_t at = 0, i = 0; i < columns.size(); at += columns[i++].row_bytes())
    cells.push_back(std::span(bytes).subspan(at, columns[i].row_bytes()));
  put_inputs(plan, row, cells);
  return bytes;
}

}  // namespace

void require_claims(const RecipePlan& plan, const Manifest& manifest, RecipeRows& rows) {
  if (manifest.completeness != Completeness::sampled) {
    throw wrong(plan, "it claims to be " + std::string(name_of(manifest.completeness)) +
                          ", and rows of a recipe are no more than sampled");
  }
  const std::vector<RecipeColumn> columns = input_columns(plan);
  const std::string level = "level " + std::string(name_of(manifest.level)) + " with seed " +
                            std::to_string(manifest.seed);
  std::size_t held = 0;  // rows of the pack that have been found
  std::uint64_t refused = 0;
  for (const RecipeRow& chosen : chosen_rows(plan, manifest.level, manifest.seed)) {
    if (held < rows.rows.size() && bytes_of(plan, columns, chosen) == bytes_of(plan, columns, rows.rows[held])) {
      rows.rows[held++].flags |= chosen.flags;
    } else if (expected_of(plan, chosen)) {
      throw wrong(plan, "it claims to be of " + level + ", and its row " + std::to_string(held) + " is not the one there");
    } else {
      ++refused;
    }
  }
  if (held < rows.rows.size()) {
    throw wrong(plan, "it claims to be of " + level + ", which has " + grouped_digits(held) + " of its " +
                          counted(rows.rows.size(), "row"));
  }
  if (refused != manifest.refused) {
    throw wrong(plan, "it claims that the recipe refuses " + counted(manifest.refused, "row") +
                          " of its level, and it refuses " + grouped_digits(refused));
  }
}

}  // namespace halfulp::vectors
