// A fused sum with one step done otherwise: what accumulation mutants are made of. It shares no code with
// engine and twin.
#pragma once

#include <cstdint>
#include <optional>

#include "halfulp/vectors/mma/mma_row.hpp"

namespace halfulp::vectors {

struct LooseSum {
  enum class Cut : std::uint8_t { truncate, nearest, floor };
  enum class C : std::uint8_t { as_term, whole, late };
  Cut cut = Cut::truncate;      ///< of terms to the unit
  C c = C::as_term;             ///< whole: c is not cut; late: c is added to the rounded sum of products
  bool nearest_result = false;  ///< to nearest even where the result is cut toward zero
  bool normalised = false;      ///< products are aligned at the exponent of their value
  bool signed_zero = false;     ///< a sum of negative zeros is -0
  bool zero_of_its_format = false;  ///< a zero operand has the smallest exponent of its format, not -126
};

/// For fused models without scales and promotion, results of 23 or 10 bits where the result is rounded to
/// nearest; rows with NaN or Inf go through the engine. Empty for other specs.
std::optional<MmaFunction> loose_sum(const accumulation::MmaSpec& spec, const LooseSum& how);

}  // namespace halfulp::vectors
