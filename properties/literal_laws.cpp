// Literals: every spelling of a value gives the code of that value, and a literal is rounded once, exactly.
#include <gtest/gtest.h>

#include <string>

#include "halfulp/literal.hpp"
#include "halfulp/oracle/limits.hpp"
#include "law.hpp"

namespace halfulp::laws {
namespace {

CastResult cast_text(const std::string& text, const CastCase& c) {
  const Literal literal = parse_literal(text);
  require(literal.error == LiteralError::none, "the literal is read: " + text);
  return cast(literal.value, c.to.spec, c.policy, c.random);
}

/// The literal gives what the oracle gives for the exact value of the text.
void check_text(const std::string& text, const CastCase& c) {
  const auto value = oracle::parse_value(text);
  require(value.has_value(), "the oracle reads the literal: " + text);
  const CastResult got = cast_text(text, c);
  const CastResult expected = oracle::nearest(*value, c.to.spec, c.policy, c.random);
  require(got == expected, "the exact value is rounded once: " + text,
          {got.code, expected.code, got.flags, expected.flags});
}

std::string signed_text(bool negative, const std::string& magnitude) {
  return (negative ? "-" : "") + magnitude;
}

TEST(Literals, EverySpellingOfASourceValueGivesTheCodeOfThatSource) {
  for_all({}, [](const CastCase& c) {
    const oracle::Value x = source_value(c);
    if (!x.is_finite()) skip();
    const CastResult direct = result_of(c);
    const std::string decimal = oracle::to_decimal_string(x.magnitude);
    const std::string fraction = x.magnitude.numerator_string() + "/" + x.magnitude.denominator_string();
    for (const std::string& spelling : {decimal, oracle::to_hex_float(x.magnitude), fraction}) {
      const std::string text = signed_text(x.negative, spelling);
      require(cast_text(text, c) == direct, "a spelling of the value: " + text,
              {cast_text(text, c).code, direct.code});
    }
  });
}

TEST(Literals, ADecimalCutAnywhereIsRoundedOnce) {
  for_all({}, [](const CastCase& c) {
    const oracle::Value x = source_value(c);
    if (!x.is_finite()) skip();
    std::string text = signed_text(x.negative, oracle::to_decimal_string(x.magnitude));
    const auto point = text.find('.');
    if (point != std::string::npos)
      text.resize(std::min(text.size(), point + 1 + c.other % (text.size() - point)));
    check_text(text, c);
  });
}

TEST(Literals, ADigitFarBehindATieBreaksIt) {
  for_all({}, [](const CastCase& c) {
    const oracle::Value x = source_value(c);
    if (!x.is_finite()) skip();
    std::string text = oracle::to_decimal_string(x.magnitude);
    if (text.find('.') == std::string::npos) text += '.';
    text += std::string(c.other % 90, '0') + "1";
    check_text(signed_text(x.negative, text), c);
  });
}

TEST(Literals, ADigitFarBehindATieOfTheRandomWordBreaksItToo) {
  for_all({.target = is_floating, .roundings = {Rounding::stochastic}}, [](CastCase c) {
    c.policy.sr_variant = Stochastic::C;
    c.policy.sr_bits = 1 + static_cast<int>(c.other % 4);
    const std::uint64_t words = std::uint64_t{1} << c.policy.sr_bits;
    // Half way between two multiples of 2^-sr_bits, in the gap below the smallest number.
    const auto odd = static_cast<std::int64_t>(1 + 2 * (c.word % words));
    const oracle::Exact smallest = oracle::limits_of(c.to.spec).smallest_positive.value;
    const std::string tie =
        oracle::to_decimal_string(smallest * oracle::Exact::scaled(odd, -1 - c.policy.sr_bits));
    if (tie.size() > 2000) skip();
    const std::string text =
        tie + (tie.find('.') == std::string::npos ? "." : "") + std::string(60, '0') + "1";
    for (c.random = 0; c.random < words; ++c.random) check_text(text, c);
  });
}

TEST(Literals, AHalfBehindManyDigitsIsATie) {
  for_all({.sources = Sources::any}, [](const CastCase& c) {
    check_text(std::to_string(c.random) + ".5", c);
    check_text("-" + std::to_string(c.random) + std::to_string(c.other % 1000) + ".5", c);
  });
}

TEST(Literals, ExponentsMoveTheDecimalPoint) {
  for_all({}, [](const CastCase& c) {
    const std::string digits = std::to_string(c.other);
    const int exponent = static_cast<int>(c.random % 90) - 60;
    check_text(signed_text(c.random % 2 == 1, digits + "e" + std::to_string(exponent)), c);
    check_text(digits.substr(0, 1) + "." + digits.substr(1) + "E" + std::to_string(exponent), c);
  });
}

TEST(Literals, FractionsThatNeverEndAreRoundedOnce) {
  for_all({}, [](const CastCase& c) {
    const std::uint64_t numerator = c.other >> (c.random % 64);
    const std::uint64_t denominator = 1 + (c.random >> (c.other % 64));
    if (denominator == 0) skip();
    const std::string text = std::to_string(numerator) + "/" + std::to_string(denominator);
    check_text(text, c);
    check_text("-" + text, c);
    check_text(text + "000000000000000000000000000000001", c);  // operands beyond 64 bits
  });
}

TEST(Literals, HexFloatsAndPowersOfTwoKeepEveryBit) {
  for_all({}, [](const CastCase& c) {
    const int exponent = static_cast<int>(c.random % 300) - 150;
    check_text("2^" + std::to_string(exponent), c);
    const std::string digits = c.from.name == "f64" ? "0x.00a5" : "-0X1F.";
    check_text(digits + std::to_string(c.other) + "0000000000000001p" + std::to_string(exponent), c);
  });
}

TEST(Literals, SpecialWordsAreTheSpecialValues) {
  for_all({.policies = Policies::total}, [](const CastCase& c) {
    check_text("inf", c);
    check_text("-inf", c);
    check_text("nan", c);
    check_text("-nan", c);
    check_text("-0", c);
    check_text("+0.000e5", c);
  });
}

}  // namespace
}  // namespace halfulp::laws
