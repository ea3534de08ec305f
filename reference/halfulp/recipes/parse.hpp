// The text form of recipes.
//
//   granularity tensor | row | column | group N | tile R C
//   element uint4 uint2              the element formats to choose from, default first; its largest number is `levels`
//   precision f16                    default of the statements below; f32 at first. `@f64` ends a statement to override it
//   amax drop | propagate [START]    whether a NaN reaches a and A; START is the value the maximum begins with
//   input ub = inf                   a value of the caller's, with its default (none: it must be given)
//   input smooth per column = 1      one value per column; also per block, per element (random words)
//   input codebook table             as many values as the element has codes, for nearest(y, codebook), entry(codebook, v)
//   transform hadamard(x) * 0.25     stands first: x, a, A … below are those of the result
//   s = max(min(a, ub) / 448, 0x1.24924ap-18)
//   tensor_scale f32 g               stored once, as T
//   scale e8m0:toward_positive,zero=min s    stored per block, as S: the code's value
//   zero f32 m                       stored per block, as Z
//   code e4m3 clamp(x / S, 448)      the element's code; `code element …` for the element statement's format
//   keep if_less(hi, x, 1, 0)        elements stored exactly beside the codes
//   value v * S                      what an element code is worth on the way back
//   fact 128x4 scale layout          printed with the recipe
//
// Expressions: + - * / unary minus, parentheses, literals (decimal or hex-float), variables, and the functions
// min max clamp fma abs copysign rcp_approx log2 exp2 ceil floor trunc rne rha pow2_floor pow2_ceil bits_add
// if_zero if_finite if_nan if_less sqrt to, and over the elements of a block sum largest hadamard flip_signs
// tree_sum count peak lowest highest median quantile.
// `clamp(y, m)` is max(min(y, m), -m) and drops NaN; `clamp_nan` keeps it;
// `to(FORMAT y)` rounds to a format. FORMAT may carry words of its policy after a colon, joined by commas; wide floating
// formats overflow to Inf unless told otherwise, all others saturate.
#pragma once

#include <string>
#include <string_view>

#include "halfulp/recipes/recipe.hpp"

namespace halfulp::recipes {

/// Parses the statements. Throws InputError with the line for whatever is not a recipe.
QuantRecipe parse_recipe(const std::string& name, std::string_view text);

/// The text with `element` first in its element statement, where it must be listed.
std::string text_with_element(std::string_view text, std::string_view element);

}  // namespace halfulp::recipes
