// Parts of verdicts on recipes, and a whole one as JSON: exact totals, one failure card, what would explain it.
#pragma once

#include <string>
#include <vector>

#include "halfulp/vectors/blocks/recipe_diagnose.hpp"
#include "halfulp/vectors/blocks/recipe_verify.hpp"
#include "halfulp/vectors/card.hpp"

namespace halfulp::vectors {

/// The card of one finding: the block, the steps with their values, what was given and what was expected.
std::vector<CardLine> block_card(const RecipePlan& plan, const RecipeRow& row, const RowAnswer& want,
                                 const RowAnswer& got, const BlockCase& one);

/// A command line that computes the block again; for large blocks, the one that writes the row.
std::string reproduce_block(const RecipePlan& plan, const RecipeRow& row, std::int64_t block, Level level,
                            std::uint64_t seed);

/// One JSON object on one line.
std::string recipe_verdict_json(const RecipeVerdict& verdict, const BlockDiagnosis& diagnosis);

/// How many blocks match another result of an approximate step than the printed one, and which step that
/// is.
std::string admissible_text(const RecipeVerdict& verdict);

/// The diagnosis alone, as lines of text.
std::string diagnosis_text(const BlockDiagnosis& diagnosis);

/// The same as one JSON object, without a line end.
std::string diagnosis_json(const BlockDiagnosis& diagnosis);

/// A stored word as `halfulp quantize` prints it: integers in decimal, all else in hex.
std::string stored_text(const recipes::Stored& stored, std::uint64_t word);

}  // namespace halfulp::vectors
