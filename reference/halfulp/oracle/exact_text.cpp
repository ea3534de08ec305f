// Reading and writing Exact as text: docs/guide.md, "Values on the command line". Decides which literals
// are numbers.
#include <charconv>

#include "halfulp/oracle/exact.hpp"

namespace halfulp::oracle {

namespace {

bool fail(std::string* why, std::string reason) {
  if (why != nullptr) *why = std::move(reason);
  return false;
}

int digit_value(char c, int base) {
  int value = 99;
  if (c >= '0' && c <= '9') value = c - '0';
  if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
  if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
  return value < base ? value : -1;
}

/// base^n for n >= 0.
Exact power(std::int64_t base, int n) {
  Exact result = 1;
  for (Exact square = base; n > 0; n /= 2, square *= square) {
    if (n % 2 != 0) result *= square;
  }
  return result;
}

/// An integer made of digits only.
bool read_digits(std::string_view digits, int base, Exact& out, std::string* why) {
  if (digits.empty()) return fail(why, "a digit is missing");
  if (digits.size() > kMaxLiteralDigits) return fail(why, "more than 4096 digits");
  // Fourteen digits at a time: 16^14 fits 64 bits.
  out = Exact();
  while (!digits.empty()) {
    const std::string_view part = digits.substr(0, 14);
    std::int64_t value = 0;
    for (const char c : part) {
      const int digit = digit_value(c, base);
      if (digit < 0) return fail(why, std::string("unexpected character '") + c + "'");
      value = value * base + digit;
    }
    out = out * power(base, static_cast<int>(part.size())) + Exact(value);
    digits.remove_prefix(part.size());
  }
  return true;
}

/// A signed decimal exponent with |exponent| <= limit.
bool read_exponent(std::string_view text, int limit, int& out, std::string* why) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty()) return fail(why, "the exponent is missing");
  while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (end != text.data() + text.size() || text[0] == '-')
    return fail(why, "the exponent is not an integer");
  if (error != std::errc{} || out > limit)
    return fail(why, "the exponent is beyond +-" + std::to_string(limit));
  if (negative) out = -out;
  return true;
}

/// Digits with at most one point; `places` counts the digits behind it.
bool read_positional(std::string_view text, int base, Exact& out, int& places, std::string* why) {
  const auto point = text.find('.');
  std::string digits(text.substr(0, point));
  places = 0;
  if (point != std::string_view::npos) {
    digits += text.substr(point + 1);
    places = static_cast<int>(text.size() - point - 1);
  }
  return read_digits(digits, base, out, why);
}

bool read_hex_float(std::string_view text, Exact& out, std::string* why) {
  const auto p = text.find_first_of("pP");
  if (p == std::string_view::npos) return fail(why, "a hex-float needs a binary exponent, e.g. 0x1.8p-3");
  int places = 0;
  int exponent = 0;
  if (!read_positional(text.substr(0, p), 16, out, places, why)) return false;
  if (!read_exponent(text.substr(p + 1), kMaxBinaryExponent, exponent, why)) return false;
  out = out.times_pow2(exponent - 4 * places);
  return true;
}

bool read_decimal(std::string_view text, Exact& out, std::string* why) {
  const auto e = text.find_first_of("eE");
  int places = 0;
  int exponent = 0;
  if (!read_positional(text.substr(0, e), 10, out, places, why)) return false;
  if (e != std::string_view::npos && !read_exponent(text.substr(e + 1), kMaxDecimalExponent, exponent, why))
    return false;
  exponent -= places;
  out = exponent >= 0 ? out * power(10, exponent) : out / power(10, -exponent);
  return true;
}

bool read_fraction(std::string_view numerator, std::string_view denominator, Exact& out, std::string* why) {
  Exact below;
  if (!read_digits(numerator, 10, out, why) || !read_digits(denominator, 10, below, why)) return false;
  if (below.is_zero()) return fail(why, "the denominator is zero");
  out /= below;
  return true;
}

bool read_magnitude(std::string_view text, Exact& out, std::string* why) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X")
    return read_hex_float(text.substr(2), out, why);
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    return read_fraction(text.substr(0, slash), text.substr(slash + 1), out, why);
  }
  if (const auto caret = text.find('^'); caret != std::string_view::npos) {
    int exponent = 0;
    if (text.substr(0, caret) != "2") return fail(why, "only powers of 2 can be written with ^");
    if (!read_exponent(text.substr(caret + 1), kMaxBinaryExponent, exponent, why)) return false;
    out = Exact::pow2(exponent);
    return true;
  }
  return read_decimal(text, out, why);
}

}  // namespace

std::optional<Exact> parse_exact(std::string_view text, std::string* why) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  Exact magnitude;
  if (text.empty()) {
    fail(why, "the literal is empty");
    return std::nullopt;
  }
  if (!read_magnitude(text, magnitude, why)) return std::nullopt;
  return negative ? -magnitude : magnitude;
}

std::string to_fraction_string(const Exact& x) {
  return x.is_integer() ? x.numerator_string() : x.numerator_string() + "/" + x.denominator_string();
}

std::string to_decimal_string(const Exact& x) {
  // The expansion ends after max(a, b) places when the reduced denominator is 2^a * 5^b.
  int places = 0;
  if (!x.is_integer()) {
    int twos = 0;
    int fives = 0;
    Exact rest = Exact(1) / (x / *parse_exact(x.numerator_string()));
    while ((rest.times_pow2(-1)).is_integer()) rest = rest.times_pow2(-1), ++twos;
    for (Exact next = rest / Exact(5); next.is_integer(); next = rest / Exact(5)) rest = next, ++fives;
    if (rest != Exact(1)) return {};
    places = std::max(twos, fives);
  }
  std::string digits = (x.abs() * power(10, places)).numerator_string();
  const auto whole = static_cast<std::size_t>(places);
  if (whole > 0) {
    if (digits.size() <= whole) digits.insert(0, whole + 1 - digits.size(), '0');
    digits.insert(digits.size() - whole, ".");
  }
  return (x.sign() < 0 ? "-" : "") + digits;
}

std::string to_hex_float(const Exact& x) {
  if (x.is_zero()) return "0x0p+0";
  if (!x.is_dyadic()) return {};
  const int exponent = x.floor_log2();
  Exact significand = x.abs().times_pow2(-exponent);  // in [1, 2)
  while (!significand.is_integer()) significand = significand.times_pow2(4);
  std::string digits = significand.numerator_hex();
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  if (digits.size() > 1) digits.insert(1, ".");
  return (x.sign() < 0 ? "-0x" : "0x") + digits + (exponent < 0 ? "p" : "p+") + std::to_string(exponent);
}

}  // namespace halfulp::oracle
