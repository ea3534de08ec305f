// Seeded tensors for the tests of recipes: the generators of recipe packs.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/recipes/quantize.hpp"
#include "halfulp/thresholds.hpp"
#include "halfulp/vectors/blocks/strata.hpp"

namespace halfulp::test {

using vectors::blocks::aimed_at_ties;
using vectors::blocks::code_of;
using vectors::blocks::filled;
using vectors::blocks::Filling;
using vectors::blocks::for_each_place;
using vectors::blocks::in_format;
using vectors::blocks::kFillings;
using vectors::blocks::kFiniteFillings;
using vectors::blocks::kSource;
using vectors::blocks::largest_exponent;
using vectors::blocks::number_of;
using vectors::blocks::Random;
using vectors::blocks::row_of;
using vectors::blocks::scale_thresholds;
using vectors::blocks::stratified;
using vectors::blocks::Tensor;
using vectors::blocks::with_maxima;

}  // namespace halfulp::test
