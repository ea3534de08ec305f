// Recipe packs on disk: written from a level, and read back as rows to be judged.
#pragma once

#include <string>

#include "halfulp/vectors/blocks/recipe_rows.hpp"
#include "halfulp/vectors/pack/pack.hpp"

namespace halfulp::vectors {

/// The manifest of a pack with these rows; files and hashes are not filled in.
Manifest recipe_manifest(const RecipePlan& plan, Level level, std::uint64_t seed, const RecipeRows& rows);

/// Writes all columns to a writer opened with that manifest; the caller commits.
void write_columns(const RecipePlan& plan, const RecipeRows& rows, PackWriter& writer);

/// A pack's rows. What is expected is computed anew, and must be what the pack holds, or another admissible
/// result. Throws InputError for a pack whose columns are not those of its SPEC, or that expects something
/// else.
struct RecipePack {
  RecipePlan plan;
  RecipeRows rows;
};
RecipePack read_recipe_pack(const PackReader& reader, int threads = 1);

}  // namespace halfulp::vectors
