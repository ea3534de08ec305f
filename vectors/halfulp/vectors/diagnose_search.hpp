// search(): the best departures from a base, fewest first, with early elimination.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halfulp/vectors/diagnose.hpp"
#include "halfulp/vectors/diagnose_space.hpp"

namespace halfulp::vectors {

struct Score {
  std::uint64_t explained = 0;  ///< differences that it gives
  std::uint64_t missed = 0;     ///< differences that it does not give
  std::uint64_t broken = 0;     ///< answers by the SPEC that it does not give
  std::optional<Finding> unexplained = {};
  std::uint64_t mistakes() const { return missed + broken; }
};

struct Found {
  Behaviour behaviour;
  std::vector<std::size_t> moves;  ///< ascending positions in the list of moves
  int cost = 0;
  Score score;
};

/// Which behaviour stands at the base: where it is the SPEC, what the SPEC admits is known already.
enum class BaseKind : bool { other, spec };

/// Tries the base, then every combination of one move, two … up to `most_moves`, and stops after the first number of
/// moves that explains everything. Returns the best ones: all that make no mistake, or else a few that make fewer than
/// `limit` mistakes, in ascending order of mistakes. None repeats another with moves that change nothing.
std::vector<Found> search(const Behaviour& base, BaseKind kind, std::span<const Move> moves, std::span<const Answer> cases,
                          int most_moves, std::uint64_t limit);

}  // namespace halfulp::vectors
