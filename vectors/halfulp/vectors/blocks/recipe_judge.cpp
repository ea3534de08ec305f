// Compares answers block by block; see recipe_judge.hpp.
#include "halfulp/vectors/blocks/recipe_judge.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "halfulp/recipes/quantize.hpp"
#include "halfulp/thresholds.hpp"
#include "halfulp/unpacked.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::vectors {
namespace {

using blocks::for_each_place;

bool is_word(const FormatSpec& format, std::uint64_t word) {
  return word <= low_mask(format.storage_bits()) && (word & low_mask(format.storage_shift)) == 0;
}

bool is_nan(const FormatSpec& format, std::uint64_t word) {
  return is_word(format, word) && unpack(format, word).number_class == NumberClass::nan;
}

/// Neighbouring codes in value order; small formats only.
bool off_by_one(const FormatSpec& format, std::uint64_t a, std::uint64_t b) {
  if (!is_word(format, a) || !is_word(format, b) || is_nan(format, a) || is_nan(format, b)) return false;
  if (format.encoding == Encoding::floating && ((a ^ b) & format.sign_mask()) == 0)
    return a - b == 1 || b - a == 1;
  const std::uint64_t mask = low_mask(format.width);
  return format.encoding == Encoding::twos_complement && (((a - b) & mask) == 1 || ((b - a) & mask) == 1);
}

/// What the elements of the whole row would be worth half a code up or down: an exact tie is one of them.
bool is_tie(const RecipePlan& plan, const RecipeRow& row, const RowAnswer& want, std::size_t element,
            std::uint64_t got) {
  if (plan.recipe.transform_reg >= 0 || row.values.empty() || !std::isfinite(row.values[element]))
    return false;
  recipes::Quantized q = quantized_of(plan, want);
  if (plan.recipe.A >= 0) {
    double amax = 0;
    for (const double x : row.values) amax = std::fmax(amax, std::fabs(x));
    q.tensor_amax = amax;
  }
  const recipes::Inputs inputs = inputs_for(plan, plan.recipe, row);
  const double right = recipes::dequantize(plan.recipe, q, inputs)[element];
  q.codes[element] = got;
  const double wrong = recipes::dequantize(plan.recipe, q, inputs)[element];
  const double x = row.values[element];
  const double near = std::fabs(x - right), far = std::fabs(x - wrong);
  constexpr double kOneInAMillion = 0x1p-20;  // the scale's own rounding moves exact ties a little
  return std::isfinite(far) && right != wrong && std::fabs(near - far) <= kOneInAMillion * far;
}

/// Equality of answers as far as the kernel gave them.
class Comparison {
 public:
  explicit Comparison(const RecipePlan& plan)
      : plan_(plan), blocks_(plan.blocks()), value_format_(find_format(plan.value_format())->spec) {}

  bool same_tensor_scale(const RowAnswer& want, const RowAnswer& got) const {
    return !got.tensor_scale || !want.tensor_scale ||
           same_word(plan_, plan_.recipe.tensor_scale.format, *got.tensor_scale, *want.tensor_scale);
  }

  bool same_block(const RowAnswer& want, const RowAnswer& got, std::int64_t block) const {
    const auto b = static_cast<std::size_t>(block);
    if (b < got.scales.size() && b < want.scales.size() &&
        !same_word(plan_, plan_.recipe.scale.format, got.scales[b], want.scales[b]))
      return false;
    if (b < got.zeros.size() && b < want.zeros.size() &&
        !same_word(plan_, plan_.recipe.zero.format, got.zeros[b], want.zeros[b]))
      return false;
    bool same = true;
    for_each_place(blocks_, block, [&](std::size_t i) { same = same && same_element(want, got, i); });
    return same;
  }

  bool same_element(const RowAnswer& want, const RowAnswer& got, std::size_t i) const {
    if (i < got.codes.size() && i < want.codes.size() &&
        !same_word(plan_, plan_.recipe.code.format, got.codes[i], want.codes[i]))
      return false;
    if (i < got.kept.size() && i < want.kept.size() && got.kept[i] != want.kept[i]) return false;
    return i >= got.values.size() || i >= want.values.size() ||
           same_word(plan_, value_format_, got.values[i], want.values[i]);
  }

 protected:
  const RecipePlan& plan_;
  recipes::Blocks blocks_;
  FormatSpec value_format_;
};

class Judge : private Comparison {
 public:
  Judge(const RecipePlan& plan, BlockTally& tally) : Comparison(plan), tally_(tally) {}

