// Notable codes of a format: by enumeration, or by IEEE 754-2019 3.4 for the interchange encodings; see
// format_facts.hpp.
#include "format_facts.hpp"

namespace halfulp::tool {
namespace {

FormatFacts ieee_facts(const FormatSpec& spec) {
  const auto word = [&spec](std::uint64_t code) { return code << spec.storage_shift; };
  const std::uint64_t infinity = spec.infinity_magnitude();
  FormatFacts facts;
  facts.largest = word(infinity - 1);
  facts.smallest_normal = word(std::uint64_t{1} << spec.fraction_bits);
  facts.smallest_subnormal = word(1);
  facts.infinities = {word(infinity)};
  facts.nans = {{word(infinity + 1), word(spec.magnitude_mask())}};
  if (spec.is_signed) {
    const std::uint64_t sign = spec.sign_mask();
    facts.lowest = word(sign | (infinity - 1));
    facts.minus_zero = word(sign);
    facts.infinities.push_back(word(sign | infinity));
    facts.nans.emplace_back(word(sign | (infinity + 1)), word(sign | spec.magnitude_mask()));
  }
  return facts;
}

FormatFacts integer_facts(const FormatSpec& spec) {
  FormatFacts facts;
  facts.largest = spec.largest_magnitude();
  facts.smallest_normal = 1;
  if (spec.is_signed) facts.lowest = (~spec.largest_magnitude(true) + 1) & low_mask(spec.width);
  return facts;
}

/// Keeps in `best` the word with the greater (or smaller) magnitude.
void keep(std::optional<std::uint64_t>& best, std::uint64_t word, const FormatSpec& spec, bool greatest) {
  if (!best) {
    best = word;
    return;
  }
  const Unpacked a = unpack(spec, word);
  const Unpacked b = unpack(spec, *best);
  if (greatest ? magnitude_less(b, a) : magnitude_less(a, b)) best = word;
}

}  // namespace

bool magnitude_less(const Unpacked& a, const Unpacked& b) {
  if (a.significand == 0 || b.significand == 0) return a.significand == 0 && b.significand != 0;
  const int a_binade = a.exponent + bit_width(a.significand);
  const int b_binade = b.exponent + bit_width(b.significand);
  if (a_binade != b_binade) return a_binade < b_binade;
  return a.significand << (64 - bit_width(a.significand)) < b.significand
                                                                << (64 - bit_width(b.significand));
}

FormatFacts format_facts(const FormatSpec& spec) {
  if (spec.non_finite == NonFinite::ieee) return ieee_facts(spec);
  if (spec.encoding == Encoding::twos_complement) return integer_facts(spec);
  FormatFacts facts;
  for (std::uint64_t code = 0; code <= low_mask(spec.width); ++code) {
    const std::uint64_t word = code << spec.storage_shift;
    const Unpacked x = unpack(spec, word);
    switch (x.number_class) {
      case NumberClass::nan:
        if (!facts.nans.empty() && facts.nans.back().second + 1 == word)
          facts.nans.back().second = word;
        else
          facts.nans.emplace_back(word, word);
        break;
      case NumberClass::infinity: facts.infinities.push_back(word); break;
      case NumberClass::zero:
        if (x.negative) facts.minus_zero = word;
        break;
      case NumberClass::subnormal:
        if (!x.negative) keep(facts.smallest_subnormal, word, spec, false);
        break;
      case NumberClass::normal:
        keep(x.negative ? facts.lowest : facts.largest, word, spec, true);
        if (!x.negative) keep(facts.smallest_normal, word, spec, false);
        break;
    }
  }
  return facts;
}

std::uint64_t FormatFacts::nan_count(const FormatSpec& spec) const {
  std::uint64_t count = 0;
  for (const auto& [first, last] : nans) count += ((last - first) >> spec.storage_shift) + 1;
  return count;
}

std::string_view encoding_name(Encoding encoding) {
  switch (encoding) {
    case Encoding::floating: return "floating";
    case Encoding::twos_complement: return "integer";
    case Encoding::codebook: return "codebook";
    case Encoding::hifloat8: return "hifloat8";
  }
  return "";
}

}  // namespace halfulp::tool
