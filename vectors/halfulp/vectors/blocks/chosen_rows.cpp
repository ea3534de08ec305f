// Chooses tensors for the levels, part by part; see recipe_rows.hpp.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "halfulp/error.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/recipes/witness_blocks.hpp"
#include "halfulp/thresholds.hpp"
#include "halfulp/vectors/blocks/recipe_rows.hpp"
#include "halfulp/vectors/blocks/row_flags.hpp"
#include "halfulp/vectors/blocks/row_inputs.hpp"
#include "halfulp/vectors/blocks/special_blocks.hpp"
#include "halfulp/vectors/blocks/stored_rows.hpp"

namespace halfulp::vectors {
namespace {

using namespace blocks;
using recipes::Blocks;
using recipes::QuantRecipe;

constexpr std::size_t kThresholdElements = 16384;  ///< of a part of a level
constexpr std::size_t kFillingElements = 8192;
constexpr std::size_t kPairElements = std::size_t{1} << 17;

/// Builds the rows of one level, part by part.
class Builder {
 public:
  Builder(const RecipePlan& plan, std::uint64_t seed)
      : plan_(plan), blocks_(plan.blocks()), random_(seed ^ 0x7265636970650000u) {
    const QuantRecipe& r = plan.recipe;
    shares_ = r.A >= 0 || r.LO >= 0 || r.HI >= 0;
  }

  void specials() {
    const std::size_t at_once =
        shares_ ? 1 : static_cast<std::size_t>(std::max<std::int64_t>(1, blocks_.count()));
    for (std::size_t first = 0; first < special_blocks().size(); first += at_once) {
      Tensor tensor = stratified(plan_.recipe, plan_.rows, plan_.columns, random_.word(), 1, plan_.from);
      for (std::size_t i = 0; i < at_once && first + i < special_blocks().size(); ++i) {
        const auto block =
            static_cast<std::int64_t>(shares_ ? first % static_cast<std::size_t>(blocks_.count()) : i);
        fill_special(special_blocks()[first + i], block, tensor);
      }
      add(std::move(tensor), 0);
    }
  }

  void thresholds() {
    if (!shares_) return maxima_rows(scale_thresholds_of(0), 0, kThresholdElements);
    const double mantissa = 1 + random_.uniform();
    for (const double amax :
         {2688.0, std::ldexp(mantissa, 4), 3670016.0, std::ldexp(mantissa, -30), 448.0}) {
      const double largest = in_format(plan_.from, amax);
      maxima_rows(scale_thresholds_of(largest), largest, kThresholdElements / 4);
    }
  }

  /// Blocks that are known to tell recipes apart which agree nearly everywhere.
  void documented() {
    for (const recipes::Specimen& known : recipes::WitnessBlocks(plan_.recipe, plan_.recipe).documented()) {
      Tensor tensor = filled(plan_.rows, plan_.columns, 0);
      std::size_t next = 0;
      for_each_place(blocks_, 0, [&](std::size_t i) {
        if (next < known.values.size()) tensor.values[i] = in_format(plan_.from, known.values[next++]);
      });
      if (known.tensor_amax && blocks_.count() > 1) {
        bool placed = false;
        for_each_place(blocks_, blocks_.count() - 1, [&](std::size_t i) {
          if (!std::exchange(placed, true)) tensor.values[i] = in_format(plan_.from, *known.tensor_amax);
        });
      }
      add(std::move(tensor), 0);
    }
  }

  void fillings() {
    std::size_t done = 0;
    for (int n = 0; n < kFillings || done < kFillingElements; ++n, done += plan_.elements()) {
      const bool finite = n % 2 == 1;
      Tensor tensor = stratified(plan_.recipe, plan_.rows, plan_.columns, random_.word(),
                                 finite ? kFiniteFillings : kFillings, plan_.from, n / 2 + n % 2);
      add(std::move(tensor), finite ? kTieFlag : 0);
    }
  }

