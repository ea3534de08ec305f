// SumBuilder: rows whose sum lies where wrong accumulation shows. Each function makes one row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halfulp/vectors/mma/mma_row.hpp"
#include "halfulp/vectors/mma/operand_draw.hpp"

namespace halfulp::vectors {

class SumBuilder {
 public:
  SumBuilder(const MmaPlan& plan, std::uint64_t seed);

  /// Products and c of ordinary size, all finite; `same_sign`: nothing cancels.
  MmaRow filled(bool same_sign);
  /// Two products cancel; a third, several others or c lie beside the last bit that their alignment keeps.
  MmaRow last_kept();
  /// Two products cancel, 3 * 2^-bits of them stands beside, as a product or as c: a unit that aligns with
  /// fewer bits cuts it.
  MmaRow ruler(int bits, bool by_c);
  /// A zero of a (or of b) times the largest power of two, and c that would be cut if the zero were aligned
  /// at the smallest exponent of its format.
  MmaRow zero_product(bool of_a);
  /// One product, and others half a last place of the result below it; or many of one sign, whose sum has
  /// carries.
  MmaRow rounding();
  /// c with all its bits above, below or without products.
  MmaRow with_c(bool above, bool below);
  /// Two products cancel over a distance in k, small ones stand before, between and behind.
  MmaRow position();
  /// Integers times one power of two, with c, within the limits of is_order_free(); zeros in between.
  MmaRow order_free();
  /// Subnormal operands, c, results.
  MmaRow subnormal();
  MmaRow by_bits();
  MmaRow extremes();
  /// Block scales at the ends of their format, some NaN; rows without scales are filled().
  MmaRow scale_ends();
  /// N(0, 1), scales and c of ordinary size.
  MmaRow normal();

  /// All zero, scales of ordinary size.
  MmaRow empty(bool scales_of_one = false);
  /// Some power of two among those on which the sums of a row are centred.
  int centre();
  /// Sets product k to +-m * 2^exponent, as near as the formats have it.
  void set_product(MmaRow& row, std::size_t k, int exponent, bool negative);
  std::uint32_t c_word(int exponent, bool negative) {
    return c_.with_exponent(exponent, negative, random_);
  }

  const MmaPlan& plan() const { return plan_; }
  const OperandDraw& a() const { return a_; }
  const OperandDraw& b() const { return b_; }
  const OperandDraw& c() const { return c_; }
  const OperandDraw& scales() const { return scale_; }
  blocks::Random& random() { return random_; }

 private:
  std::size_t chunk() const;
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.below(n)); }
  bool coin() { return random_.below(2) == 0; }
  int lowest_product() const { return a_.lowest() + b_.lowest(); }
  int highest_product() const { return a_.highest() + b_.highest(); }
  int kept_bits() const;    ///< F, or those of the result where there is no alignment
  int result_bits() const;  ///< fraction bits of the result
  std::uint32_t ordinary_scale();
  /// What the scales of product k add to its exponent.
  int scale_exponent(const MmaRow& row, std::size_t k) const;
  void cancel(MmaRow& row, std::size_t from, std::size_t to);
  MmaRow last_kept_of_groups();

  MmaPlan plan_;
  OperandDraw a_, b_, c_, scale_;
  blocks::Random random_;
};

}  // namespace halfulp::vectors
