// QuantRecipe: a quantizer as data - ordered steps, each with operation, operands and precision.
//
// A recipe is written as text (recipes/registry_*.cpp), parsed once into steps (parse.hpp) and run by two engines that
// share nothing but this data: quantize.hpp (binary64 registers, fast) and quantize_exact.hpp (exact rationals).
//
// Variables have a scope, found from what they are made of: tensor (A, G …), block (a, s …) or element (x, y …).
// Given by the engines:  x  the element;  a, lo, hi  the block's largest magnitude, minimum and maximum;
//                        A, LO, HI  the same of the tensor;  and the recipe's inputs.
// Made by statements:    T  the stored tensor scale;  S  the stored block scale;  Z  the stored zero point or minimum;
//                        v  (in `value` only) the number an element code stands for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "halfulp/policy.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::recipes {

/// How much of the tensor shares one scale. The tensor is rows x columns, columns along the reduction axis k.
enum class Granularity : std::uint8_t {
  tensor,
  row,     ///< one per token
  column,  ///< one per channel
  group,   ///< `columns` consecutive values of one row
  tile,    ///< `rows` x `columns`
};

enum class Precision : std::uint8_t { f16, bf16, f32, f64 };

enum class Scope : std::uint8_t { tensor, block, element };

enum class Op : std::uint8_t {
  constant,           ///< the operand's literal, rounded to the precision
  copy,
  add, subtract, multiply, divide,
  negate, absolute,   ///< exact
  copy_sign,          ///< magnitude of operand 1, sign of operand 2; the sign of a NaN that was decoded counts
  square_root,
  minimum, maximum,   ///< C's fmin and fmax: a NaN operand loses
  fma,
  reciprocal_approx,  ///< binary32 subnormals count as zeros; admissible: every value within one ulp of the exact result
  log2, exp2,         ///< admissible: every value within one ulp of the exact result
  ceiling, floor, truncate,
  round_even, round_away,      ///< to an integer, ties to even or away from zero
  pow2_floor,                  ///< magnitude with the trailing significand cleared; zeros, Inf and NaN unchanged
  pow2_ceil,                   ///< the next power of two when the trailing significand is not zero
  bits_add,                    ///< binary32 only: adds operand 2 (an integer literal) to the bits
  select_zero,                 ///< operand 1 == 0 ? operand 2 : operand 3
  select_finite,               ///< operand 1 is finite ? operand 2 : operand 3
  select_nan,                  ///< operand 1 is NaN ? operand 2 : operand 3
  select_less,                 ///< operand 1 < operand 2 ? operand 3 : operand 4
  cast,                        ///< to `target` under `policy`, and back to a number
  sum,                         ///< element to block: one value after the other in row-major order, each sum rounded
  largest,                     ///< element to block: largest magnitude, NaN dropped
  hadamard,                    ///< element to element: butterflies of stride 1, 2, 4 … along the block's elements
  flip_signs,                  ///< element to element: bit i of operand 2 (an integer literal) negates elements i, i + 16 …
  tree_sum,                    ///< element to block, of 16 x 16: each row in order, then the 16 sums by halves: 8, 4, 2, 1
  count,                       ///< element to block: how many elements
  peak,                        ///< element to block: the first element of the largest magnitude, its sign kept, NaN dropped
  lowest, highest,             ///< element to block: minimum and maximum, the first of equal ones; a NaN makes them NaN
  median,                      ///< element to block: the lower median, number (n - 1) / 2 in order, +0 and -0 as they stand; a NaN makes it NaN
  quantile,                    ///< element to block: at fraction operand 2, interpolated between two elements; see quantile()
  nearest_entry,               ///< index of the entry of table operand 2 at the least rounded distance, first minimum wins
  entry,                       ///< the entry of table operand 1 whose index is operand 2
};

/// True for operations that need all elements of a block at once.
constexpr bool is_collective(Op op) { return op >= Op::sum && op <= Op::quantile; }

/// A step: registers are numbered in order of definition; operands are register numbers.
struct Step {
  Op op = Op::copy;
  Precision precision = Precision::f32;
  Scope scope = Scope::tensor;
  int result = 0;
  std::vector<int> operands;
  std::string literal;    ///< constant, bits_add, flip_signs
  int ulps = 0;           ///< approximate steps: take the neighbour this many floats away where it is admissible
  std::string name;       ///< of the variable that it defines, or empty for a part of an expression
  std::string target_name;  ///< cast
  FormatSpec target;
  CastPolicy policy;
  std::string text;  ///< the statement it comes from
};

/// A stored result: which register, in which format.
struct Stored {
  int reg = -1;  ///< -1: the recipe stores no such thing
  std::string format_name;
  FormatSpec format;
  CastPolicy policy;
};

/// What an input's values belong to. A single value serves every place.
enum class PerInput : std::uint8_t { tensor, block, column, element, table };

/// A value that the caller gives, or one per block (in block order), per column, per element, or a whole table.
struct Input {
  std::string name;
  std::string default_literal;  ///< empty: required
  PerInput per = PerInput::tensor;
  std::int64_t entries = 0;  ///< of a table: as many as the element has codes
  int reg = 0;
};

struct QuantRecipe {
  std::string name;
  std::string text;  ///< what was parsed, without comments
  Granularity granularity = Granularity::tensor;
  int rows = 0, columns = 0;  ///< of a group or tile
  Precision precision = Precision::f32;
  bool amax_propagates_nan = false;
  std::string amax_start = "0";
  std::vector<std::string> elements;  ///< those that a caller may choose from, the default first; empty: `code` names it
  std::vector<Input> inputs;
  std::vector<Step> transform_steps;  ///< make x from the tensor's own elements `given`, before everything else
  std::vector<Step> steps;        ///< quantization, in order
  std::vector<Step> value_steps;  ///< dequantization, in order
  Stored tensor_scale, scale, zero, code;
  int given = -1, transform_reg = -1;  ///< -1: x is the tensor's element
  int value_reg = -1;
  int keep_reg = -1;  ///< elements where it is not 0 are kept as they are, beside the codes
  int registers = 0;
  int x = -1, a = -1, lo = -1, hi = -1, A = -1, LO = -1, HI = -1, v = -1;  ///< registers of the given variables; -1: unused
  std::vector<std::string> facts;  ///< packing, layout, special cases: printed, not run

  /// True when every step has one right answer.
  bool exact_steps() const;
};

}  // namespace halfulp::recipes
