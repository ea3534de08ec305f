// Values as users write them; see values.hpp.
#include "values.hpp"

#include <charconv>
#include <utility>

#include "halfulp/text.hpp"

namespace halfulp::tool {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

[[noreturn]] void refuse_code(std::string_view text, const std::string& why, const Format& format) {
  const auto digits = static_cast<std::size_t>((format.spec.storage_bits() + 3) / 4);
  throw InputError("code " + quoted(text), why,
                   "write 0x and up to " + std::to_string(digits) + " hexadecimal digits, e.g. " +
                       code_text(format.spec, std::uint64_t{1} << format.spec.storage_shift));
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const auto begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool is_code(std::string_view text) {
  return text.size() >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
         text.find_first_of("pP") == std::string_view::npos;
}

std::uint64_t parse_code(std::string_view text, const Format& format) {
  const std::string name(format.name);
  if (!is_code(text)) refuse_code(text, "not a code of " + name, format);
  if (text.size() == 2) refuse_code(text, "no digits after 0x", format);
  std::uint64_t word = 0;
  for (const char c : text.substr(2)) {
    const int digit = hex_digit(c);
    if (digit < 0) refuse_code(text, "not a hexadecimal number", format);
    if ((word >> 60) != 0) refuse_code(text, "more than 64 bits", format);
    word = (word << 4) | static_cast<std::uint64_t>(digit);
  }
  const int bits = format.spec.storage_bits();
  if ((word & ~low_mask(bits)) != 0) {
    refuse_code(text, name + " has " + std::to_string(bits) + " bits", format);
  }
  if ((word & low_mask(format.spec.storage_shift)) != 0) {
    refuse_code(text,
                "the low " + std::to_string(format.spec.storage_shift) + " bits of " + name + " are zero",
                format);
  }
  return word;
}

ExactUnpacked read_literal(std::string_view text) {
  const Literal literal = parse_literal(text);
  switch (literal.error) {
    case LiteralError::none: break;
    case LiteralError::empty: throw InputError("value ''", "empty", "give a number or a code");
    case LiteralError::malformed:
      throw InputError(
          "value " + quoted(text), "not a number",
          "write e.g. 0.1, -1e-3, 0x1.8p-3, 3/32, 2^-9, inf, nan, or the bits of a code as 0x…");
    case LiteralError::too_long:
      throw InputError("value " + quoted(text),
                       "longer than " + std::to_string(kMaxLiteral) + " characters", "shorten it");
    case LiteralError::zero_denominator:
      throw InputError("value " + quoted(text), "the denominator is zero",
                       "write inf or nan if that is meant");
  }
  return literal.value;
}

void append_code(std::string& text, const FormatSpec& spec, std::uint64_t word) {
  constexpr char kDigits[] = "0123456789abcdef";
  const int digits = (spec.storage_bits() + 3) / 4;
  char buffer[18] = {'0', 'x'};
  for (int i = digits - 1; i >= 0; --i, word >>= 4) buffer[2 + i] = kDigits[word & 15];
  text.append(buffer, static_cast<std::size_t>(2 + digits));
}

std::string code_text(const FormatSpec& spec, std::uint64_t word) {
  std::string text;
  append_code(text, spec, word);
  return text;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

ValueTexts::ValueTexts(const FormatSpec& spec, Append append) : spec_(spec), append_(append) {
  if (spec.storage_bits() <= 8) known_.resize(std::size_t{1} << spec.storage_bits());
}

std::string_view ValueTexts::operator()(std::uint64_t word) {
  const bool kept = !known_.empty();
  std::string& text = kept ? known_[word] : last_;
  if (!kept) text.clear();
  if (text.empty()) append_(text, unpack(spec_, word));
  return text;
}

}  // namespace halfulp::tool
