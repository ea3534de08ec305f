// Why a value gets its code: the explanation of one cast as data, by the oracle alone. Text and HTML are made from it
// (render.hpp), so that every form says the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halfulp/formats.hpp"
#include "halfulp/oracle/value.hpp"
#include "halfulp/policy.hpp"

namespace halfulp::explain {

/// One exact number in the three forms that are shown.
struct Shown {
  std::string fraction;   ///< `3/32`
  std::string decimal;    ///< every digit, or `≈` and six significant digits where that is too long or does not end
  std::string hex_float;  ///< empty unless dyadic
};

/// A part of a code: the bits as text and what they say.
struct Field {
  std::string name;
  std::string bits;
  std::string meaning;
};

/// A number of the target's grid beside x.
struct Neighbour {
  std::string code;  ///< empty past the largest finite
  Shown value;
  std::string distance;  ///< |x - value| in gaps, as a fraction
};

/// The real numbers that get the code of x under the same policy.
struct Interval {
  std::string low, high;  ///< decimal or fraction; `-inf`, `inf`
  bool low_closed = false;
  bool high_closed = false;
};

struct Alternative {
  std::string rounding;
  std::string overflow;
  std::string code;  ///< or why there is none
  std::string value;
};

struct Reading {
  std::string format;
  std::string value;
};

struct ValueExplanation {
  std::string input;   ///< as the user wrote it
  std::string source;  ///< where x comes from: `exact`, or the source format and code
  std::string format;
  std::string standard;
  std::string policy;  ///< rounding, overflow and whatever else differs from the defaults
  Shown x;             ///< the number that is rounded (after the scale); empty forms for Inf and NaN
  std::string x_class;
  std::optional<Shown> unscaled;  ///< before division by the scale
  std::optional<Shown> scale;
  Refusal refusal = Refusal::none;  ///< a refused cast has no code
  std::string code;
  std::string value_class;
  Shown value;
  std::optional<Shown> rescaled;  ///< value times scale, exact
  std::vector<Field> fields;
  std::string formula;
  std::string error;           ///< value - x as a fraction; empty when exact or not numbers
  std::string relative_error;  ///< per cent of |x|
  std::string flags;
  std::optional<Neighbour> near, far;  ///< toward and away from zero; absent when x is not rounded
  std::string gap;
  int line_position = -1;  ///< place of x between the neighbours, 0..40; -1 when absent
  std::optional<Interval> interval;
  std::string rule;
  std::vector<Alternative> alternatives;
  std::vector<Reading> siblings;  ///< the same code in other formats of that width
};

/// Explains the cast of `x` (a literal, or a code already read) to `to`. `scale`: x is divided by it first, exactly.
/// `policy` may be of any rounding; a stochastic one uses `random_word`. A refused cast is explained, with no code.
ValueExplanation explain_value(const std::string& input, const std::string& source, const oracle::Value& x,
                               const std::optional<oracle::Exact>& scale, const Format& to, const CastPolicy& policy,
                               std::uint64_t random_word = 0);

/// The three forms of an exact number.
Shown shown(const oracle::Exact& number);

}  // namespace halfulp::explain
