// Search: the best departures from a base, fewest first, with early elimination.
//
// Candidates are screened on a few answers; only what makes no mistake there is held against all of them,
// and the answer on which it then fails joins the screen. So an exact explanation is exact, and the others
// cost little.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "halfulp/vectors/diagnose.hpp"
#include "halfulp/vectors/diagnose_space.hpp"

namespace halfulp::vectors {

/// Answers of one kind of source.
struct Part {
  std::vector<Answer> cases;
  std::vector<Answer> screen;  ///< differences and matches, a few hundred of each

  void add(const Answer& one) { cases.push_back(one); }
  /// Chooses the screen. Call it once, after the last answer.
  void prepare();
};

/// Which behaviour stands at the base: where it is the SPEC, what the SPEC admits is known already.
enum class BaseKind : bool { other, spec };

struct Score {
  std::uint64_t explained = 0;  ///< differences that it gives
  std::uint64_t missed = 0;     ///< differences that it does not give
  std::uint64_t broken = 0;     ///< answers by the SPEC that it does not give
  std::optional<Finding> unexplained = {};
  std::uint64_t mistakes() const { return missed + broken; }
};

/// Held against every answer of a part.
Score full_score(const Behaviour& behaviour, BaseKind kind, const Part& part);

struct Found {
  Behaviour behaviour;
  std::vector<std::size_t> moves;  ///< ascending positions in the list of moves
  int cost = 0;
  std::uint64_t mistakes = 0;  ///< on the screen; 0: none at all
};

class Search {
 public:
  Search(const Behaviour& base, BaseKind kind, std::vector<Move> moves, Part& part);

  /// Tries every combination of up to `count` moves that was not tried before, unless there is an exact
  /// one.
  void deepen(int count);
  bool exact() const { return !kept_.empty() && kept_.front().mistakes == 0; }
  /// All that make no mistake with the fewest moves, or else a few with the fewest mistakes. None repeats
  /// another with moves that change nothing.
  const std::vector<Found>& found() const { return kept_; }
  const std::vector<Move>& moves() const { return moves_; }

 private:
  std::optional<std::uint64_t> budget() const;
  std::optional<std::uint64_t> mistakes(const Behaviour& behaviour, BaseKind kind, std::uint64_t budget);
  void try_one(const Behaviour& behaviour, BaseKind kind, int cost);
  void combine(const Behaviour& behaviour, std::size_t begin, int left, int cost);

  Behaviour base_;
  BaseKind kind_;
  std::vector<Move> moves_;
  Part* part_;
  int tried_ = -1;  ///< combinations of so many moves
  std::vector<std::size_t> chosen_;
  std::vector<Found> kept_;
};

}  // namespace halfulp::vectors
