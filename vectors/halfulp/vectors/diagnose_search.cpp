// Depth-first over the moves; a candidate is dropped as soon as it has made more mistakes than the best ones kept.
#include "halfulp/vectors/diagnose_search.hpp"

#include <algorithm>

namespace halfulp::vectors {
namespace {

constexpr std::size_t kMostKept = 8;    ///< partial explanations
constexpr std::size_t kMostExact = 64;  ///< of one number of moves

/// nullopt once there are more mistakes than `budget`.
std::optional<Score> score(const Behaviour& behaviour, BaseKind kind, std::span<const Answer> cases, std::uint64_t budget) {
  Score result;
  for (const Answer& one : cases) {
    const bool match = kind == BaseKind::spec ? one.by_spec : behaviour.gives(one.word, one.got);
    if (match) {
      result.explained += one.by_spec ? 0 : 1;
      continue;
    }
    ++(one.by_spec ? result.broken : result.missed);
    if (result.mistakes() > budget) return std::nullopt;
    if (!result.unexplained || one.word < result.unexplained->word)
      result.unexplained = Finding{one.word, one.got, behaviour(one.word).code};
  }
  return result;
}

class Search {
 public:
  Search(std::span<const Move> moves, std::span<const Answer> cases, std::uint64_t limit)
      : moves_(moves), cases_(cases), limit_(limit) {}

  void try_one(const Behaviour& behaviour, BaseKind kind, int cost) {
    const auto budget = this->budget();
    if (!budget) return;
    const std::optional<Score> result = score(behaviour, kind, cases_, *budget);
    if (!result) return;
    const bool repeats = std::any_of(kept_.begin(), kept_.end(), [&](const Found& one) {
      return one.score.mistakes() <= result->mistakes() &&
             std::includes(chosen_.begin(), chosen_.end(), one.moves.begin(), one.moves.end());
    });
    if (repeats) return;
    const auto after = std::find_if(kept_.begin(), kept_.end(),
                                    [&](const Found& one) { return one.score.mistakes() > result->mistakes(); });
    kept_.insert(after, {behaviour, chosen_, cost, *result});
    if (exact())
      std::erase_if(kept_, [](const Found& one) { return one.score.mistakes() > 0; });
    else if (kept_.size() > kMostKept)
      kept_.pop_back();
  }

  /// Every combination of `left` further moves, from position `begin` on.
  void combine(const Behaviour& behaviour, std::size_t begin, int left, int cost) {
    if (left == 0) return try_one(behaviour, BaseKind::other, cost);
    for (std::size_t i = begin; i < moves_.size(); ++i) {
      if (!chosen_.empty() && moves_[chosen_.back()].dimension == moves_[i].dimension) continue;
      Behaviour next = behaviour;
      moves_[i].apply(next);
      chosen_.push_back(i);
      combine(next, i + 1, left - 1, cost + moves_[i].cost);
      chosen_.pop_back();
    }
  }

  bool exact() const { return !kept_.empty() && kept_.front().score.mistakes() == 0; }
  std::vector<Found> take() { return std::move(kept_); }

 private:
  /// Mistakes that a candidate may make to be kept; empty when nothing can be.
  std::optional<std::uint64_t> budget() const {
    if (exact()) return kept_.size() < kMostExact ? std::optional<std::uint64_t>(0) : std::nullopt;
    if (limit_ == 0) return std::nullopt;
    if (kept_.size() < kMostKept) return limit_ - 1;
    return kept_.back().score.mistakes() - 1;
  }

  std::span<const Move> moves_;
  std::span<const Answer> cases_;
  std::uint64_t limit_;
  std::vector<std::size_t> chosen_;
  std::vector<Found> kept_;
};

}  // namespace

std::vector<Found> search(const Behaviour& base, BaseKind kind, std::span<const Move> moves, std::span<const Answer> cases,
                          int most_moves, std::uint64_t limit) {
  Search search(moves, cases, limit);
  search.try_one(base, kind, 0);
  for (int count = 1; count <= most_moves && !search.exact(); ++count) search.combine(base, 0, count, 0);
  return search.take();
}

}  // namespace halfulp::vectors
