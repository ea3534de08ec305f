// Witnesses: the smallest tensor found on which two recipes part, both answers, and the step at which they part.
//
// What is searched, the most telling first: simple blocks of ordinary numbers; blocks with the largest magnitude at
// thresholds of a scale and elements at ties of the element format; powers of two; random blocks; documented blocks; tiny
// and huge numbers; Inf and NaN; blocks of zeros. What is found is made smaller - elements to 0, shorter significands,
// exponents near 0 - but not less telling: a block of numbers does not become one of zeros.
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
  bool column = false;  ///< one column instead of one row
  std::vector<double> values;
  std::optional<double> tensor_amax;  ///< when both recipes use it; absent: that of the values
  Inputs inputs;                      ///< of either recipe, by name
  TensorView view() const {
    const auto n = static_cast<std::int64_t>(values.size());
    return column ? TensorView{n, 1, values} : TensorView{1, n, values};
  }
};

/// The specimen's inputs that this recipe has.
Inputs inputs_of(const QuantRecipe& recipe, const Specimen& specimen);

struct RecipeAnswer {
  std::string refused;  ///< why, or empty
  Quantized quantized;
  std::vector<double> values;  ///< dequantized
};
RecipeAnswer answer_of(const QuantRecipe& recipe, const Specimen& specimen);

/// True when stored results of one format have other codes (scales, zero points, elements), or values differ; a NaN equals
/// a NaN. Tensor scales count through the values that are made with them.
bool answers_differ(const QuantRecipe& a, const RecipeAnswer& to_a, const QuantRecipe& b, const RecipeAnswer& to_b);

/// True when one of them was refused.
inline bool any_refused(const RecipeAnswer& a, const RecipeAnswer& b) { return !a.refused.empty() || !b.refused.empty(); }

/// In the order of the search.
enum class WitnessKind : std::uint8_t { simple, threshold, power, random, documented, extreme, non_finite, zeros };
inline constexpr std::array<const char*, 8> kWitnessKinds = {
    "simple blocks", "scale thresholds and ties", "powers of two", "random blocks", "documented blocks", "tiny and huge numbers",
    "Inf and NaN", "zeros"};

/// The first result, in the order of the steps, that is not the same on both sides.
struct Parting {
  std::string role;            ///< tensor scale, scale, zero point, element before the cast, code, value
  std::string step_a, step_b;  ///< the statements that make it
  double result_a = 0, result_b = 0;
};

struct Witness {
  Specimen specimen;
  WitnessKind kind = WitnessKind::simple;
  RecipeAnswer a, b;
  Parting parting;
};

struct WitnessOptions {
  std::uint64_t most = 40000;  ///< blocks with thresholds; a quarter as many of powers and random ones
  std::uint64_t limit = ~std::uint64_t{0};  ///< blocks of all kinds together
  bool simple = true;          ///< the fixed blocks, but for documented ones
  bool thresholds = true, documented = true;
  std::optional<WitnessKind> only;  ///< nothing else
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
