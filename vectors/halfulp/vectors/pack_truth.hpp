// Pack truth: whether a pack of a cast or decode holds what it says, by its SPEC alone.
//
// Decides: that nothing of a pack is believed but its inputs and its SPEC. Expected codes are computed again;
// a level, a completeness and a number of refused words are compared with the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "halfulp/vectors/coverage.hpp"
#include "halfulp/vectors/pack/pack.hpp"

namespace halfulp::vectors {

/// The columns of a pack of a cast that are judged; as long as the reader. Little-endian words.
struct CastColumns {
  std::span<const std::byte> input;
  std::span<const std::byte> expected;
  std::span<const std::byte> alternative;  ///< empty: there is none
};

/// What the SPEC of a pack asks of a table: `every_word` for the level exhaustive.
Expected expected_of(const CastPlan& plan, const Manifest& manifest);

/// Throws InputError, naming the first such row, when the SPEC refuses a source word of the pack or does not
/// give the code that the pack expects, or its alternative.
void require_expected(const Expected& expected, const CastColumns& columns, const std::string& path);

/// How the rows were chosen.
struct PackRows {
  bool of_level = false;  ///< they are those of the manifest's level and seed, in order
  std::uint64_t refused = 0;  ///< source words of that level that the policy refuses; 0 for other rows
};

/// Throws InputError when the rows prove less than the manifest claims, or when they are those of its level
/// and another number of words is refused.
PackRows require_claims(const Expected& expected, const Manifest& manifest, const CastColumns& columns,
                        const std::string& path);

/// Counts the source words of an input column.
Coverage coverage_of_column(const Expected& expected, std::span<const std::byte> input);

}  // namespace halfulp::vectors