  void row(const RecipeRow& row, const RowAnswer& want, const RowAnswer& got) {
    row_ = tally_.rows;
    wrong_ = 0;
    wrong_blocks_.assign(static_cast<std::size_t>(blocks_.count()), false);
    compare(row, want, got);
    ++tally_.rows;
    tally_.blocks += wrong_blocks_.size();
    tally_.blocks_wrong +=
        static_cast<std::uint64_t>(std::count(wrong_blocks_.begin(), wrong_blocks_.end(), true));
    tally_.rows_wrong += wrong_ > 0 ? 1 : 0;
    tally_.words_wrong += wrong_;
    tally_.wrong_rows.push_back(wrong_ > 0);
  }

 private:
  void compare(const RecipeRow& row, const RowAnswer& want, const RowAnswer& got) {
    tally_.words += (got.tensor_scale && want.tensor_scale ? 1 : 0) + got.scales.size() + got.zeros.size() +
                    got.codes.size() + got.values.size();
    std::vector<std::int64_t> differing;
    for (std::int64_t b = 0; b < blocks_.count(); ++b) {
      if (!same_block(want, got, b)) differing.push_back(b);
    }
    const bool tensor = same_tensor_scale(want, got);
    if (tensor && differing.empty()) return;
    std::vector<RowAnswer> choices;
    if (!plan_.recipe.exact_steps() && plan_.task != Task::dequantize)
      choices = admissible_answers(plan_, row);
    const auto admitted = [&](std::int64_t b) {
      return std::any_of(choices.begin(), choices.end(), [&](const RowAnswer& c) {
        return same_tensor_scale(c, got) && same_block(c, got, b);
      });
    };
    if (!tensor && std::none_of(choices.begin(), choices.end(),
                                [&](const RowAnswer& c) { return same_tensor_scale(c, got); }))
      add({BlockFinding::tensor_scale, row_, 0, -1, got.tensor_scale.value_or(0), *want.tensor_scale},
          plan_.recipe.tensor_scale.format);
    const bool reordered = scales_reordered(want, got);
    for (const std::int64_t b : differing) {
      if (admitted(b)) {
        ++tally_.by_choice;
        continue;
      }
      wrong_block(row, want, got, b, reordered);
    }
  }

  void wrong_block(const RecipeRow& row, const RowAnswer& want, const RowAnswer& got, std::int64_t block,
                   bool reordered) {
    const auto b = static_cast<std::size_t>(block);
    wrong_blocks_[b] = true;
    bool scale_wrong = false;
    if (b < got.scales.size() && b < want.scales.size() &&
        !same_word(plan_, plan_.recipe.scale.format, got.scales[b], want.scales[b])) {
      scale_wrong = true;
      add({reordered ? BlockFinding::order : BlockFinding::scale, row_, block, -1, got.scales[b],
           want.scales[b]},
          plan_.recipe.scale.format);
    }
    if (b < got.zeros.size() && b < want.zeros.size() &&
        !same_word(plan_, plan_.recipe.zero.format, got.zeros[b], want.zeros[b]))
      add({BlockFinding::zero_point, row_, block, -1, got.zeros[b], want.zeros[b]},
          plan_.recipe.zero.format);
    const bool shuffled = codes_shuffled(want, got, block);
    for_each_place(blocks_, block, [&](std::size_t i) {
      const auto place = static_cast<std::int64_t>(i);
      if (i < got.kept.size() && i < want.kept.size() && got.kept[i] != want.kept[i])
        add({BlockFinding::kept, row_, block, place, got.kept[i], want.kept[i]}, value_format_);
      if (i < got.values.size() && i < want.values.size() &&
          !same_word(plan_, value_format_, got.values[i], want.values[i]))
        add({BlockFinding::value, row_, block, place, got.values[i], want.values[i]}, value_format_);
      if (i >= got.codes.size() || i >= want.codes.size() ||
          same_word(plan_, plan_.recipe.code.format, got.codes[i], want.codes[i]))
        return;
      const BlockFinding kind = shuffled ? BlockFinding::packing : kind_of(row, want, got, i, scale_wrong);
      add({kind, row_, block, place, got.codes[i], want.codes[i]}, plan_.recipe.code.format);
    });
  }

