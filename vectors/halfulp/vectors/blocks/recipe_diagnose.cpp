// Scores behaviours against answers; see recipe_diagnose.hpp.
#include "halfulp/vectors/blocks/recipe_diagnose.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "halfulp/error.hpp"
#include "halfulp/recipes/elements.hpp"
#include "halfulp/recipes/granularity.hpp"
#include "halfulp/recipes/registry.hpp"
#include "halfulp/vectors/blocks/recipe_departures.hpp"
#include "halfulp/vectors/blocks/recipe_kernels.hpp"
#include "halfulp/vectors/blocks/row_changes.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::vectors {
namespace {

using recipes::QuantRecipe;

constexpr std::size_t kFirstWrong = 24, kFirstRight = 8;  ///< rows that all behaviours see
constexpr std::size_t kProbe = 6;                         ///< wrong rows of which a behaviour must give one
constexpr std::size_t kKept = 6;                          ///< best ones that go on although they do not fit

/// What is done to rows before a recipe, or to its answers behind it. Each of the three may be empty.
struct Handling {
  std::string label;
  std::function<RecipeRow(const RecipePlan&, RecipeRow)> before;
  std::function<std::optional<RowAnswer>(const RecipePlan&, const RecipeRow&, RowAnswer)> behind;
  std::function<std::optional<RowAnswer>(const RecipePlan&, const RecipeRow&)> instead;
};

struct Behaviour {
  std::string label;
  bool named = false;
  int departures = 1;
  QuantRecipe recipe;
  Handling handling;
};

/// Memory and order: the same for every recipe.
std::vector<Handling> handlings_of(const RecipePlan& plan) {
  std::vector<Handling> list;
  const auto behind = [&](std::string label, auto change) {
    if (plan.task == Task::dequantize) {
      list.push_back({std::move(label), [change](const RecipePlan& p, RecipeRow row) {
                        if (auto stored = change(p, row, row.stored)) row.stored = std::move(*stored);
                        return row;
                      }, {}, {}});
    } else {
      list.push_back({std::move(label), {}, change, {}});
    }
  };
  const int width = plan.recipe.code.format.width;
  for (const PackingName& one : kPackings) {
    const Packing own = plan.packing.value_or(Packing::low_first), packing = one.packing;
    if (packing == own || !packs(packing, width) || width > 4 || packing == Packing::byte_low_bits) continue;
    behind("codes packed " + std::string(one.name), [packing](const RecipePlan& p, const RecipeRow&, RowAnswer a) { return with_codes_packed(p, std::move(a), packing); });
  }
  for (const ScaleLayoutName& one : kScaleLayouts) {
    if (plan.recipe.scale.reg < 0 || one.layout == plan.layout.value_or(ScaleLayout::linear)) continue;
    behind("scales laid out " + std::string(one.name), [layout = one.layout](const RecipePlan& p, const RecipeRow&, RowAnswer a) { return with_scales_laid_out(p, std::move(a), layout); });
  }
  for (const int by : {1, -1}) {
    const std::string sign = by > 0 ? "next" : "previous";
    behind("every scale at the " + sign + " block", [by](const RecipePlan&, const RecipeRow&, RowAnswer a) { return with_scales_rotated(std::move(a), by); });
    behind(std::string("scale codes one too ") + (by > 0 ? "large" : "small"), [by](const RecipePlan& p, const RecipeRow&, RowAnswer a) { return with_scales_moved(p, std::move(a), by); });
  }
  behind("tensor scale inverted", [](const RecipePlan& p, const RecipeRow&, RowAnswer a) { return with_tensor_scale_inverted(p, std::move(a)); });
  if (plan.task != Task::quantize) return list;
  behind("zero blocks keep the scale of the block before", [](const RecipePlan& p, const RecipeRow& r, RowAnswer a) { return with_stale_scale(p, r, std::move(a)); });
  if (plan.recipe.scale.reg >= 0) {
    const FormatSpec& format = plan.recipe.scale.format;
    for (const auto& [text, code] : {std::pair<std::string, std::uint64_t>{"0x00", 0}, {"1.0", blocks::code_of(format, 1)}}) {
      behind("zero blocks store scale " + text, [code](const RecipePlan& p, const RecipeRow& r, RowAnswer a) { return with_zero_block_scale(p, r, std::move(a), code); });
    }
  }
  const FormatSpec& code = plan.recipe.code.format;
  if (code.zeros == Zeros::plus_and_minus)
    behind("-0 becomes +0", [mask = code.sign_mask()](const RecipePlan&, const RecipeRow&, RowAnswer a) { return std::optional(with_codes_replaced(std::move(a), mask, 0)); });
  if (code.encoding == Encoding::twos_complement && code.is_signed)
    behind("most negative code never used", [mask = code.sign_mask()](const RecipePlan&, const RecipeRow&, RowAnswer a) { return std::optional(with_codes_replaced(std::move(a), mask, mask + 1)); });
  return list;
}

/// What replaces the handling of the plan's own rows.
std::vector<Handling> own_handlings() {
  return {{"subnormal inputs count as zeros", subnormals_flushed, {}, {}},
          {"inputs through bf16", [](const RecipePlan&, RecipeRow r) { return rounded_to(std::move(r), spec_of("bf16")); }, {}, {}},
          {"inputs through f16", [](const RecipePlan&, RecipeRow r) { return rounded_to(std::move(r), spec_of("f16")); }, {}, {}},
          {"blocks along the other axis", {}, {}, along_other_axis},
          {"a partial block reads on in the block before", {}, {}, with_stale_tail},
          {"amax not reset between blocks", {}, {}, with_running_amax}};
}

/// Every named recipe and element whose columns are those of the plan; scales of another size are re-expressed.
std::vector<Behaviour> named_behaviours(const RecipePlan& plan) {
  std::vector<Behaviour> list;
  for (const std::string_view name : recipes::recipe_names()) {
    for (const std::string& element : recipes::recipe_elements(name)) {
      if (name == plan.name && element == plan.element) continue;
      auto other = comparable_recipe(plan, name, element);
      if (!other && plan.task == Task::quantize) {  // scales in words of another size
        QuantRecipe same = recipes::named_recipe(name, element);
        const recipes::Stored scale = same.scale;
        same.scale.format = plan.recipe.scale.format;
        const bool fits = (scale.reg >= 0) == (plan.recipe.scale.reg >= 0) && (same.zero.reg >= 0) == (plan.recipe.zero.reg >= 0) &&
                          same.code.format.width == plan.recipe.code.format.width && (same.tensor_scale.reg >= 0 || plan.recipe.tensor_scale.reg < 0);
        if (!fits) continue;
        same.scale = scale;
        other = recipes::with_granularity(std::move(same), plan.recipe.granularity, plan.recipe.rows, plan.recipe.columns);
      }
      if (!other) continue;
      const bool several = recipes::recipe_elements(name).size() > 1;
      list.push_back({"recipe:" + std::string(name) + (several ? ",to=" + element : ""), true, 1, std::move(*other), {}});
    }
  }
  return list;
}

std::vector<Behaviour> behaviours_of(const RecipePlan& plan) {
  std::vector<Behaviour> named = named_behaviours(plan), list = named;
  const std::vector<Handling> shared = handlings_of(plan);
  for (Departure& departure : departures_of(plan)) list.push_back({departure.label, false, departure.fields, std::move(departure.recipe), {}});
  for (const Handling& handling : shared) list.push_back({handling.label, false, 1, plan.recipe, handling});
  for (const Handling& handling : own_handlings()) {
    if (plan.task != Task::dequantize) list.push_back({handling.label, false, 1, plan.recipe, handling});
  }
  for (const Behaviour& one : named) {
    for (const Handling& handling : shared) list.push_back({one.label + ", " + handling.label, false, 2, one.recipe, handling});
  }
  return list;
}

/// Scales of a recipe that stores them in words of another size, as the plan's codes.
RowAnswer reexpressed(const RecipePlan& plan, const QuantRecipe& recipe, RowAnswer answer) {
  if (recipe.scale.reg < 0 || plan.recipe.scale.reg < 0) return answer;
  const FormatSpec &from = recipe.scale.format, &to = plan.recipe.scale.format;
  if (from.storage_bytes() == to.storage_bytes()) return answer;
  for (std::uint64_t& code : answer.scales) {
    const double x = blocks::number_of(from, code);
    code = !to.is_signed && x < 0 ? ~std::uint64_t{0} : x == 0 && to.zeros == Zeros::absent ? 0 : blocks::code_of(to, x);
  }
  return answer;
}

class Scorer {
 public:
  Scorer(const RecipePlan& plan, const RecipeRows& rows, const std::vector<RowAnswer>& answers) : plan_(plan), rows_(rows), answers_(answers) {}

