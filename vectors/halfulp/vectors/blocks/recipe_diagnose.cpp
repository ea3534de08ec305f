// Scores behaviours against answers; see recipe_diagnose.hpp.
#include "halfulp/vectors/blocks/recipe_diagnose.hpp"

#include <algorithm>
#include <tuple>

#include "halfulp/vectors/blocks/recipe_behaviours.hpp"

namespace halfulp::vectors {
namespace {

constexpr std::size_t kFirstWrong = 24, kFirstRight = 8;  ///< rows that all behaviours see
constexpr std::size_t kProbe = 4;                         ///< wrong rows of which a behaviour must give one to go on
constexpr std::size_t kKept = 6;                          ///< best ones that go on although they do not fit

struct Score {
  const Behaviour* behaviour = nullptr;
  std::uint64_t rows = 0, blocks = 0, explained = 0;
  std::optional<std::size_t> first_missed;
};

class Scorer {
 public:
  Scorer(const RecipePlan& plan, const RecipeRows& rows, const std::vector<RowAnswer>& answers, const BlockTally& own)
      : plan_(plan), rows_(rows), answers_(answers), own_(own), count_(own.wrong_rows.size()), seen_(count_, false) {
    std::vector<std::size_t> wrong, right;
    for (std::size_t i = 0; i < count_; ++i) (own.wrong_rows[i] ? wrong : right).push_back(i);
    spread(wrong, kFirstWrong);
    spread(right, kFirstRight);
  }

  /// The scores of those that fit every row, and of the best others, over all rows.
  std::vector<Score> score(const std::vector<Behaviour>& behaviours) const {
    std::vector<Score> scores;
    for (const Behaviour& behaviour : behaviours) {
      Score score;
      score.behaviour = &behaviour;
      for (std::size_t i = 0; i < first_.size() && (i < kProbe || score.explained > 0); ++i) add(first_[i], score);
      if (score.explained > 0) scores.push_back(score);
    }
    std::stable_sort(scores.begin(), scores.end(), better);
    std::size_t kept = 0;
    while (kept < scores.size() && (kept < kKept || scores[kept].rows == first_.size())) ++kept;
    scores.resize(kept);
    for (Score& score : scores) {
      for (std::size_t row = 0; row < count_; ++row) {
        if (!seen_[row]) add(row, score);
      }
    }
    std::stable_sort(scores.begin(), scores.end(), better);
    return scores;
  }

  BlockFit fit_of(const Score& score) const {
    const Behaviour& behaviour = *score.behaviour;
    BlockFit fit{behaviour.label, behaviour.named, behaviour.departures, score.rows, score.blocks, score.explained, {}};
    if (!score.first_missed) return fit;
    const std::size_t row = *score.first_missed;
    RecipeRows one;
    one.rows = {rows_.rows[row]};
    one.expected = {answer_of(plan_, behaviour, rows_.rows[row]).value_or(rows_.expected[row])};
    const BlockTally tally = judge_blocks(plan_, one, {answers_[row]});
    if (tally.words_wrong > 0) {
      fit.unexplained = tally.first();
      fit.unexplained->row = row;
    }
    return fit;
  }

 private:
  static bool better(const Score& a, const Score& b) {
    return std::tuple(a.rows, a.explained, a.blocks) > std::tuple(b.rows, b.explained, b.blocks);
  }

  void spread(const std::vector<std::size_t>& from, std::size_t n) {
    for (std::size_t i = 0; i < std::min(n, from.size()); ++i) {
      first_.push_back(from[from.size() <= n ? i : i * from.size() / n]);
      seen_[first_.back()] = true;
    }
  }

  /// Adds one row. Only what the kernel gave is compared.
  void add(std::size_t row, Score& score) const {
    const auto blocks = static_cast<std::uint64_t>(plan_.blocks().count());
    const std::uint64_t matched = blocks - missed_blocks(*score.behaviour, row);
    score.blocks += matched;
    if (matched == blocks) {
      ++score.rows;
      score.explained += own_.wrong_rows[row] ? 1 : 0;
    } else if (!score.first_missed || row < *score.first_missed) {
      score.first_missed = row;
    }
  }

  std::uint64_t missed_blocks(const Behaviour& behaviour, std::size_t row) const {
    const auto given = answer_of(plan_, behaviour, rows_.rows[row]);
    if (!given) return static_cast<std::uint64_t>(plan_.blocks().count());
    const std::uint64_t missed = wrong_blocks(plan_, {*given}, answers_[row]);
    const Handling& handling = behaviour.handling;
    const bool plain = !handling.before && !handling.behind && !handling.instead;
    if (missed == 0 || !plain || behaviour.recipe.exact_steps() || plan_.task == Task::dequantize) return missed;
    return wrong_blocks(plan_, admissible_answers_of(plan_, behaviour, rows_.rows[row]), answers_[row]);
  }

  const RecipePlan& plan_;
  const RecipeRows& rows_;
  const std::vector<RowAnswer>& answers_;
  const BlockTally& own_;
  std::size_t count_;
  std::vector<std::size_t> first_;
  std::vector<bool> seen_;
};

bool fits_better(const BlockFit& a, const BlockFit& b) {
  return std::tuple(a.rows, -a.departures, a.named) > std::tuple(b.rows, -b.departures, b.named);
}

}  // namespace

BlockDiagnosis diagnose_blocks(const RecipePlan& plan, const RecipeRows& rows, const std::vector<RowAnswer>& answers, std::size_t most) {
  BlockDiagnosis diagnosis;
  const BlockTally own = judge_blocks(plan, rows, answers);
  diagnosis.rows = own.rows;
  diagnosis.blocks = own.blocks;
  diagnosis.rows_by_spec = own.rows - own.rows_wrong;
  if (own.rows_wrong == 0) return diagnosis;
  const Scorer scorer(plan, rows, answers, own);
  for (const auto behaviours_of : {simple_behaviours, combined_behaviours}) {
    if (diagnosis.exact()) break;  // nothing that is less simple is needed
    const std::vector<Behaviour> behaviours = behaviours_of(plan);
    diagnosis.behaviours += behaviours.size();
    for (const Score& score : scorer.score(behaviours)) {
      if (score.rows > diagnosis.rows_by_spec) diagnosis.fits.push_back(scorer.fit_of(score));
    }
    std::stable_sort(diagnosis.fits.begin(), diagnosis.fits.end(), fits_better);
  }
  if (diagnosis.exact()) {  // of several that give all, the simplest
    const int fewest = diagnosis.fits[0].departures;
    std::erase_if(diagnosis.fits, [&](const BlockFit& fit) { return fit.rows < diagnosis.rows || fit.departures > fewest; });
  } else if (diagnosis.fits.size() > most) {
    diagnosis.fits.resize(most);
  }
  return diagnosis;
}

}  // namespace halfulp::vectors
