// Flags of rows and their notes.
#include "halfulp/vectors/blocks/row_flags.hpp"

#include <algorithm>
#include <cmath>

#include "halfulp/unpacked.hpp"
#include "halfulp/vectors/blocks/recipe_rows.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::vectors {
namespace {

enum Bit : std::uint32_t {
  kZeroBlock = 8,
  kMinusZero = 16,
  kNanElement = 32,
  kInfElement = 64,
  kSubnormalAmax = 128,
  kOutlier = 256,
  kPartialBlock = 512,
  kScaleEnd = 1024,
  kSeveralAnswers = 2048,
};

constexpr double kOutlierRatio = 256;  ///< of the largest magnitude to the mean of the others

std::uint32_t block_flags(const RecipePlan& plan, const RecipeRow& row, std::int64_t block) {
  std::uint32_t flags = 0;
  double amax = 0, sum = 0;
  std::size_t count = 0;
  bool all_zero = true;
  blocks::for_each_place(plan.blocks(), block, [&](std::size_t i) {
    const double x = row.values[i];
    ++count;
    all_zero = all_zero && x == 0;
    if (x == 0 && std::signbit(x)) flags |= kMinusZero;
    if (std::isnan(x)) flags |= kNanElement;
    if (std::isinf(x)) flags |= kInfElement;
    if (!std::isfinite(x)) return;
    amax = std::fmax(amax, std::fabs(x));
    sum += std::fabs(x);
  });
  if (all_zero) flags |= kZeroBlock;
  if (amax > 0 && amax < std::ldexp(1.0, plan.from.min_exponent())) flags |= kSubnormalAmax;
  if (count > 1 && amax > kOutlierRatio * (sum - amax) / static_cast<double>(count - 1) && sum > amax) flags |= kOutlier;
  return flags;
}

bool at_an_end(const FormatSpec& format, std::uint64_t code) {
  const Unpacked x = unpack(format, code);
  if (x.number_class == NumberClass::nan || x.number_class == NumberClass::infinity || x.number_class == NumberClass::zero)
    return true;
  if (format.encoding != Encoding::floating) return false;
  const std::uint64_t magnitude = code & format.magnitude_mask();
  return magnitude <= 1 || magnitude == format.largest_magnitude();
}

}  // namespace

std::uint32_t flags_of(const RecipePlan& plan, const RecipeRow& row, const RowAnswer& answer) {
  std::uint32_t flags = 0;
  const recipes::Blocks blocks = plan.blocks();
  for (std::int64_t b = 0; b < blocks.count() && !row.values.empty(); ++b) flags |= block_flags(plan, row, b);
  const bool cut = blocks.rows % blocks.block_rows != 0 || blocks.columns % blocks.block_columns != 0;
  if (cut) flags |= kPartialBlock;
  const std::vector<std::uint64_t>& scales = plan.task == Task::dequantize ? row.stored.scales : answer.scales;
  if (std::any_of(scales.begin(), scales.end(), [&](auto code) { return at_an_end(plan.recipe.scale.format, code); }))
    flags |= kScaleEnd;
  if (!plan.recipe.exact_steps() && plan.task != Task::dequantize && admissible_answers(plan, row).size() > 1)
    flags |= kSeveralAnswers;
  return flags;
}

const std::vector<FlagNote>& row_flags() {
  static const std::vector<FlagNote> notes = {
      {"scale_threshold", "block maxima where the scale changes its code, and one ulp beside", "the scale is a step function of the maximum",
       "a scale one code off: half or twice every value of the block"},
      {"tie", "elements half way between two codes after scaling, and one ulp beside", "the order of divide, multiply and round shows only there",
       "the neighbouring code"},
      {"pair", "elements that are exactly worth a code at the block's scale", "every reachable pair of scale and element code occurs",
       "a table or a shift that is wrong for one exponent"},
      {"zero_block", "blocks of zeros", "a scale of 0 divides 0 by 0", "NaN, or a scale that another kernel reads as 1"},
      {"minus_zero", "-0 elements", "formats with -0 keep it in most recipes, some drop it", "code 0 for -0, or NaN in formats without -0"},
      {"nan", "NaN elements", "amax may drop or propagate NaN; a clamp turns it into a number", "a silent +448, or a whole block of NaN"},
      {"infinity", "infinite elements", "the scale saturates or becomes NaN", "0 * Inf in all other elements"},
      {"subnormal", "blocks whose maximum is subnormal in the source", "fast kernels flush them", "the scale of a zero block"},
      {"outlier", "one element far above the others", "all others fall to the smallest codes", "subnormal codes rounded wrongly, or flushed"},
      {"partial_block", "a last block that is not whole", "what lies behind the edge must not count", "amax over stale data or the next row"},
      {"scale_end", "scales at 0, the smallest, the largest, Inf or NaN", "reciprocals of them overflow or underflow",
       "a factor of 0, Inf or NaN for the block"},
      {"several_answers", "steps with several admissible results change this row", "approximate reciprocals and float logarithms differ between machines",
       "nothing: a judge must accept each of them"},
  };
  return notes;
}

}  // namespace halfulp::vectors
