// Strips of rows, with the extremes of larger blocks found in a first pass.
#include "quantize_stream.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <thread>

#include "halfulp/error.hpp"
#include "halfulp/recipes/operations.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "interrupt.hpp"

namespace halfulp::tool {
namespace {

using recipes::Blocks;
using recipes::Granularity;
using recipes::Input;
using recipes::Inputs;
using recipes::PerInput;
using recipes::QuantRecipe;

constexpr std::int64_t kStrip = 1 << 16;  // elements
constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
const char* const kBlockAmax = "amax of the block";
const char* const kBlockLow = "minimum of the block";
const char* const kBlockHigh = "maximum of the block";

struct Extremes {
  double amax, low = kInf, high = -kInf;
  bool nan = false;
  void add(double value) {
    nan = nan || std::isnan(value);
    amax = std::fmax(amax, std::fabs(value));
    if (value < low) low = value;
    if (value > high) high = value;
  }
  void add(const Extremes& later) {
    nan = nan || later.nan;
    amax = std::fmax(amax, later.amax);
    if (later.low < low) low = later.low;
    if (later.high > high) high = later.high;
  }
};

bool reaches_over_strips(const QuantRecipe& recipe) {
  return recipe.granularity == Granularity::tensor || recipe.granularity == Granularity::column;
}

class Strips {
 public:
  Strips(const QuantRecipe& recipe, const Inputs& inputs, const RecipeOptions& options, const TensorRows& tensor, StreamOptions stream)
      : recipe_(recipe), inputs_(inputs), options_(&options), tensor_(&tensor), stream_(stream) {
    const std::int64_t total = tensor.rows() * tensor.columns();
    const bool narrow = tensor.columns() > kStrip && !tensor.moved() && !has_places(recipe, inputs);
    unit_ = tensor.columns();  // elements that stay together
    width_ = unit_;            // columns of a strip's view
    if (narrow && recipe.granularity == Granularity::tensor) unit_ = 1, width_ = 0;
    if (narrow && recipe.granularity == Granularity::group && unit_ % recipe.columns == 0) unit_ = width_ = recipe.columns;
    if (recipe.granularity == Granularity::tile) unit_ *= recipe.rows;
    length_ = std::max<std::int64_t>(1, kStrip / unit_) * unit_;
    if (needs_whole_tensor(recipe)) length_ = total;
    total_ = total;
  }

  void run(const std::function<void(const Strip&)>& take) {
    recipes::check_inputs(recipe_, recipes::blocks_of(recipe_, tensor_->rows(), tensor_->columns()), without_random());
    find_extremes();
    in_order<Strip>([this](std::int64_t first) { return quantized(first); }, take);
  }

 private:
  Inputs without_random() const {
    Inputs inputs = inputs_;
    add_random(*options_, recipe_, 0, 1, inputs);
    return inputs;
  }

  recipes::TensorView view(const std::vector<double>& values) const {
    const auto count = static_cast<std::int64_t>(values.size());
    return width_ == 0 ? recipes::TensorView{1, count, values} : recipes::TensorView{count / width_, width_, values};
  }

  std::vector<double> read(std::int64_t first) const { return tensor_->read(first, std::min(length_, total_ - first)); }

  /// The inputs of a strip: places cut to it.
  Inputs inputs_at(std::int64_t first, std::int64_t count) const {
    Inputs inputs = inputs_;
    for (const Input& input : recipe_.inputs) {
      const auto given = inputs.find(input.name);
      if (given == inputs.end() || given->second.size() <= 1) continue;
      std::vector<double>& values = given->second;
      std::int64_t from = 0, n = static_cast<std::int64_t>(values.size());
      if (input.per == PerInput::element) from = first, n = count;
      if (input.per == PerInput::block && !reaches_over_strips(recipe_)) {
        const std::int64_t columns = tensor_->columns(), row = first / columns;
        const Blocks blocks = recipes::blocks_of(recipe_, count / columns, columns);
        from = row / blocks.block_rows * blocks.across();
        n = blocks.count();
      }
      values = std::vector<double>(values.begin() + from, values.begin() + from + n);
    }
    add_random(*options_, recipe_, static_cast<std::uint64_t>(first), static_cast<std::size_t>(count), inputs);
    return inputs;
  }

  Strip quantized(std::int64_t first) const {
    Strip strip;
    strip.first = first;
    strip.values = read(first);
    const Inputs inputs = inputs_at(first, static_cast<std::int64_t>(strip.values.size()));
    strip.quantized = recipes::quantize(recipe_, view(strip.values), inputs);
    if (stream_.read_back) {
      strip.read_back = recipes::dequantize(recipe_, strip.quantized, inputs);
      strip.compared = recipes::transformed(recipe_, view(strip.values), inputs);
    }
    return strip;
  }

