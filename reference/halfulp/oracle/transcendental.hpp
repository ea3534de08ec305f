// log2 and exp2, correctly rounded: enclosed in 128-bit arithmetic, and in 300-bit arithmetic where the ends round apart.
//
// Decides: the one right result of a logarithm or an exponential, for steps that libraries do in float arithmetic.
// Twin: the platform's libm, which is only claimed to be near it.
#pragma once

#include "halfulp/oracle/value.hpp"
#include "halfulp/spec.hpp"

namespace halfulp::oracle {

/// log2(x) rounded to `to`, ties to even, overflow to Inf. IEEE 754-2019 9.2: log2(±0) is -Inf, of a negative NaN.
Value log2_rounded(const Value& x, const FormatSpec& to);

/// 2^x rounded to `to`, ties to even, overflow to Inf, gradual underflow.
Value exp2_rounded(const Value& x, const FormatSpec& to);

}  // namespace halfulp::oracle
