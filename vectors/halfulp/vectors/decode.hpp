// The SPEC of a decode: `decode:FORMAT[:TO]` - every code of FORMAT as a word of TO, which must hold its
// value exactly.
#pragma once

#include <string>
#include <string_view>

#include "halfulp/plan.hpp"

namespace halfulp::vectors {

/// The cast that a decode is: TO, if not named, is f32 where it holds every value of FORMAT, else f64; Inf
/// stays Inf and NaN is any NaN. Throws InputError, also where TO cannot hold a value.
CastPlan parse_decode_spec(std::string_view spec);

/// `decode:FORMAT:TO` in canonical names.
std::string decode_spec_text(const CastPlan& plan);

}  // namespace halfulp::vectors