  /// Blocks at the largest magnitude of every scale code, elements at every value that the codes stand for.
  void pairs() {
    const QuantRecipe& r = plan_.recipe;
    if (r.scale.reg < 0 || r.scale.format.width > 8 || r.code.format.width > 8 || r.transform_reg >= 0)
      return;
    const double amax = shares_ ? in_format(plan_.from, 2688) : 0;
    std::vector<double> tops;  // of each scale: the number one ulp below the next threshold
    const std::vector<double> maxima = scale_thresholds_of(amax);
    for (std::size_t i = 0; i + 2 < maxima.size(); i += 3) tops.push_back(maxima[i]);
    const std::uint64_t codes = std::uint64_t{1} << r.code.format.width;
    const auto in_block =
        static_cast<std::uint64_t>(std::max<std::int64_t>(2, blocks_.block_rows * blocks_.block_columns));
    const std::uint64_t blocks_per_scale = (codes + in_block - 2) / (in_block - 1);
    std::vector<double> list;
    for (const double top : tops) list.insert(list.end(), blocks_per_scale, top);
    for (std::size_t next = 0, done = 0; next < list.size() && done < kPairElements;
         done += plan_.elements()) {
      Tensor tensor = with_next(list, next, amax);
      aim_at_codes(tensor);
      add(std::move(tensor), kPairFlag);
    }
  }

  /// The rows since the last call.
  std::vector<RecipeRow> take() { return std::exchange(rows_, {}); }

 private:
  /// Thresholds of the block scale, up to the tensor's largest magnitude.
  std::vector<double> scale_thresholds_of(double tensor_amax) {
    recipes::Inputs inputs;
    for (const auto& [name, value] : plan_.fixed) inputs[name] = {value};
    if (shares_) inputs.erase(recipes::kTensorAmax);
    for (const recipes::Input& input : plan_.recipe.inputs) {
      if (!input.default_literal.empty() || inputs.contains(input.name)) continue;
      inputs[input.name] = std::vector<double>(
          input.per == recipes::PerInput::table ? static_cast<std::size_t>(input.entries) : 1, 1.0);
    }
    std::vector<double> found;
    for (const double m : scale_thresholds(plan_.recipe, inputs, random_.word(), tensor_amax, plan_.from)) {
      if (tensor_amax == 0 || m <= tensor_amax) found.push_back(m);
    }
    return found;
  }

  /// The next maxima of a list in a tensor; with a tensor amax, block 0 holds it.
  Tensor with_next(const std::vector<double>& list, std::size_t& next, double tensor_amax) {
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, blocks_.count()));
    std::vector<double> maxima;
    if (tensor_amax != 0) maxima.push_back(tensor_amax);
    while (maxima.size() < room && next < list.size()) maxima.push_back(list[next++]);
    if (maxima.size() == 1 && tensor_amax != 0 && next < list.size())
      maxima[0] = list[next++];  // one block
    return with_maxima_in(blocks_, maxima, random_.word(), plan_.from);
  }

