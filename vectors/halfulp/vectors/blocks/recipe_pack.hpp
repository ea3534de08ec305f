// Recipe packs on disk: written from a level, and read back as rows to be judged.
#pragma once

#include <memory>

#include "halfulp/vectors/blocks/recipe_rows.hpp"
#include "halfulp/vectors/pack/rows.hpp"

namespace halfulp::vectors {

/// The manifest of a pack with these rows; files and hashes are not filled in.
Manifest recipe_manifest(const RecipePlan& plan, Level level, std::uint64_t seed, const RecipeRows& rows);

/// The rows of a level as a source for write_rows(). Throws InputError where the level does not apply or no
/// row is left, Disagreement where engine and twin differ.
std::unique_ptr<RowSource> recipe_rows(RecipePlan plan, Level level, std::uint64_t seed, int threads);

/// A pack's rows. What is expected is computed anew, and must be what the pack holds, or another admissible
/// result. Throws InputError for a pack whose columns are not those of its SPEC, that expects something
/// else, or whose level, completeness, flags or count of refused rows are not those of its rows.
struct RecipePack {
  RecipePlan plan;
  RecipeRows rows;
};
RecipePack read_recipe_pack(const PackReader& reader, int threads = 1);

}  // namespace halfulp::vectors
