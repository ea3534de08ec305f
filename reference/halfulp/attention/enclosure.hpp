// Enclosures: what a kernel can give when only a budget is known of it, and the true result that no rounding touched.
//
// The budget is proved term by term in docs/attention_verdicts.md. Everything is an interval with outward rounding: in doubles
// (enclose) or in dyadic numbers of 256 bits (enclose_wide). Twin: none; tests run kernels that spend the budget.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halfulp/accumulation/model.hpp"
#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"

namespace halfulp::attention {

/// What is known of the scores.
enum class Scores : std::uint8_t {
  as_model,         ///< bits: the QK model with d ascending
  model_any_order,  ///< the QK model with channels in any order
  f32_any_order,    ///< float32 products and adds in any order
};

/// What is known of tiles and parts.
enum class Tiles : std::uint8_t {
  stated,  ///< tile, order and split of the spec; keys inside a tile in any order, partial sums in any number and order
  any,     ///< any partition of the keys into tiles and parts, each in any order, with or without rescaling by 1
};

/// The terms of a budget, each of which can be scaled to see what it is worth.
enum class Term : std::uint8_t { scores, logit_scale, softcap, exponent, exp2, cast, rescale, row_sum, pv, reciprocal };
inline constexpr std::size_t kTerms = 10;
std::string_view name_of(Term term);

/// The kernel computes t = fma(S, L, fma(-m, L, offset)), exp2(t), rescales by exp2(rn(rn(m - m') L)), sums in float32 and ends with
/// O * rn(rn(1/l) * v_scale), rounded once more to the output; what is not stated here follows `kernel`.
struct Budget {
  KernelSpec kernel;
  Scores scores = Scores::model_any_order;
  Tiles tiles = Tiles::any;
  bool pv_f32 = false;            ///< P V by float32 products and adds in any order instead of pv_model
  double logit_scale_error = 0;   ///< the kernel's L is within this relative distance of the problem's; 0: its bits
  double softcap_error = 0x1p-21; ///< relative, of the capped score, where there is a soft cap
  double exp2_error = 0x1p-22;    ///< relative; exp2(0) is 1, results below 2^-126 may be 0
  double reciprocal_error = 0x1p-24;  ///< relative, of 1/l: 2^-24 for a division
  accumulation::ZeroRule zero_rule = accumulation::ZeroRule::a;  ///< of the QK model where scores are bits
  std::array<double, kTerms> share = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};  ///< of each term; below 1 the budget is no longer proved
};

/// One output element. `lo` and `hi` bound the float32 O before its cast.
struct Enclosure {
  bool bounded = false;  ///< false: a NaN or an infinity in reach, l may be 0, an overflow is possible, L is negative
  double lo = 0, hi = 0;
  double true_lo = 0, true_hi = 0;  ///< softmax attention of the same codes, every step exact; times v_scale and a prescale that l lacks
};

/// [row, value_dim], rows as in Stages. Throws InputError where the model has no bound (block scales, flushing models) or a format is
/// not a floating one. `threads` (0: all cores) changes no number.
std::vector<Enclosure> enclose(const Budget& budget, const Problem& problem, unsigned threads = 1);

/// Some rows in 256 bits: [place in `rows`, value_dim].
std::vector<Enclosure> enclose_wide(const Budget& budget, const Problem& problem, std::span<const std::size_t> rows, unsigned threads = 1);

}  // namespace halfulp::attention
