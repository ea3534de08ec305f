// Literals of the command line and of files: decimal, hex-float, fraction, 2^n, inf, nan - read exactly.
//
// The value keeps 126 or more significant bits and a sticky bit for the rest, so one rounding to any format (at most
// 53 bits of precision, 32 random bits) gives the result for the exact literal. Twin: oracle/exact.hpp.
#pragma once

#include <cstdint>
#include <string_view>

#include "halfulp/unpacked.hpp"

namespace halfulp {

/// Value of a literal, rounded toward zero to at least 126 bits, `sticky` for what was cut off.
using ExactUnpacked = BasicUnpacked<uint128>;

enum class LiteralError : std::uint8_t { none, empty, malformed, too_long, zero_denominator };

struct Literal {
  ExactUnpacked value;
  LiteralError error = LiteralError::none;
};

/// Longest literal that is read, in characters.
inline constexpr std::size_t kMaxLiteral = 4096;

/// Parses `text`: `0.1`, `-1e-3`, `0x1.8p-3`, `3/32`, `2^-9`, `inf`, `-nan` … A sign may stand before each of them.
/// Values beyond 2^+-66000 are replaced by a number that is as far outside every format.
Literal parse_literal(std::string_view text);

}  // namespace halfulp
