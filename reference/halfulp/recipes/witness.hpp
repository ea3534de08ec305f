// Witnesses: the smallest tensor found on which two recipes part, both answers, and the step at which they part.
//
// What is searched, the most telling first: simple blocks of ordinary numbers; blocks with the largest magnitude at
// thresholds of a scale and elements at ties of the element format; powers of two; random blocks; documented blocks; tiny
// and huge numbers; Inf and NaN; blocks of zeros. What is found is made smaller - elements to 0, shorter significands,
// exponents near 0 - but not less telling: a block of numbers does not become one of zeros, and other codes do not become
// other values alone. Recipes whose blocks differ get matrices as well, in which their blocks are not the same.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/recipes/tensor.hpp"

namespace halfulp::recipes {

/// What both recipes are given. Numbers are binary32.
struct Specimen {
  std::int64_t width = 0;  ///< columns; 0: one row of all values
  std::vector<double> values;  ///< row-major, whole rows
  std::optional<double> tensor_amax;  ///< when both recipes use it; absent: that of the values
  Inputs inputs;                      ///< of either recipe, by name
  TensorView view() const {
    const auto n = static_cast<std::int64_t>(values.size());
    return width == 0 ? TensorView{1, n, values} : TensorView{n / width, width, values};
  }
  friend bool operator==(const Specimen&, const Specimen&) = default;
};

/// The specimen's inputs that this recipe has.
Inputs inputs_of(const QuantRecipe& recipe, const Specimen& specimen);

struct RecipeAnswer {
  std::string refused;  ///< why, or empty
  Quantized quantized;
  std::vector<double> values;  ///< dequantized
};
RecipeAnswer answer_of(const QuantRecipe& recipe, const Specimen& specimen);

/// What two answers differ in, the least telling first.
enum class Difference : std::uint8_t {
  none,
  values,  ///< values alone; a NaN equals a NaN
  stored,  ///< stored results of one format have other codes (scales, zero points, elements), or one recipe refuses
};

/// Tensor scales count through the values that are made with them. Scales and zero points of blocks that do not match are
/// compared where an element has both.
Difference difference_of(const QuantRecipe& a, const RecipeAnswer& to_a, const QuantRecipe& b, const RecipeAnswer& to_b);
inline bool answers_differ(const QuantRecipe& a, const RecipeAnswer& to_a, const QuantRecipe& b, const RecipeAnswer& to_b) {
  return difference_of(a, to_a, b, to_b) != Difference::none;
}

/// The block of an element, in row-major block order.
std::size_t block_of(const Blocks& blocks, std::size_t element);

/// True when one of them was refused.
inline bool any_refused(const RecipeAnswer& a, const RecipeAnswer& b) { return !a.refused.empty() || !b.refused.empty(); }

/// In the order of the search.
enum class WitnessKind : std::uint8_t { simple, threshold, power, random, documented, extreme, non_finite, zeros };
inline constexpr std::array<const char*, 8> kWitnessKinds = {
    "simple blocks", "scale thresholds and ties", "powers of two", "random blocks", "documented blocks", "tiny and huge numbers",
    "Inf and NaN", "zeros"};

/// The first stored result that is not the same on both sides, and the statements that led to it; the value where all that
/// is stored agrees.
struct Parting {
  /// tensor scale, scale, zero point, element before the cast (of the first code that differs), code, value
  std::string role;
  std::string step_a, step_b;  ///< the statements that make it, but for those before it that both recipes have
  double result_a = 0, result_b = 0;
};

struct Witness {
  Specimen specimen;
  WitnessKind kind = WitnessKind::simple;
  RecipeAnswer a, b;
  Parting parting;
};

struct WitnessOptions {
  /// A witness of other values alone is kept while so many more blocks with thresholds are tried for other codes.
  static constexpr std::uint64_t kMoreForCodes = 1500;
  /// Recipes whose blocks differ: at most so many rows or columns with thresholds before matrices are tried.
  static constexpr std::uint64_t kMostLines = 4000;
  std::uint64_t most = 40000;  ///< blocks with thresholds; a quarter as many of powers and random ones
  std::uint64_t limit = ~std::uint64_t{0};  ///< blocks of all kinds together
  bool simple = true;          ///< the fixed blocks, but for documented ones
  bool thresholds = true, documented = true;
  std::optional<WitnessKind> only = std::nullopt;  ///< nothing else
};

struct WitnessSearch {
  std::optional<Witness> witness;
  std::array<std::uint64_t, kWitnessKinds.size()> tried{};  ///< blocks by kind
};

/// Searches; the same result everywhere. A block that one recipe refuses is a witness only when no block was found that
/// both take.
WitnessSearch find_witness(const QuantRecipe& a, const QuantRecipe& b, const WitnessOptions& options = {});

/// How little a specimen says: 0 numbers, 1 with Inf or NaN, 2 nothing but zeros.
int triviality(const Specimen& specimen);

/// A smaller specimen, no more trivial, on which the recipes still part; taken by both when the first one was.
Specimen shrunk(const QuantRecipe& a, const QuantRecipe& b, Specimen specimen);

/// Where they part on a specimen.
Parting parting_of(const QuantRecipe& a, const QuantRecipe& b, const Specimen& specimen);

}  // namespace halfulp::recipes
