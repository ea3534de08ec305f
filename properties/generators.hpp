// RapidCheck generators: formats, policies, aimed source codes, random words, and whole cases.
#pragma once

#include <rapidcheck.h>

#include "aim.hpp"
#include "law.hpp"

namespace halfulp::laws {

/// Formats that `accepts` takes: most draws are named formats, the rest IEEE P3109, a few of those above 10
/// bits.
rc::Gen<Format> any_format(bool (*accepts)(const FormatSpec&));
rc::Gen<Format> wide_format();
rc::Gen<CastPolicy> any_policy(const Space& space);
rc::Gen<Aim> any_aim(Focus focus);
/// All zeros, all ones, or any.
rc::Gen<std::uint64_t> random_word();
rc::Gen<CastCase> any_case(const Space& space);

}  // namespace halfulp::laws