  BlockFinding kind_of(const RecipeRow& row, const RowAnswer& want, const RowAnswer& got, std::size_t i,
                       bool scale_wrong) const {
    const FormatSpec& format = plan_.recipe.code.format;
    const std::uint64_t a = got.codes[i], b = want.codes[i];
    if (!is_word(format, a)) return BlockFinding::code_other;
    if (is_nan(format, a) || is_nan(format, b) || (i < row.values.size() && std::isnan(row.values[i])))
      return BlockFinding::code_nan;
    const Unpacked x = unpack(format, a), y = unpack(format, b);
    if (x.number_class == NumberClass::zero && y.number_class == NumberClass::zero)
      return BlockFinding::code_zero_sign;
    if (scale_wrong) return BlockFinding::code_other;  // follows from the scale
    if (is_tie(plan_, row, want, i, a)) return BlockFinding::code_tie;
    const std::uint64_t top = format.largest_magnitude();
    if ((a & format.magnitude_mask()) == top || (b & format.magnitude_mask()) == top ||
        x.number_class == NumberClass::infinity)
      return BlockFinding::code_overflow;
    if (x.number_class == NumberClass::subnormal || y.number_class == NumberClass::subnormal)
      return BlockFinding::code_subnormal;
    return BlockFinding::code_other;
  }

  /// The block holds the right codes in other places.
  bool codes_shuffled(const RowAnswer& want, const RowAnswer& got, std::int64_t block) const {
    if (got.codes.empty() || got.codes.size() != want.codes.size()) return false;
    std::vector<std::uint64_t> a, b;
    for_each_place(blocks_, block, [&](std::size_t i) {
      a.push_back(got.codes[i]);
      b.push_back(want.codes[i]);
    });
    if (a == b) return false;
    constexpr std::size_t kFew = 3;  // two swapped neighbours may come from a wrong rounding
    std::size_t moved = 0;
    for (std::size_t i = 0; i < a.size(); ++i) moved += a[i] != b[i] ? 1 : 0;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b && moved >= kFew;
  }

  bool scales_reordered(const RowAnswer& want, const RowAnswer& got) const {
    std::vector<std::uint64_t> a = got.scales, b = want.scales;
    if (a.size() != b.size() || a.size() < 2 || a == b) return false;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
  }

  void add(const BlockCase& one, const FormatSpec& format) {
    BlockGroup& group = tally_.groups[static_cast<std::size_t>(one.kind)];
    if (group.count++ == 0) group.first = one;
    if (off_by_one(format, one.got, one.want)) ++group.off_by_one;
    ++wrong_;
  }

  BlockTally& tally_;
  std::size_t row_ = 0;
  std::uint64_t wrong_ = 0;
  std::vector<bool> wrong_blocks_;
};

}  // namespace

const BlockCase& BlockTally::first() const {
  const BlockCase* best = nullptr;
  const auto key = [](const BlockCase& c) { return std::tuple(c.row, c.block, c.element); };
  for (const BlockGroup& group : groups) {
    if (group.count > 0 && (best == nullptr || key(group.first) < key(*best))) best = &group.first;
  }
  return *best;
}

std::uint64_t wrong_blocks(const RecipePlan& plan, const std::vector<RowAnswer>& wanted,
                           const RowAnswer& got) {
  const Comparison comparison(plan);
  const std::int64_t count = plan.blocks().count();
  std::uint64_t wrong = 0;
  for (std::int64_t b = 0; b < count; ++b) {
    const bool right = std::any_of(wanted.begin(), wanted.end(), [&](const RowAnswer& want) {
      return comparison.same_tensor_scale(want, got) && comparison.same_block(want, got, b);
    });
    wrong += right ? 0 : 1;
  }
  return wrong;
}

bool same_word(const RecipePlan& plan, const FormatSpec& format, std::uint64_t got, std::uint64_t want) {
  constexpr int kNarrow = 8;  // bits; wider formats have no cast that promises one NaN
  return got == want || ((plan.nan == NanAnswers::any || format.width > kNarrow) && is_nan(format, got) &&
                         is_nan(format, want));
}

BlockTally judge_blocks(const RecipePlan& plan, const RecipeRows& rows,
                        const std::vector<RowAnswer>& answers) {
  BlockTally tally;
  Judge judge(plan, tally);
  const std::size_t count = std::min(answers.size(), rows.rows.size());
  for (std::size_t i = 0; i < count; ++i) judge.row(rows.rows[i], rows.expected[i], answers[i]);
  return tally;
}

}  // namespace halfulp::vectors