  struct Score {
    std::uint64_t rows = 0, blocks = 0, explained = 0;
    std::optional<std::size_t> first_missed;
  };

  /// Adds one row. Only what the kernel gave is compared.
  void add(const Behaviour& behaviour, std::size_t row, bool differs, Score& score) const {
    const auto blocks = static_cast<std::uint64_t>(plan_.blocks().count());
    const std::uint64_t matched = blocks - missed_blocks(behaviour, row);
    score.blocks += matched;
    if (matched == blocks) {
      ++score.rows;
      score.explained += differs ? 1 : 0;
    } else if (!score.first_missed || row < *score.first_missed) {
      score.first_missed = row;
    }
  }

  std::optional<RowAnswer> answer(const Behaviour& behaviour, std::size_t row) const {
    const RecipeRow& own = rows_.rows[row];
    const Handling& handling = behaviour.handling;
    try {
      if (handling.instead) return handling.instead(plan_, own);
      const RecipeRow* in = &own;
      RecipeRow changed;
      if (handling.before) {
        changed = handling.before(plan_, own);
        in = &changed;
      }
      RowAnswer given = reexpressed(plan_, behaviour.recipe, answer_by(plan_, behaviour.recipe, *in));
      return handling.behind ? handling.behind(plan_, own, std::move(given)) : std::optional(std::move(given));
    } catch (const InputError&) {
      return std::nullopt;  // refused: it cannot be what the kernel does
    }
  }

