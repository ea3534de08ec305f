// Makes stored results; see stored_rows.hpp.
#include "halfulp/vectors/blocks/stored_rows.hpp"

#include <algorithm>

#include "halfulp/unpacked.hpp"
#include "halfulp/vectors/blocks/row_inputs.hpp"

namespace halfulp::vectors {
namespace {

using namespace blocks;

constexpr std::size_t kStoredElements = std::size_t{1} << 17;
constexpr std::size_t kFewElements = 4096;  ///< of the level specials

bool is_small(const FormatSpec& format) { return format.width <= 8; }

bool is_finite(const FormatSpec& format, std::uint64_t code) {
  const NumberClass c = unpack(format, code).number_class;
  return c != NumberClass::nan && c != NumberClass::infinity;
}

/// Block scales in turn: all codes of a small format; else the special ones, then random numbers.
std::vector<std::uint64_t> scale_list(const FormatSpec& format, Random& random) {
  std::vector<std::uint64_t> codes;
  if (is_small(format)) {
    for (std::uint64_t code = 0; code <= low_mask(format.width); ++code) codes.push_back(code);
    return codes;
  }
  const std::uint64_t largest = format.largest_magnitude(), one = code_of(format, 1);
  for (const std::uint64_t code : {std::uint64_t{0}, std::uint64_t{1}, largest, largest + 1, largest + 2, one, one + 1, one - 1,
                                   std::uint64_t{1} << format.fraction_bits, (std::uint64_t{1} << format.fraction_bits) - 1})
    codes.push_back(code);
  for (int i = 0; i < 200; ++i) {
    const double mantissa = 1 + random.uniform();
    codes.push_back(code_of(format, std::ldexp(mantissa, random.between(-24, 12))));
  }
  return codes;
}

std::uint64_t some_zero(const FormatSpec& format, Random& random) {
  if (is_small(format)) return random.word() & low_mask(format.width);
  if (format.encoding == Encoding::twos_complement)
    return static_cast<std::uint64_t>(random.between(-300, 300)) & low_mask(format.width);
  const double wide = random.normal();
  return code_of(format, wide * std::ldexp(1.0, random.between(-6, 6)));
}

std::uint64_t some_tensor_scale(const FormatSpec& format, Random& random) {
  const double mantissa = random.below(3) == 0 ? 1 : 1 + random.uniform();
  return code_of(format, std::ldexp(mantissa, random.between(-12, 12)));
}

class Builder {
 public:
  Builder(const RecipePlan& plan, std::uint64_t seed) : plan_(plan), blocks_(plan.blocks()), random_(seed ^ 0x73746f7265640000u) {}

  /// Scale codes one after the other, element codes going round under each.
  std::vector<RecipeRow> all(std::size_t elements) {
    const recipes::QuantRecipe& r = plan_.recipe;
    const std::vector<std::uint64_t> scales =
        r.scale.reg >= 0 ? scale_list(r.scale.format, random_) : std::vector<std::uint64_t>{0};
    const std::uint64_t codes = is_small(r.code.format) ? low_mask(r.code.format.width) + 1 : 256;
    const auto in_block = static_cast<std::uint64_t>(blocks_.block_rows * blocks_.block_columns);
    const std::uint64_t per_scale = (codes + in_block - 1) / in_block, wanted = scales.size() * per_scale;
    const auto room = static_cast<std::uint64_t>(std::max<std::int64_t>(1, blocks_.count()));
    const std::uint64_t fit = std::max<std::uint64_t>(1, elements / plan_.elements()) * room;
    std::vector<RecipeRow> rows;
    for (std::uint64_t n = 0; n < std::min(wanted, fit);) {
      RecipeRow row = empty();
      for (std::int64_t b = 0; b < blocks_.count(); ++b, ++n) {
        // where all do not fit, the ones that do are spread over the list
        const std::uint64_t at = wanted <= fit ? n % wanted : n * wanted / fit % wanted;
        if (r.scale.reg >= 0) row.stored.scales.push_back(scales[at / per_scale]);
        std::uint64_t code = at % per_scale * in_block;
        for_each_place(blocks_, b, [&](std::size_t i) { row.stored.codes[i] = element(code++); });
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

  RecipeRow random() {
    const recipes::QuantRecipe& r = plan_.recipe;
    RecipeRow row = empty();
    for (std::int64_t b = 0; b < blocks_.count() && r.scale.reg >= 0; ++b)
      row.stored.scales.push_back(code_of(r.scale.format, std::ldexp(1 + random_.uniform(), -4)));
    for (std::uint64_t& code : row.stored.codes) {
      do code = random_.word() & low_mask(r.code.format.width);
      while (!is_finite(r.code.format, code));
    }
    return row;
  }

 private:
  std::uint64_t element(std::uint64_t turn) {
    const FormatSpec& format = plan_.recipe.code.format;
    if (is_small(format)) return turn & low_mask(format.width);
    if (format.encoding == Encoding::twos_complement) return (turn - 128) & low_mask(format.width);
    return random_.word() & low_mask(format.width);
  }

  /// Tensor scale, zero points and inputs; codes of 0.
  RecipeRow empty() {
    const recipes::QuantRecipe& r = plan_.recipe;
    RecipeRow row{{}, varied_inputs(plan_, random_), {}, 0};
    if (r.tensor_scale.reg >= 0) row.stored.tensor_scale = some_tensor_scale(r.tensor_scale.format, random_);
    for (std::int64_t b = 0; b < blocks_.count() && r.zero.reg >= 0; ++b)
      row.stored.zeros.push_back(some_zero(r.zero.format, random_));
    row.stored.codes.assign(plan_.elements(), 0);
    return row;
  }

  const RecipePlan& plan_;
  recipes::Blocks blocks_;
  Random random_;
};

}  // namespace

std::vector<RecipeRow> stored_rows(const RecipePlan& plan, Level level, std::uint64_t seed) {
  return Builder(plan, seed).all(level == Level::specials ? kFewElements : kStoredElements);
}

std::vector<RecipeRow> random_stored_rows(const RecipePlan& plan, std::size_t count, std::uint64_t seed) {
  Builder builder(plan, seed);
  std::vector<RecipeRow> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(builder.random());
  return rows;
}

}  // namespace halfulp::vectors
