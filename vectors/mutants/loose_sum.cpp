// Sums in 128-bit integers; see loose_sum.hpp.
#include "loose_sum.hpp"

#include <algorithm>
#include <bit>

#include "halfulp/accumulation/exact_dot.hpp"
#include "halfulp/literal.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {
namespace {

using accumulation::int128;
using accumulation::kZeroExponent;
using accumulation::MmaSpec;
using accumulation::Output;

/// magnitude * 2^exponent, aligned at `alignment`.
struct Term {
  bool negative = false;
  std::uint64_t magnitude = 0;
  int exponent = 0, alignment = 0;
};

bool is_special(const Unpacked& x) {
  return x.number_class == NumberClass::nan || x.number_class == NumberClass::infinity;
}
int alignment_of(const Unpacked& x, const FormatSpec& format, int of_zero = kZeroExponent) {
  return x.significand == 0 ? of_zero : x.exponent + format.fraction_bits;
}
/// Exponent of the smallest normal number.
int smallest_exponent(const FormatSpec& format) {
  return unpack(format, 1).exponent + format.fraction_bits;
}

/// The term in units of 2^unit.
int128 cut(const Term& term, int unit, LooseSum::Cut how) {
  constexpr int kFar = 64;  // bits of a magnitude
  const int shift = term.exponent - unit;
  int128 units = 0;
  if (shift >= 0) {
    units = static_cast<int128>(term.magnitude) << shift;  // at most F, and kFiner for c
  } else {
    const int right = std::min(-shift, kFar - 1);
    units = static_cast<int128>(term.magnitude >> right);
    const std::uint64_t rest = term.magnitude & low_mask(right), half = std::uint64_t{1} << (right - 1);
    if (how == LooseSum::Cut::nearest && right == -shift &&
        (rest > half || (rest == half && (units & 1) != 0)))
      ++units;
    if (how == LooseSum::Cut::floor && term.negative && rest != 0) ++units;
  }
  return term.negative ? -units : units;
}

std::uint32_t rounded(const MmaSpec& spec, const LooseSum& how, int128 sum, int unit) {
  ExactUnpacked value;
  if (sum == 0) return 0;
  value.number_class = NumberClass::normal;
  value.negative = sum < 0;
  value.significand = static_cast<uint128>(value.negative ? -sum : sum);
  value.exponent = unit;
  const bool f32 = spec.output == Output::f32, cut_result = f32 && !how.nearest_result;
  const auto high = static_cast<std::uint64_t>(value.significand >> 64),
             low = static_cast<std::uint64_t>(value.significand);
  const int width =
      high != 0 ? 64 + static_cast<int>(std::bit_width(high)) : static_cast<int>(std::bit_width(low));
  if (cut_result && width + unit > 128) return value.negative ? 0xff800000 : 0x7f800000;
  const CastPolicy policy = {.rounding = cut_result ? Rounding::toward_zero : Rounding::ties_to_even,
                             .overflow = Overflow::overflow};
  auto word = static_cast<std::uint32_t>(
      accumulation::rounded_dot(value, accumulation::format_of(spec.output), policy).code);
  if (f32 && cut_result) word &= ~static_cast<std::uint32_t>(low_mask(23 - spec.model.f32_fraction_bits));
  return (word & ~accumulation::format_of(spec.output).sign_mask()) == 0 ? 0 : word;
}

std::uint32_t add(const MmaSpec& spec, std::uint32_t x, std::uint32_t y) {
  static const FormatSpec kOne = spec_of("e2m1");
  const accumulation::ExactDot sum(accumulation::format_of(spec.output), kOne);
  const std::uint32_t words[] = {x}, ones[] = {0x2};
  const FormatSpec& format = accumulation::format_of(spec.output);
  return static_cast<std::uint32_t>(accumulation::rounded_dot(sum.value(words, ones, y, &format), format,
                                                              {.overflow = Overflow::overflow})
                                        .code);
}

std::uint32_t chunk_sum(const MmaSpec& spec, const LooseSum& how, const MmaRow& row, std::size_t first,
                        std::size_t count, std::uint32_t c) {
  const FormatSpec& format = accumulation::format_of(spec.output);
  std::vector<Term> terms;
  bool minus_zeros = true;
  for (std::size_t k = first; k < first + count; ++k) {
    const Unpacked a = unpack(spec.a, row.a[k]), b = unpack(spec.b, row.b[k]);
    const int zero_a = how.zero_of_its_format ? smallest_exponent(spec.a) : kZeroExponent,
              zero_b = how.zero_of_its_format ? smallest_exponent(spec.b) : kZeroExponent;
    Term term = {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent,
                 alignment_of(a, spec.a, zero_a) + alignment_of(b, spec.b, zero_b)};
    if (how.normalised && term.magnitude != 0)
      term.alignment = term.exponent + static_cast<int>(std::bit_width(term.magnitude)) - 1;
    minus_zeros = minus_zeros && term.negative && term.magnitude == 0;
    terms.push_back(term);
  }
  const Unpacked of_c = unpack(format, c);
  const Term term_c = {of_c.negative, of_c.significand, of_c.exponent, alignment_of(of_c, format)};
  minus_zeros = minus_zeros && term_c.negative && term_c.magnitude == 0;
  if (how.signed_zero && minus_zeros) return static_cast<std::uint32_t>(format.sign_mask());
  int largest =
      how.c == LooseSum::C::as_term || how.c == LooseSum::C::whole ? term_c.alignment : kZeroExponent;
  for (const Term& term : terms) largest = std::max(largest, term.alignment);
  const int unit = largest - spec.model.fraction_bits;
  int128 sum = 0;
  for (const Term& term : terms) sum += cut(term, unit, how.cut);
  if (how.c == LooseSum::C::as_term) sum += cut(term_c, unit, how.cut);
  if (how.c == LooseSum::C::whole) {
    constexpr int kFiner = 40;
    const int128 fine = sum * (int128{1} << kFiner) + cut(term_c, unit - kFiner, LooseSum::Cut::truncate);
    return rounded(spec, how, fine, unit - kFiner);
  }
  const std::uint32_t word = rounded(spec, how, sum, unit);
  return how.c == LooseSum::C::late ? add(spec, word, c) : word;
}

}  // namespace

std::optional<MmaFunction> loose_sum(const MmaSpec& spec, const LooseSum& how) {
  const bool plain = spec.model.scheme == accumulation::Scheme::fused && spec.model.scale.format.empty() &&
                     spec.interval == 0;
  const bool narrow = spec.output == Output::f32 && spec.model.f32_fraction_bits != 23;
  if (!plain || (how.nearest_result && (narrow || spec.output == Output::f16))) return std::nullopt;
  return [spec, how, engine = function_of(spec)](const MmaRow& row) {
    bool special = is_special(unpack(accumulation::format_of(spec.output), row.c));
    for (std::size_t k = 0; k < row.a.size(); ++k)
      special = special || is_special(unpack(spec.a, row.a[k])) || is_special(unpack(spec.b, row.b[k]));
    if (special) return engine(row);
    std::uint32_t c = row.c;
    const auto chunk = static_cast<std::size_t>(spec.model.chunk);
    for (std::size_t first = 0; first < row.a.size(); first += chunk) {
      if (is_special(unpack(accumulation::format_of(spec.output), c))) return c;
      c = chunk_sum(spec, how, row, first, std::min(chunk, row.a.size() - first), c);
    }
    return c;
  };
}

}  // namespace halfulp::vectors