 private:
  std::uint64_t missed_blocks(const Behaviour& behaviour, std::size_t row) const {
    const auto given = answer(behaviour, row);
    if (!given) return static_cast<std::uint64_t>(plan_.blocks().count());
    const std::uint64_t missed = wrong_blocks(plan_, {*given}, answers_[row]);
    const bool plain = !behaviour.handling.before && !behaviour.handling.behind && !behaviour.handling.instead;
    if (missed == 0 || !plain || behaviour.recipe.exact_steps() || plan_.task == Task::dequantize) return missed;
    RecipePlan other = plan_;
    other.recipe = behaviour.recipe;
    std::vector<RowAnswer> choices = admissible_answers(other, rows_.rows[row]);
    for (RowAnswer& choice : choices) choice = reexpressed(plan_, behaviour.recipe, std::move(choice));
    return wrong_blocks(plan_, choices, answers_[row]);
  }

  const RecipePlan& plan_;
  const RecipeRows& rows_;
  const std::vector<RowAnswer>& answers_;
};

}  // namespace

BlockDiagnosis diagnose_blocks(const RecipePlan& plan, const RecipeRows& rows, const std::vector<RowAnswer>& answers, std::size_t most) {
  BlockDiagnosis diagnosis;
  const std::size_t count = std::min(answers.size(), rows.rows.size());
  diagnosis.rows = count;
  diagnosis.blocks = count * static_cast<std::uint64_t>(plan.blocks().count());
  const BlockTally own = judge_blocks(plan, rows, answers);
  diagnosis.rows_by_spec = count - own.rows_wrong;
  if (own.rows_wrong == 0) return diagnosis;
  std::vector<std::size_t> wrong, right, first;
  for (std::size_t i = 0; i < count; ++i) (own.wrong_rows[i] ? wrong : right).push_back(i);
  const auto spread = [&](const std::vector<std::size_t>& from, std::size_t n) {
    for (std::size_t i = 0; i < std::min(n, from.size()); ++i) first.push_back(from[from.size() <= n ? i : i * from.size() / n]);
  };
  spread(wrong, kFirstWrong);
  spread(right, kFirstRight);

  const std::vector<Behaviour> behaviours = behaviours_of(plan);
  diagnosis.behaviours = behaviours.size();
  const Scorer scorer(plan, rows, answers);
  std::vector<Scorer::Score> scores(behaviours.size());
  for (std::size_t b = 0; b < behaviours.size(); ++b) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      scorer.add(behaviours[b], first[i], own.wrong_rows[first[i]], scores[b]);
      if (i + 1 == kProbe && scores[b].explained == 0) break;
    }
  }
  std::vector<std::size_t> order(behaviours.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto better = [&](std::size_t a, std::size_t b) {
    return std::tuple(scores[a].rows, scores[a].explained, scores[a].blocks) > std::tuple(scores[b].rows, scores[b].explained, scores[b].blocks);
  };
  std::stable_sort(order.begin(), order.end(), better);
  std::vector<std::size_t> going_on;
  for (const std::size_t b : order) {
    if (scores[b].rows == first.size() || (going_on.size() < kKept && scores[b].explained > 0)) going_on.push_back(b);
  }
  std::vector<bool> seen(count, false);
  for (const std::size_t row : first) seen[row] = true;
  for (const std::size_t b : going_on) {
    for (std::size_t row = 0; row < count; ++row) {
      if (!seen[row]) scorer.add(behaviours[b], row, own.wrong_rows[row], scores[b]);
    }
  }
  std::stable_sort(going_on.begin(), going_on.end(), better);
  for (const std::size_t b : going_on) {
    const bool exact = scores[b].rows == count;
    if (!exact && (diagnosis.exact() || diagnosis.fits.size() >= most || scores[b].rows <= diagnosis.rows_by_spec)) break;
    BlockFit fit{behaviours[b].label, behaviours[b].named, behaviours[b].departures, scores[b].rows, scores[b].blocks, scores[b].explained, {}};
    if (scores[b].first_missed) {
      const auto given = scorer.answer(behaviours[b], *scores[b].first_missed);
      RecipeRows one;
      one.rows = {rows.rows[*scores[b].first_missed]};
      one.expected = {given.value_or(rows.expected[*scores[b].first_missed])};
      const BlockTally tally = judge_blocks(plan, one, {answers[*scores[b].first_missed]});
      if (tally.words_wrong > 0) {
        fit.unexplained = tally.first();
        fit.unexplained->row = *scores[b].first_missed;
      }
    }
    diagnosis.fits.push_back(std::move(fit));
  }
  std::stable_sort(diagnosis.fits.begin(), diagnosis.fits.end(), [](const BlockFit& a, const BlockFit& b) {
    return std::tuple(a.rows, -a.departures, a.named) > std::tuple(b.rows, -b.departures, b.named);
  });
  if (diagnosis.exact()) {  // of several that give all, the simplest
    const int fewest = diagnosis.fits[0].departures;
    std::erase_if(diagnosis.fits, [&](const BlockFit& fit) { return fit.departures > fewest; });
  }
  return diagnosis;
}

}  // namespace halfulp::vectors