  /// Extremes of one strip: of its columns, or of all of it.
  std::vector<Extremes> extremes(std::int64_t first, bool by_column) const {
    std::vector<double> values = read(first);
    if (recipe_.transform_reg >= 0) {
      values = recipes::transformed(recipe_, view(values), inputs_at(first, static_cast<std::int64_t>(values.size())));
    }
    const auto places = static_cast<std::size_t>(by_column ? tensor_->columns() : 1);
    std::vector<Extremes> found(places, Extremes{.amax = recipes::literal_value(recipe_.amax_start)});
    for (std::size_t i = 0; i < values.size(); ++i) found[by_column ? i % places : 0].add(values[i]);
    return found;
  }

  /// Gives A, and a, lo and hi of blocks that reach over strips, as inputs.
  void find_extremes() {
    if (length_ >= total_) return;
    const bool reach = reaches_over_strips(recipe_) && (recipe_.a >= 0 || recipe_.lo >= 0 || recipe_.hi >= 0);
    const bool amax = recipe_.A >= 0 && !inputs_.contains(recipes::kTensorAmax);
    if (!reach && !amax) return;
    const bool by_column = reach && recipe_.granularity == Granularity::column;
    std::vector<Extremes> all;
    in_order<std::vector<Extremes>>([&](std::int64_t first) { return extremes(first, by_column); },
                                    [&](const std::vector<Extremes>& found) {
                                      if (all.empty()) all = found;
                                      else for (std::size_t i = 0; i < all.size(); ++i) all[i].add(found[i]);
                                    });
    const auto poisoned = [&](const Extremes& e, double value) { return e.nan && recipe_.amax_propagates_nan ? kNan : value; };
    if (amax) {
      Extremes whole = all[0];
      for (const Extremes& e : all) whole.add(e);
      inputs_[recipes::kTensorAmax] = {poisoned(whole, whole.amax)};
    }
    if (!reach) return;
    const auto give = [&](const char* name, int& reg, double Extremes::*member) {
      if (reg < 0) return;
      recipe_.inputs.push_back({.name = name, .default_literal = {}, .per = PerInput::block, .entries = 0, .reg = reg});
      reg = -1;
      for (const Extremes& e : all) inputs_[name].push_back(poisoned(e, e.*member));
    };
    give(kBlockAmax, recipe_.a, &Extremes::amax);
    give(kBlockLow, recipe_.lo, &Extremes::low);
    give(kBlockHigh, recipe_.hi, &Extremes::high);
  }

  /// make(first) of every strip, several at a time; take() of their results in order.
  template <class Result, class Make, class Take>
  void in_order(const Make& make, const Take& take) const {
    const auto together = static_cast<std::size_t>(std::min(stream_.threads, 16));
    for (std::int64_t first = 0; first < total_;) {
      throw_if_interrupted();
      std::vector<std::int64_t> starts;
      for (; starts.size() < together && first < total_; first += length_) starts.push_back(first);
      std::vector<Result> results(starts.size());
      std::vector<std::exception_ptr> errors(starts.size());
      const auto work = [&](std::size_t i) {
        try {
          results[i] = make(starts[i]);
        } catch (...) {
          errors[i] = std::current_exception();
        }
      };
      std::vector<std::jthread> threads;
      for (std::size_t i = 1; i < starts.size(); ++i) threads.emplace_back(work, i);
      work(0);
      threads.clear();
      for (std::size_t i = 0; i < starts.size(); ++i) {
        if (errors[i]) std::rethrow_exception(errors[i]);
        take(results[i]);
      }
    }
  }

  QuantRecipe recipe_;
  Inputs inputs_;
  const RecipeOptions* options_;
  const TensorRows* tensor_;
  StreamOptions stream_;
  std::int64_t unit_ = 1, width_ = 1, length_ = 1, total_ = 0;
};

}  // namespace

bool needs_whole_tensor(const QuantRecipe& recipe) {
  const auto collective = [](const std::vector<recipes::Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [](const recipes::Step& step) { return recipes::is_collective(step.op); });
  };
  if (recipe.LO >= 0 || recipe.HI >= 0) return true;
  return reaches_over_strips(recipe) && (collective(recipe.steps) || collective(recipe.transform_steps) || collective(recipe.value_steps));
}

void quantize_strips(const QuantRecipe& recipe, const Inputs& inputs, const RecipeOptions& options, const TensorRows& tensor,
                     const StreamOptions& stream, const std::function<void(const Strip&)>& take) {
  Strips(recipe, inputs, options, tensor, stream).run(take);
}

}  // namespace halfulp::tool
