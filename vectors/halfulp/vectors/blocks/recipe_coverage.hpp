// Recipe coverage: what the rows of a recipe pack or level reach.
//
// Nothing counted here proves a kernel right beyond its rows: tensors cannot be enumerated.
#pragma once

#include <string>
#include <vector>

#include "halfulp/vectors/blocks/recipe_rows.hpp"
#include "halfulp/vectors/coverage.hpp"

namespace halfulp::vectors {

struct RecipeCoverage {
  std::uint64_t rows = 0, blocks = 0, elements = 0;
  std::uint64_t refused = 0;  ///< rows of the level that the recipe refuses
  // Of these `all` is the number of codes that the format has (whether or not the recipe can reach them), of
  // pairs that of scale codes given times the element's codes. 0 for formats of more than 16 bits.
  Share codes;   ///< element codes
  Share scales;  ///< codes of block scales
  Share zeros;   ///< codes of zero points
  Share pairs;   ///< an element code beside a block scale
  std::string code_format, scale_format, zero_format;  ///< empty: not stored, or not seen (fake_quantize)
  std::vector<std::uint64_t> flags;                    ///< rows with each of row_flags(), in their order
};

/// Counts rows and what must come out of them; of dequantization what goes in.
RecipeCoverage recipe_coverage(const RecipePlan& plan, const RecipeRows& rows);

/// A line per count, each with a line end.
std::string coverage_text(const RecipeCoverage& coverage);

}  // namespace halfulp::vectors
