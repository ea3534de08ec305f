// Makes a witness smaller while the recipes still part on it.
#include <algorithm>
#include <cmath>

#include "halfulp/recipes/witness_blocks.hpp"

namespace halfulp::recipes {
namespace {

/// Blocks of a recipe with nothing but zeros: their scale is a case of its own.
std::int64_t zero_blocks(const QuantRecipe& recipe, const Specimen& specimen) {
  const TensorView view = specimen.view();
  const Blocks blocks = blocks_of(recipe, view.rows, view.columns);
  std::vector<bool> numbers(static_cast<std::size_t>(blocks.count()));
  for (std::size_t i = 0; i < specimen.values.size(); ++i) {
    if (specimen.values[i] != 0) numbers[block_of(blocks, i)] = true;
  }
  return std::count(numbers.begin(), numbers.end(), false);
}

class Shrinker {
 public:
  Shrinker(const QuantRecipe& a, const QuantRecipe& b, Specimen specimen)
      : a_(a), b_(b), triviality_(triviality(specimen)),
        may_be_refused_(any_refused(answer_of(a, specimen), answer_of(b, specimen))),
        difference_(difference_of(a, answer_of(a, specimen), b, answer_of(b, specimen))), best_(std::move(specimen)),
        zero_blocks_(zero_blocks(a, best_) + zero_blocks(b, best_)) {}

  Specimen run() {
    for (bool smaller = true; smaller;) {
      smaller = zeros();
      smaller = simpler_tensor_amax() || smaller;
      smaller = simpler_inputs() || smaller;
      smaller = shorter_values() || smaller;
      smaller = nearer_exponents() || smaller;
    }
    if (best_.width <= 1) shorter_row();
    else fewer_lines();
    return best_;
  }

 private:
  bool still(const Specimen& specimen) const {
    if (triviality(specimen) > triviality_) return false;
    if (blocks_differ(a_, b_) && zero_blocks(a_, specimen) + zero_blocks(b_, specimen) > zero_blocks_) return false;
    const RecipeAnswer to_a = answer_of(a_, specimen), to_b = answer_of(b_, specimen);
    return (may_be_refused_ || !any_refused(to_a, to_b)) && difference_of(a_, to_a, b_, to_b) >= difference_;
  }
  bool take(Specimen specimen) {
    if (!still(specimen)) return false;
    best_ = std::move(specimen);
    return true;
  }
  template <class Change>
  bool change(Change apply) {
    Specimen next = best_;
    apply(next);
    return take(std::move(next));
  }

  bool zeros() {
    bool any = false;
    for (std::size_t i = best_.values.size(); i-- > 0;) {
      if (best_.values[i] == 0 && !std::signbit(best_.values[i])) continue;
      any = change([&](Specimen& s) { s.values[i] = 0; }) || any;
    }
    return any;
  }

  bool simpler_tensor_amax() {
    if (!best_.tensor_amax) return false;
    if (change([](Specimen& s) { s.tensor_amax.reset(); })) return true;
    return shorter([](Specimen& s) -> double& { return *s.tensor_amax; });
  }

  bool simpler_inputs() {
    bool any = false;
    for (auto& [name, values] : Inputs(best_.inputs)) {
      if (values.size() != 1) continue;
      const std::string key = name;
      const auto place = [&](Specimen& s) -> double& { return s.inputs[key][0]; };
      if (values[0] != 1 && change([&](Specimen& s) { place(s) = 1; })) any = true;
      else any = shorter(place) || any;
    }
    return any;
  }

  bool shorter_values() {
    bool any = false;
    for (std::size_t i = 0; i < best_.values.size(); ++i) {
      if (best_.values[i] == 0 || !std::isfinite(best_.values[i])) continue;
      if (std::signbit(best_.values[i])) any = change([&](Specimen& s) { s.values[i] = -s.values[i]; }) || any;
      any = shorter([&](Specimen& s) -> double& { return s.values[i]; }) || any;
    }
    return any;
  }

  /// The shortest significand with which they part, rounded down or up.
  template <class Place>
  bool shorter(Place place) {
    Specimen probe = best_;
    const double x = place(probe);
    if (!std::isfinite(x) || x == 0) return false;
    for (int bits = 1; bits < 24; ++bits) {
      const double nearest = with_bits(x, bits);
      if (nearest == x) return false;
      const double unit = std::ldexp(1.0, std::ilogb(x) - bits + 1);
      for (const double y : {nearest, nearest + (nearest < x ? unit : -unit)}) {
        if (y == x || !std::isfinite(in_f32(y)) || in_f32(y) != y) continue;
        if (change([&](Specimen& s) { place(s) = y; })) return true;
      }
    }
    return false;
  }

  /// All numbers times one power of two, so that the largest is in [1, 2) or as near to it as they part.
  bool nearer_exponents() {
    double most = 0;
    for (const double x : best_.values) most = std::isfinite(x) ? std::fmax(most, std::fabs(x)) : most;
    const int exponent = most == 0 ? 0 : std::ilogb(most);
    for (int left = 0; std::abs(left) < std::abs(exponent); left += exponent > 0 ? 1 : -1) {
      Specimen next = best_;
      bool exact = true;
      const auto scale = [&](double& x) {
        const double y = std::ldexp(x, left - exponent);
        exact = exact && (std::isnan(x) || (in_f32(y) == y && std::ldexp(y, exponent - left) == x));
        x = y;
      };
      for (double& x : next.values) scale(x);
      if (next.tensor_amax) scale(*next.tensor_amax);
      if (next.inputs.contains("scale")) scale(next.inputs["scale"][0]);
      if (exact && take(std::move(next))) return true;
    }
    return false;
  }

  /// Elements that are not 0 move to the front, and the zeros behind them go.
  void shorter_row() {
    change([](Specimen& s) {
      std::stable_partition(s.values.begin(), s.values.end(), [](double x) { return x != 0 || std::signbit(x); });
    });
    for (std::size_t n = 1; n < best_.values.size(); ++n) {
      if (std::any_of(best_.values.begin() + static_cast<std::ptrdiff_t>(n), best_.values.end(), [](double x) { return x != 0 || std::signbit(x); })) continue;
      if (change([&](Specimen& s) { s.values.resize(n); })) return;
    }
  }

  /// Rows and columns of a matrix go while the recipes part without them.
  void fewer_lines() {
    for (bool fewer = true; fewer;) {
      fewer = false;
      const std::int64_t rows = best_.view().rows, columns = best_.view().columns;
      for (std::int64_t row = rows; row-- > 0 && rows > 1 && !fewer;) {
        fewer = change([&](Specimen& s) {
          const auto at = s.values.begin() + row * columns;
          s.values.erase(at, at + columns);
        });
      }
      for (std::int64_t column = columns; column-- > 0 && columns > 1 && !fewer;) {
        fewer = change([&](Specimen& s) {
          for (std::int64_t row = rows; row-- > 0;) s.values.erase(s.values.begin() + row * columns + column);
          s.width = columns - 1;
        });
      }
    }
  }

  const QuantRecipe &a_, &b_;
  int triviality_;
  bool may_be_refused_;
  Difference difference_;
  Specimen best_;
  std::int64_t zero_blocks_;  ///< of both recipes: no more where their blocks differ
};

}  // namespace

Specimen shrunk(const QuantRecipe& a, const QuantRecipe& b, Specimen specimen) { return Shrinker(a, b, std::move(specimen)).run(); }

}  // namespace halfulp::recipes
