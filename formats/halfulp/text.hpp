// Exact text of a value: positional decimal, and C's %a in its shortest form. Nothing is rounded.
//
// Every binary number is a finite decimal: significand * 2^-k = significand * 5^k / 10^k.
#pragma once

#include <cstdint>
#include <string>

#include "halfulp/unpacked.hpp"

namespace halfulp {

/// Appends the value in positional decimal without exponent or trailing zeros: `448`, `-0.001953125`, `-0`,
/// `inf`, `nan`. Requires !x.sticky. A value near 2^-n takes about n characters; no exponent of a format is
/// beyond +-33000.
void append_decimal(std::string& text, const Unpacked& x);

/// Appends the shortest hex-float with a leading 1: `0x1.cp+8`, `-0x0p+0`, `inf`, `nan`. Requires
/// !x.sticky.
void append_hex_float(std::string& text, const Unpacked& x);

std::string decimal_text(const Unpacked& x);
std::string hex_float_text(const Unpacked& x);

}  // namespace halfulp
