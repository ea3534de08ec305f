// Order-free rows and error bounds; see bounds.hpp.
#include "halfulp/accumulation/bounds.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::accumulation {
namespace {

/// A term of a fused sum: magnitude * 2^unit, aligned at `alignment`.
struct Term {
  std::uint64_t magnitude = 0;
  int unit = 0;
  int alignment = 0;
  bool takes_part = true;
  std::uint64_t parts = 0;  ///< a power of two divides every product of the term when it divides this
};

struct Terms {
  std::vector<Term> all;
  bool special = false;
};

/// e of a number, or that of a zero.
int alignment_of(const Unpacked& x, const FormatSpec& format) {
  return x.number_class == NumberClass::zero ? kZeroExponent : x.exponent + format.fraction_bits;
}

bool is_special(const Unpacked& x) { return x.number_class == NumberClass::infinity || x.number_class == NumberClass::nan; }

void add_c(const MmaSpec& spec, const Row& row, Terms& terms) {
  const FormatSpec& format = format_of(spec.output);
  const Unpacked c = unpack(format, row.c);
  terms.special = terms.special || is_special(c);
  terms.all.push_back({c.significand, c.exponent, alignment_of(c, format), spec.zero_rule == ZeroRule::a || c.significand != 0, c.significand});
}

/// FP8 subnormals as f16 numbers, for the models that widen.
int widened_alignment(int alignment, const Unpacked& x, const FormatSpec& format) {
  if (x.number_class != NumberClass::subnormal) return alignment;
  return std::max(-14, alignment - (format.fraction_bits + 1 - bit_width(x.significand)));
}

Terms terms_of(const MmaSpec& spec, const Row& row) {
  const AccumulationModel& model = spec.model;
  const bool groups = model.scheme == Scheme::scaled_groups, halves = model.scheme == Scheme::widened_halves;
  if (model.scheme != Scheme::fused && !groups && !halves) throw std::invalid_argument("halfulp: no bounds for this model");
  if (spec.scale_order != ScaleOrder::none) throw std::invalid_argument("halfulp: no bounds for scaled promotion");
  Terms terms;
  add_c(spec, row, terms);
  const std::size_t step = groups ? kScaledGroup : 1;
  for (std::size_t first = 0; first < row.a.size(); first += step) {
    std::uint64_t magnitude = 0, parts = 0;
    int unit = 0, alignment = 0;
    bool zero = true;
    for (std::size_t k = first; k < std::min(first + step, row.a.size()); ++k) {
      const Unpacked a = unpack(spec.a, row.a[k]), b = unpack(spec.b, row.b[k]);
      terms.special = terms.special || is_special(a) || is_special(b);
      const std::uint64_t product = a.significand * b.significand;
      zero = zero && product == 0;
      if (groups) {  // in quarters, signs left out: a bound of the dot
        const std::uint64_t quarters = product == 0 ? 0 : product << (a.exponent + b.exponent + 2);
        magnitude += quarters;
        parts |= quarters;
        unit = -2;
        continue;
      }
      magnitude = parts = product;
      unit = a.exponent + b.exponent;
      const int of_a = alignment_of(a, spec.a), of_b = alignment_of(b, spec.b);
      alignment = (halves ? widened_alignment(of_a, a, spec.a) : of_a) + (halves ? widened_alignment(of_b, b, spec.b) : of_b);
    }
    if (model.scale.block != 0) {
      const std::size_t block = first / static_cast<std::size_t>(model.scale.block);
      const FormatSpec& format = scale_format(spec);
      const Unpacked a = unpack(format, row.scale_a[block]), b = unpack(format, row.scale_b[block]);
      terms.special = terms.special || is_special(a) || is_special(b);
      magnitude *= a.significand * b.significand;
      parts *= a.significand * b.significand;
      unit += a.exponent + b.exponent;
      alignment += alignment_of(a, format) + alignment_of(b, format);
      zero = zero || a.significand == 0 || b.significand == 0;
    }
    terms.all.push_back({magnitude, unit, alignment, spec.zero_rule == ZeroRule::a || !zero, parts});
  }
  return terms;
}

struct Target {
  int fraction_bits, smallest, overflow;  ///< of the result; Inf from 2^overflow on (f16: from 65520, below 2^16)
};
Target target_of(const MmaSpec& spec) {
  return spec.output == Output::f16 ? Target{10, -14, 15} : Target{spec.model.f32_fraction_bits, -126, 128};
}

double pow2(int exponent) { return std::ldexp(1.0, exponent); }
double up(double x) { return x == 0 ? 0 : std::nextafter(x, std::numeric_limits<double>::infinity()); }

}  // namespace

std::string_view name_of(OrderFree verdict) {
  constexpr std::string_view kNames[] = {"yes", "special", "alignment", "range", "last_place", "overflow"};
  return kNames[static_cast<std::size_t>(verdict)];
}

