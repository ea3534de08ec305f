// Depth-first over the moves; a candidate is dropped as soon as it has made more mistakes than the best
// ones kept.
#include "halfulp/vectors/diagnose_search.hpp"

#include <algorithm>

namespace halfulp::vectors {
namespace {

constexpr std::size_t kMostKept = 8;      ///< partial explanations
constexpr std::size_t kMostExact = 64;    ///< of one number of moves
constexpr std::size_t kScreenSize = 256;  ///< differences, and as many matches

bool follows(const Behaviour& behaviour, BaseKind kind, const Answer& one) {
  return kind == BaseKind::spec ? one.by_spec : behaviour.gives(one.word, one.got);
}

}  // namespace

void Part::prepare() {
  std::sort(cases.begin(), cases.end(), [](const Answer& a, const Answer& b) {
    if (a.by_spec != b.by_spec) return b.by_spec;
    return counter_random(0, a.word) < counter_random(0, b.word);
  });
  const auto matches =
      std::find_if(cases.begin(), cases.end(), [](const Answer& one) { return one.by_spec; });
  const auto take = [&](auto begin, auto end) {
    screen.insert(screen.end(), begin, begin + std::min<std::ptrdiff_t>(end - begin, kScreenSize));
  };
  take(cases.begin(), matches);
  take(matches, cases.end());
}

Score full_score(const Behaviour& behaviour, BaseKind kind, const Part& part) {
  Score score;
  for (const Answer& one : part.cases) {
    if (follows(behaviour, kind, one)) {
      score.explained += one.by_spec ? 0 : 1;
      continue;
    }
    ++(one.by_spec ? score.broken : score.missed);
    if (!score.unexplained || one.word < score.unexplained->word)
      score.unexplained = Finding{one.word, one.got, behaviour(one.word).code};
  }
  return score;
}

Search::Search(const Behaviour& base, BaseKind kind, std::vector<Move> moves, Part& part)
    : base_(base), kind_(kind), moves_(std::move(moves)), part_(&part) {}

/// Mistakes that a candidate may make to be kept; empty when nothing can be.
std::optional<std::uint64_t> Search::budget() const {
  if (exact()) return kept_.size() < kMostExact ? std::optional<std::uint64_t>(0) : std::nullopt;
  if (kept_.size() < kMostKept) return part_->screen.size();
  return kept_.back().mistakes - 1;
}

/// On the screen; nullopt once there are more than `budget`.
std::optional<std::uint64_t> Search::mistakes(const Behaviour& behaviour, BaseKind kind,
                                              std::uint64_t budget) {
  std::uint64_t count = 0;
  for (const Answer& one : part_->screen) {
    if (!follows(behaviour, kind, one) && ++count > budget) return std::nullopt;
  }
  if (count > 0) return count;
  const auto fails = std::find_if(part_->cases.begin(), part_->cases.end(),
                                  [&](const Answer& one) { return !follows(behaviour, kind, one); });
  if (fails == part_->cases.end()) return 0;
  part_->screen.insert(part_->screen.begin(), *fails);
  return budget > 0 ? std::optional<std::uint64_t>(1) : std::nullopt;
}

void Search::try_one(const Behaviour& behaviour, BaseKind kind, int cost) {
  const auto allowed = budget();
  if (!allowed) return;
  const auto made = mistakes(behaviour, kind, *allowed);
  if (!made) return;
  const bool repeats = std::any_of(kept_.begin(), kept_.end(), [&](const Found& one) {
    return one.mistakes <= *made &&
           std::includes(chosen_.begin(), chosen_.end(), one.moves.begin(), one.moves.end());
  });
  if (repeats) return;
  const auto after =
      std::find_if(kept_.begin(), kept_.end(), [&](const Found& one) { return one.mistakes > *made; });
  kept_.insert(after, {behaviour, chosen_, cost, *made});
  if (exact())
    std::erase_if(kept_, [](const Found& one) { return one.mistakes > 0; });
  else if (kept_.size() > kMostKept)
    kept_.pop_back();
}

/// Every combination of `left` further moves, from position `begin` on.
void Search::combine(const Behaviour& behaviour, std::size_t begin, int left, int cost) {
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

void Search::deepen(int count) {
  while (tried_ < count && !exact()) {
    ++tried_;
    if (tried_ == 0)
      try_one(base_, kind_, 0);
    else
      combine(base_, 0, tried_, 0);
  }
}

}  // namespace halfulp::vectors
