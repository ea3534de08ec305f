// Fuzzes parse_literal(): no input may crash it, and what strtod can read must round to the same double.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/literal.hpp"

namespace {

using namespace halfulp;

[[noreturn]] void fail(const std::string& text, const char* why) {
  std::fprintf(stderr, "%s: '%s'\n", why, text.c_str());
  std::abort();
}

std::size_t skip(std::string_view text, std::size_t at, const char* set) {
  const auto end = text.find_first_not_of(set, at);
  return end == std::string_view::npos ? text.size() : end;
}

/// [sign] digits [. digits] [e [sign] digits], or the same in hexadecimal with a p that must be there.
bool strtod_reads(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const bool hex = text.size() > at + 1 && text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'X');
  if (hex) at += 2;
  const char* digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
  std::size_t end = skip(text, at, digits);
  std::size_t count = end - at;
  if (end < text.size() && text[end] == '.') {
    const std::size_t fraction = skip(text, end + 1, digits);
    count += fraction - end - 1;
    end = fraction;
  }
  if (count == 0) return false;
  if (end == text.size()) return !hex;
  if (text[end] != (hex ? 'p' : 'e') && text[end] != (hex ? 'P' : 'E')) return false;
  ++end;
  if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
  return end < text.size() && skip(text, end, "0123456789") == text.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Literal literal = parse_literal(text);
  if (size > kMaxLiteral && literal.error != LiteralError::too_long) fail(text, "too long, and read");
  if (size > kMaxLiteral) return 0;

  const bool plain = strtod_reads(text);
  if (plain && literal.error != LiteralError::none) fail(text, "a number, and refused");
  if (literal.error != LiteralError::none) return 0;
  if (plain) {
    constexpr FormatSpec f64 = spec_of("f64");
    constexpr CastPolicy policy = {.overflow = Overflow::overflow};
    const auto expected = std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr));
    if (cast(literal.value, f64, policy).code != expected) fail(text, "not what strtod gives");
  }
  for (const Format& format : kFormats) {
    for (int rounding = 0; rounding <= static_cast<int>(Rounding::stochastic); ++rounding) {
      const CastPolicy policy = {.rounding = static_cast<Rounding>(rounding),
                                 .sr_bits = 1 + static_cast<int>(size % 32)};
      const CastResult result = cast(literal.value, format.spec, policy, size);
      const FormatSpec& spec = format.spec;
      if (result.code >> spec.storage_shift > low_mask(spec.width))
        fail(text, "a code wider than its format");
      if ((result.code & low_mask(spec.storage_shift)) != 0) fail(text, "bits below the code");
    }
  }
  return 0;
}
