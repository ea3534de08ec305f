// How a code is written in explanations: digits, fields, formula. Shared by the files of this folder.
#pragma once

#include <string>
#include <vector>

#include "halfulp/explain/value.hpp"

namespace halfulp::explain {

/// `0x` and as many lower-case digits as the container word has nibbles.
std::string code_text(const FormatSpec& spec, std::uint64_t code);

/// Sign, exponent and fraction (or what the encoding has instead), most significant first.
std::vector<Field> fields_of(const FormatSpec& spec, std::uint64_t code);

/// The value's formula with the numbers of this code put in; empty for Inf, NaN and codebooks.
std::string formula_of(const FormatSpec& spec, std::uint64_t code);

/// zero, subnormal, normal, infinity or NaN.
std::string class_of(const FormatSpec& spec, std::uint64_t code);

}  // namespace halfulp::explain
