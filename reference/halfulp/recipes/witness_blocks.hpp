// The blocks that a search for witnesses tries.
#pragma once

#include "halfulp/plan.hpp"
#include "halfulp/recipes/witness.hpp"

namespace halfulp::recipes {

double number_of_f32(std::uint64_t code);
/// Nearest binary32 code; finite values stay finite.
std::uint64_t f32_code(double value);
inline double in_f32(double value) { return number_of_f32(f32_code(value)); }
/// Rounded to so many significant bits, ties to even; Inf and NaN unchanged.
double with_bits(double value, int bits);

/// True when a block is a column, or a part of one.
bool along_a_column(const QuantRecipe& recipe);

/// What specimens are: one row or column, or matrices in which the blocks of both recipes are not the same.
enum class SpecimenShape : std::uint8_t { line, matrix };

/// True when the recipes cut some tensor into other blocks.
bool blocks_differ(const QuantRecipe& a, const QuantRecipe& b);

class WitnessBlocks {
 public:
  /// Matrices are for recipes whose blocks differ.
  WitnessBlocks(const QuantRecipe& a, const QuantRecipe& b, SpecimenShape shape = SpecimenShape::line);
  std::vector<Specimen> simple() const;   ///< ordinary numbers
  std::vector<Specimen> extreme() const;  ///< tiny and huge ones
  std::vector<Specimen> non_finite() const;
  std::vector<Specimen> zeros() const;  ///< a zero of either sign, alone or beside a number
  std::vector<Specimen> documented() const;
  Specimen threshold();
  Specimen power();
  Specimen random();

 private:
  std::uint64_t word() { return counter_random(0x68616c66, next_++); }
  std::uint64_t below(std::uint64_t n) { return word() % n; }
  double uniform();
  double amax();
  double scale_threshold(const Specimen& base, const QuantRecipe& recipe, double start);
  void aim(Specimen& specimen, const QuantRecipe& recipe);
  Specimen start();
  std::vector<Specimen> with_tensor_amax(const std::vector<std::vector<double>>& blocks) const;
  void fill_inputs(Specimen& specimen, bool plain);

  const QuantRecipe &a_, &b_;
  std::size_t length_ = 6;
  bool tensor_amax_;
  std::int64_t width_;  ///< of specimens: 1 where a block of either recipe is a column
  SpecimenShape shape_;
  std::uint64_t next_ = 0;
};

}  // namespace halfulp::recipes