  void maxima_rows(std::vector<double> maxima, double tensor_amax, std::size_t budget) {
    const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, blocks_.count()));
    const std::size_t most = std::max<std::size_t>(16, budget / plan_.elements() * room);
    if (maxima.size() > most) {  // whole triples, drawn
      const std::size_t triples = maxima.size() / 3;
      for (std::size_t i = triples; i > 1; --i) {
        const std::size_t j = random_.below(i);
        std::swap_ranges(maxima.begin() + static_cast<std::ptrdiff_t>(3 * (i - 1)),
                         maxima.begin() + static_cast<std::ptrdiff_t>(3 * i),
                         maxima.begin() + static_cast<std::ptrdiff_t>(3 * j));
      }
      maxima.resize(most);
    }
    for (std::size_t next = 0, n = 0; next < maxima.size(); ++n)
      add(with_next(maxima, next, tensor_amax), kThresholdFlag | (n % 2 == 0 ? kTieFlag : 0));
  }

  /// Replaces the elements other than each block's largest by what the codes stand for, all codes in turn.
  void aim_at_codes(Tensor& tensor) {
    RecipeRow row{tensor.values, varied_inputs(plan_, tensor, random_), {}, 0};
    try {
      const recipes::Inputs inputs = inputs_for(plan_, plan_.recipe, row);
      recipes::Quantized q = recipes::quantize(plan_.recipe, tensor.view(), inputs);
      const OrderedCodes order(plan_.recipe.code.format);
      for (std::int64_t b = 0; b < blocks_.count(); ++b) {
        std::uint64_t& turn = turns_[q.scales[static_cast<std::size_t>(b)]];
        for_each_place(blocks_, b, [&](std::size_t i) { q.codes[i] = order[turn++ % order.size()]; });
        --turn;  // one place keeps the largest magnitude
      }
      const std::vector<double> values = recipes::dequantize(plan_.recipe, q, inputs);
      for (std::int64_t b = 0; b < blocks_.count(); ++b) {
        double amax = 0;
        for_each_place(blocks_, b,
                       [&](std::size_t i) { amax = std::fmax(amax, std::fabs(tensor.values[i])); });
        for_each_place(blocks_, b, [&](std::size_t i) {
          const double x = in_format(plan_.from, values[i]);
          if (std::isfinite(x) && std::fabs(x) < amax && std::fabs(tensor.values[i]) < amax)
            tensor.values[i] = x;
        });
      }
    } catch (const InputError&) {  // refused: the row will be too
    }
  }

  void fill_special(const SpecialBlock& special, std::int64_t block, Tensor& tensor) {
    std::size_t i = 0;
    const double top = number_of(plan_.recipe.code.format, plan_.recipe.code.format.largest_magnitude());
    for_each_place(blocks_, block, [&](std::size_t place) {
      tensor.values[place] =
          in_format(plan_.from, special.value(i++, plan_.from, std::isfinite(top) ? top : 1));
    });
  }

  void add(Tensor tensor, std::uint32_t flags) {
    RecipeRow row{{}, varied_inputs(plan_, tensor, random_), {}, flags};
    if ((flags & kTieFlag) != 0 && plan_.recipe.transform_reg < 0) {
      try {
        tensor = aimed_at_ties(plan_.recipe, std::move(tensor), inputs_for(plan_, plan_.recipe, row),
                               random_.word(), plan_.from);
      } catch (const InputError&) {
        return;  // refused
      }
    }
    row.values = std::move(tensor.values);
    rows_.push_back(std::move(row));
  }

  const RecipePlan& plan_;
  Blocks blocks_;
  Random random_;
  bool shares_ = false;  ///< something is made from the whole tensor
  std::vector<RecipeRow> rows_;
  std::map<std::uint64_t, std::uint64_t> turns_;  ///< by scale code: the next element code
};

/// At most so many rows: of every part about as many, evenly chosen.
std::vector<RecipeRow> thinned(std::vector<std::vector<RecipeRow>> parts,
                               std::optional<std::uint64_t> most) {
  std::vector<RecipeRow> rows;
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return parts[a].size() < parts[b].size(); });
  std::vector<std::size_t> quota(parts.size());
  std::uint64_t left = 0;
  for (const auto& part : parts) left += part.size();
  left = std::min(left, most.value_or(left));
  for (std::size_t i = 0; i < order.size(); ++i) {  // small parts first: what they leave goes to the others
    const std::uint64_t share = (left + order.size() - i - 1) / (order.size() - i);
    quota[order[i]] = static_cast<std::size_t>(std::min<std::uint64_t>(parts[order[i]].size(), share));
    left -= quota[order[i]];
  }
  for (std::size_t part = 0; part < parts.size(); ++part) {
    for (std::size_t i = 0; i < quota[part]; ++i)
      rows.push_back(std::move(parts[part][i * parts[part].size() / quota[part]]));
  }
  return rows;
}

}  // namespace

std::vector<RecipeRow> chosen_rows(const RecipePlan& plan, Level level, std::uint64_t seed) {
  if (level == Level::exhaustive) {
    throw InputError("level exhaustive", "the tensors of a recipe cannot be enumerated",
                     "use stratified, thresholds or specials");
  }
  if (plan.task == Task::dequantize)
    return thinned({stored_rows(plan, level, seed)}, plan.most_rows);
  Builder builder(plan, seed);
  std::vector<std::vector<RecipeRow>> parts;
  const auto part = [&](void (Builder::*build)()) {
    (builder.*build)();
    parts.push_back(builder.take());
  };
  part(&Builder::specials);
  if (level != Level::specials) {
    part(&Builder::documented);
    part(&Builder::thresholds);
  }
  if (level == Level::stratified) {
    part(&Builder::fillings);
    part(&Builder::pairs);
  }
  return thinned(std::move(parts), plan.most_rows);
}

}  // namespace halfulp::vectors
