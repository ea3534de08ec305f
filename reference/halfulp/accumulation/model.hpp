// AccumulationModel: how a sum of products and c is computed, as data. MmaSpec: a model with the formats and choices of
// one computation.
//
// The engine (engine.hpp) and its exact twin (sum_exact.hpp) run what stands here; nothing else describes a model.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "halfulp/spec.hpp"

namespace halfulp::accumulation {

/// The shape of a computation. All but the software orders work on chunks in ascending k; the rounded result of one chunk
/// is the c of the next.
enum class Scheme : std::uint8_t {
  exact,             ///< c + the sum of a chunk, rounded once, to nearest even
  sequential,        ///< float32: multiply, round, add, round; from c
  fma_sequential,    ///< float32: one fused multiply-add per product; from c
  tree,              ///< float32: rounded products summed as a tree of adjacent pairs, then + c
  warp_tree,         ///< float32: 32 lanes from +0, lane k mod 32 sums rounded products; lane l + lane l+16, 8, 4, 2, 1; then + c
  fused,             ///< aligned at the largest exponent, truncated, summed as integers, rounded once
  widened_halves,    ///< FP8 widened to f16: two fused sums of 16, k mod 4 in {0,1} then {2,3}, from 0; then one IEEE add with c
  scaled_groups,     ///< FP4: exact dots of groups of 16 times their scales, fused with c
  pairwise,          ///< CDNA1, CDNA2: a tree of float32 adds per group, then acc + group
  two_stage,         ///< CDNA3: truncated sum of products, floored, added to the floored c
  two_stage_parity,  ///< CDNA3 FP8: even and odd products apart, then as two_stage
  integer,           ///< int32, exact modulo 2^32 or clamped
};

/// What the result and c are.
enum class Output : std::uint8_t { f32, f16, int32 };

/// How zero operands and a zero c take part in the largest exponent: two public models differ.
enum class ZeroRule : std::uint8_t {
  a,  ///< a zero has exponent -126 and takes part
  b,  ///< a term that is zero, a group whose products or scale are all zero, is left out; the largest exponent has a floor (kFloors)
};

/// Block scales that are part of a model. An empty format means none.
struct BlockScale {
  std::string_view format = {};
  int block = 0;  ///< products per scale
  friend constexpr bool operator==(const BlockScale&, const BlockScale&) = default;
};

struct AccumulationModel {
  std::string_view name;
  Scheme scheme = Scheme::fused;
  std::string_view inputs;            ///< operand formats, separated by blanks; the first is the default
  bool mixed_inputs = false;          ///< a and b may differ in format
  std::string_view outputs = "f32";   ///< names of Output, separated by blanks; the first is the default
  int chunk = 0;                      ///< products per chunk; 0: the whole row is one
  int fraction_bits = 0;              ///< F: the unit of a chunk is 2^(largest exponent - F)
  int f32_fraction_bits = 23;         ///< of a float32 result: 13 for the FP8 unit of Ada and Hopper
  BlockScale scale = {};
  bool flushes = false;               ///< subnormals of inputs and c become +0, those of results a zero of their sign
  std::string_view evidence;          ///< hw, claim, sass, doc, exact: see docs/accumulation.md
  std::string_view note = {};

  friend constexpr bool operator==(const AccumulationModel&, const AccumulationModel&) = default;
};

/// Products per group of Scheme::scaled_groups: each group has one exact dot and one scale of either side.
inline constexpr int kScaledGroup = 16;

/// Lanes of Scheme::warp_tree. Halving distances are those of a shuffle-down and of a butterfly: both give the same sum.
inline constexpr int kWarpLanes = 32;

/// Exponent of a zero operand, a zero c or a zero scale where they take part.
inline constexpr int kZeroExponent = -126;

/// Below every exponent: for terms that do not take part.
inline constexpr int kNoExponent = -100000;

/// Floor of the largest exponent under ZeroRule::b.
struct ExponentFloor {
  int fraction_bits;
  int f32, f16;
};
inline constexpr ExponentFloor kFloors[] = {{35, -139, kNoExponent}, {25, -133, -21}, {24, -132, -20}, {23, kNoExponent, -19}};

constexpr int exponent_floor(ZeroRule rule, int fraction_bits, Output output) {
  if (rule == ZeroRule::a) return kNoExponent;
  for (const ExponentFloor& row : kFloors) {
    if (row.fraction_bits == fraction_bits) return output == Output::f16 ? row.f16 : row.f32;
  }
  return kNoExponent;
}

/// How float32 scales of a promoted piece enter: acc + (sA*sB)*partial, or acc + (partial*sA)*sB. None is a default.
enum class ScaleOrder : std::uint8_t { none, scales_first, operand_first };

/// A model as it is run. Made by make_spec (models.hpp), which checks that the parts fit.
struct MmaSpec {
  AccumulationModel model;
  FormatSpec a, b;
  Output output = Output::f32;
  ZeroRule zero_rule = ZeroRule::a;
  int interval = 0;  ///< promotion: products per piece, each summed from zero and added to an accumulator; 0: none
  ScaleOrder scale_order = ScaleOrder::none;  ///< with `interval`: a float32 scale of a and of b for every piece
  bool contract = false;                      ///< the last multiply and the add of a scaled piece are one fma
  bool saturate = false;                      ///< int32: clamp at the end of every chunk instead of wrapping

  friend constexpr bool operator==(const MmaSpec&, const MmaSpec&) = default;
};

/// One row of work. All spans hold container words of their formats; a and b have the same length.
struct Row {
  std::span<const std::uint32_t> a, b;
  std::uint32_t c = 0;                                ///< word of the output format
  std::span<const std::uint32_t> scale_a, scale_b{};  ///< one word per block of the model, or per promoted piece (float32)
};

/// The only NaNs that a result is.
inline constexpr std::uint32_t kNanF32 = 0x7fffffff;
inline constexpr std::uint32_t kNanF16 = 0x7fff;

}  // namespace halfulp::accumulation
