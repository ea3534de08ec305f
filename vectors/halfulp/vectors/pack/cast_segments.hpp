// CastSegments: all rows of a level as stretches of source words with the same facts.
//
// Decides: where facts can change. A cast with a fixed rounding direction depends only on where its source
// lies among the numbers of the target and the points half way between them, so a stretch ends at each of
// these, at each change of class of the source, at powers of two and at both sides of every threshold.
// Other casts are asked word by word, while the rows are made.
#pragma once

#include <vector>

#include "halfulp/vectors/pack/cast_facts.hpp"

namespace halfulp::vectors {

struct CastSegment {
  std::uint64_t first_row = 0;
  std::uint64_t bits = 0;   ///< of the first source word, without storage_shift; the others follow
  std::uint64_t count = 0;  ///< of rows
  bool each_word = false;   ///< only `alternative` of the facts is known
  CastFacts facts;
};

struct CastSegments {
  std::vector<CastSegment> segments;
  std::uint64_t rows = 0;
  std::uint64_t refused = 0;  ///< words of the level that have no row
};

/// The rows of a level in ascending order of source words. `facts` are those of `expected`. Throws
/// InputError where the level does not apply.
CastSegments cast_segments(const Expected& expected, const FactsOf& facts, Level level, std::uint64_t seed);

/// True when stretches can be found by the rule above; otherwise every word is asked.
bool has_stretches(const CastPlan& plan);

/// The rows of the level exhaustive as stretches. Requires has_stretches(), a table, and a target of at
/// most 19 bits.
CastSegments cast_stretches(const Expected& expected, const FactsOf& facts);

}  // namespace halfulp::vectors
