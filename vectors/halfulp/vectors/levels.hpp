// Levels: which source words a verdict looks at. specials < thresholds < stratified < exhaustive.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/names.hpp"
#include "halfulp/vectors/expected.hpp"

namespace halfulp::vectors {

enum class Level : std::uint8_t { specials, thresholds, stratified, exhaustive };

/// What a level proves: every source word; every kernel that is monotone between the thresholds; nothing
/// beyond its rows.
enum class Completeness : std::uint8_t { exhaustive, complete_for_monotone, sampled };

struct LevelWords {
  std::vector<std::uint64_t> words;  ///< container words in ascending order, without repetition
  std::uint64_t refused = 0;         ///< words of the level that the policy refuses: left out
};

/// The words of a level below exhaustive. `seed` draws the random words of `stratified` and of targets
/// without a table.
LevelWords level_words(const Expected& expected, Level level, std::uint64_t seed);

/// Ties of the target that the source can hold: all of a small target's, and those of every binade's first,
/// middle and last steps of a larger one. Container words in ascending order, without repetition.
std::vector<std::uint64_t> tie_words(const CastPlan& plan);

/// What a run over `words` words of a level proves.
Completeness completeness(const Expected& expected, Level level, std::uint64_t words);

}  // namespace halfulp::vectors

namespace halfulp {
template <>
inline constexpr auto kNames<vectors::Level> =
    std::to_array<Name<vectors::Level>>({{vectors::Level::specials, "specials"},
                                         {vectors::Level::thresholds, "thresholds"},
                                         {vectors::Level::stratified, "stratified"},
                                         {vectors::Level::exhaustive, "exhaustive"}});
template <>
inline constexpr auto kNames<vectors::Completeness> = std::to_array<Name<vectors::Completeness>>(
    {{vectors::Completeness::exhaustive, "exhaustive"},
     {vectors::Completeness::complete_for_monotone, "complete_for_monotone"},
     {vectors::Completeness::sampled, "sampled"}});
}  // namespace halfulp