OrderFree order_free(const MmaSpec& spec, const Row& row) {
  if (spec.model.scheme == Scheme::widened_halves) throw std::invalid_argument("halfulp: no proof for this model");
  const Terms terms = terms_of(spec, row);
  if (terms.special) return OrderFree::special;
  const int fraction_bits = spec.model.fraction_bits;
  const Target to = target_of(spec);
  constexpr int kNoUnit = std::numeric_limits<int>::max();
  int unit = kNoUnit;
  for (const Term& term : terms.all) {
    if (term.magnitude != 0) unit = std::min(unit, term.unit + std::countr_zero(term.parts));
  }
  if (unit == kNoUnit) return OrderFree::yes;
  const int limit = std::min(fraction_bits, to.fraction_bits) + 1;  // the sum is below 2^limit units
  std::uint64_t sum = 0;
  for (const Term& term : terms.all) {
    if (term.takes_part && term.alignment > fraction_bits + unit) return OrderFree::alignment;
    if (term.magnitude == 0) continue;
    const int shift = term.unit - unit;
    if (shift > 0 && bit_width(term.magnitude) + shift > limit) return OrderFree::range;
    sum += shift >= 0 ? term.magnitude << shift : term.magnitude >> -shift;
    if (sum >= std::uint64_t{1} << limit) return OrderFree::range;
  }
  if (exponent_floor(spec.zero_rule, fraction_bits, spec.output) > fraction_bits + unit) return OrderFree::alignment;
  if (unit < to.smallest - to.fraction_bits) return OrderFree::last_place;
  if (bit_width(sum) + unit > to.overflow) return OrderFree::overflow;
  return OrderFree::yes;
}

ProbeRow order_free_row(const MmaSpec& spec, std::size_t k, std::uint64_t seed) {
  static constexpr FormatSpec kF32 = spec_of("f32");
  const auto code = [](const FormatSpec& format, int value) {
    const CastResult result = cast(kF32, std::bit_cast<std::uint32_t>(static_cast<float>(value)), format, CastPolicy{});
    if (result.refusal != Refusal::none || result.flags != 0) throw std::invalid_argument("halfulp: the format has not the integers of a probe");
    return static_cast<std::uint32_t>(result.code);
  };
  std::uint64_t state = seed;
  const auto next = [&state] {  // SplitMix64
    std::uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  const Target to = target_of(spec);
  const std::int64_t room = (std::int64_t{1} << std::min({spec.model.fraction_bits + 1, to.fraction_bits + 1, to.overflow})) - 1;
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(k, 1));
  const int largest = count * 9 <= room ? 3 : count * 4 <= room ? 2 : 1;
  ProbeRow probe;
  std::int64_t left = room;
  for (std::size_t i = 0; i < k; ++i) {
    const auto range = static_cast<std::uint64_t>(2 * largest + 1);
    int a = static_cast<int>(next() % range) - largest;
    const int b = static_cast<int>(next() % range) - largest;
    const bool filled = count <= room || next() % static_cast<std::uint64_t>(count) < static_cast<std::uint64_t>(room / 2);
    if (!filled || std::abs(a * b) > left) a = 0;
    left -= std::abs(a * b);
    probe.a.push_back(code(spec.a, a));
    probe.b.push_back(code(spec.b, b));
    probe.sum += a * b;
  }
  if (const auto block = static_cast<std::size_t>(spec.model.scale.block); block != 0) {
    probe.scale_a.assign((k + block - 1) / block, scale_format(spec).exponent_bits == 8 ? 0x7f : 0x38);
    probe.scale_b = probe.scale_a;
  }
  if (order_free(spec, probe.row()) != OrderFree::yes) throw std::logic_error("halfulp: a probe is not order-free");
  return probe;
}

double error_bound(const MmaSpec& spec, const Row& row) {
  const Terms terms = terms_of(spec, row);
  if (terms.special) return std::numeric_limits<double>::infinity();
  const AccumulationModel& model = spec.model;
  const Target to = target_of(spec);
  const bool halves = model.scheme == Scheme::widened_halves;
  double magnitudes = 0;
  int largest = std::max(exponent_floor(spec.zero_rule, model.fraction_bits, spec.output), kZeroExponent);
  for (const Term& term : terms.all) {
    magnitudes = up(magnitudes + up(std::ldexp(static_cast<double>(term.magnitude), term.unit)));
    if (term.takes_part) largest = std::max(largest, term.alignment);
  }
  // Partial results stay below the sum of magnitudes: cutting only shrinks. Results to nearest may grow, by less than 2x in all.
  const bool grows = spec.output == Output::f16 || halves || spec.interval != 0;
  const int top = magnitudes == 0 ? to.smallest : std::max(to.smallest, std::ilogb(magnitudes) + (grows ? 1 : 0));
  const int alignment = std::max(largest, top);
  const double n = halves ? 16 : model.scheme == Scheme::scaled_groups ? model.chunk / kScaledGroup : model.chunk;
  const double per_chunk = (n + 1) * pow2(alignment - model.fraction_bits) + pow2(top - to.fraction_bits);
  const std::size_t k = row.a.size();
  const std::size_t length = halves ? 32 : spec.interval != 0 ? static_cast<std::size_t>(spec.interval) : std::max<std::size_t>(k, 1);
  const std::size_t pieces = (k + length - 1) / length;
  const std::size_t in_piece = halves ? 2 : (std::min(length, std::max<std::size_t>(k, 1)) + static_cast<std::size_t>(model.chunk) - 1) / static_cast<std::size_t>(model.chunk);
  const bool adds = halves || spec.interval != 0;
  const double per_add = adds ? pow2(top - (spec.output == Output::f16 ? 10 : 23)) : 0;
  const double outer = halves && spec.interval != 0 ? static_cast<double>((k + static_cast<std::size_t>(spec.interval) - 1) / static_cast<std::size_t>(spec.interval)) * per_add : 0;
  const std::size_t chunks = std::max<std::size_t>(1, pieces) * std::max<std::size_t>(1, in_piece);
  return up(up(static_cast<double>(chunks) * per_chunk) + up(static_cast<double>(pieces) * per_add + outer));
}

}  // namespace halfulp::accumulation
