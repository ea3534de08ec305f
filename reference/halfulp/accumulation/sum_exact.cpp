// The fused models, step by step as docs/accumulation.md numbers them; the other schemes are in sum_exact_orders.cpp.
#include "halfulp/accumulation/sum_exact.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "halfulp/accumulation/detail/sum_exact_parts.hpp"

namespace halfulp::accumulation {
namespace exact {
namespace {

/// A term of a fused sum: units * 2^(exponent - places), aligned at `exponent`.
struct Term {
  Number value;
  int exponent;

  bool is_zero() const { return value.kind == Kind::finite && value.units == 0; }
  bool always = false;  ///< takes part in the largest exponent also when its value is zero, under either rule
};

/// Step 1: NaN if there is one, 0*Inf or both infinities; else an infinity if there is one; else a finite number.
Number special_of(const std::vector<Term>& terms) {
  Number special;
  for (const Term& term : terms) {
    if (term.value.kind != Kind::finite) special = special + term.value;
  }
  return special;
}

/// Steps 1 and 4 to 8: one chunk.
std::uint32_t fused_sum(const MmaSpec& spec, const std::vector<Term>& terms) {
  const int fraction_bits = spec.output == Output::f32 ? spec.model.f32_fraction_bits : 10;
  const Direction direction = spec.output == Output::f32 ? Direction::toward_zero : Direction::nearest_even;
  const Number special = special_of(terms);
  if (special.kind != Kind::finite) return rounded(special, spec.output, fraction_bits, direction);

  int largest = exponent_floor(spec.zero_rule, spec.model.fraction_bits, spec.output);
  for (const Term& term : terms) {
    const bool takes_part = spec.zero_rule == ZeroRule::a || !term.is_zero() || term.always;
    if (takes_part) largest = std::max(largest, term.exponent);
  }
  const int unit = largest - spec.model.fraction_bits;
  Integer sum = 0;
  for (const Term& term : terms) {
    if (!term.is_zero()) sum += truncated(term.value.units, term.value.exponent, unit);
  }
  const std::uint32_t word = rounded({Kind::finite, sum < 0, sum, unit}, spec.output, fraction_bits, direction);
  const std::uint32_t magnitude = spec.output == Output::f32 ? word & 0x7fffffff : word & 0x7fff;
  return magnitude == 0 ? 0 : word;
}

/// c as a term: aligned at its own exponent.
Term term_of_c(const MmaSpec& spec, std::uint32_t c) {
  const Operand x = operand_of(output_format(spec.output), c);
  return {number_of(x), x.alignment()};
}

/// Step 3: an exact product, not normalised.
Term product_of(const Operand& a, const Operand& b) {
  return {number_of(a) * number_of(b), a.alignment() + b.alignment()};
}

/// FP8 as the f16 unit sees it: an FP8 subnormal that f16 has as a normal number gets that number's exponent.
Operand widened_to_f16(Operand x) {
  while (!x.zero() && x.kind == Kind::finite && x.significand >> x.places == 0 && x.exponent > -14) {
    x.significand *= 2;
    --x.exponent;
  }
  return x;
}

}  // namespace

std::uint32_t fused_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  std::vector<Term> terms = {term_of_c(spec, c)};
  for (std::size_t k = 0; k < row.a.size(); ++k) {
    Term term = product_of(operand_of(spec.a, row.a[k]), operand_of(spec.b, row.b[k]));
    if (!spec.model.scale.format.empty()) {
      const auto block = k / static_cast<std::size_t>(spec.model.scale.block);
      const Operand scale_a = scale_of(spec, row.scale_a[block]), scale_b = scale_of(spec, row.scale_b[block]);
      term.value = term.value * number_of(scale_a) * number_of(scale_b);
      term.exponent += scale_a.alignment() + scale_b.alignment();
    }
    terms.push_back(term);
  }
  return fused_sum(spec, terms);
}

std::uint32_t widened_halves_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  std::uint32_t sum = 0;
  for (const bool second : {false, true}) {
    std::vector<Term> terms = {term_of_c(spec, sum)};
    for (std::size_t k = 0; k < row.a.size(); ++k) {
      if ((k % 4 >= 2) != second) continue;
      terms.push_back(product_of(widened_to_f16(operand_of(spec.a, row.a[k])), widened_to_f16(operand_of(spec.b, row.b[k]))));
    }
    sum = fused_sum(spec, terms);
  }
  return ieee_add(spec.output, c, sum);
}

std::uint32_t scaled_groups_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  std::vector<Term> terms = {term_of_c(spec, c)};
  for (std::size_t first = 0; first < row.a.size(); first += kScaledGroup) {
    Number dot;
    bool all_zero = true;
    for (std::size_t k = first; k < std::min(first + kScaledGroup, row.a.size()); ++k) {
      const Number product = number_of(operand_of(spec.a, row.a[k])) * number_of(operand_of(spec.b, row.b[k]));
      all_zero = all_zero && product.units == 0;
      dot = dot + product;
    }
    const auto block = first / static_cast<std::size_t>(spec.model.scale.block);
    const Operand scale_a = scale_of(spec, row.scale_a[block]), scale_b = scale_of(spec, row.scale_b[block]);
    terms.push_back({dot * number_of(scale_a) * number_of(scale_b), scale_a.alignment() + scale_b.alignment(), !all_zero && !scale_a.zero() && !scale_b.zero()});
  }
  return fused_sum(spec, terms);
}

}  // namespace exact

namespace {

std::uint32_t chunk_of(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  switch (spec.model.scheme) {
    case Scheme::fused: return exact::fused_chunk(spec, row, c);
    case Scheme::widened_halves: return exact::widened_halves_chunk(spec, row, c);
    case Scheme::scaled_groups: return exact::scaled_groups_chunk(spec, row, c);
    case Scheme::pairwise: return exact::pairwise_chunk(spec, row, c);
    case Scheme::two_stage:
    case Scheme::two_stage_parity: return exact::two_stage_chunk(spec, row, c);
    case Scheme::integer: return exact::integer_chunk(spec, row, c);
    case Scheme::exact:
    case Scheme::sequential:
    case Scheme::fma_sequential:
    case Scheme::tree:
    case Scheme::warp_tree: break;
  }
  return exact::software_row(spec, row, c);
}

/// The part of a row from product `first` on, `count` products long.
Row part_of(const Row& row, std::size_t first, std::size_t count, std::size_t scale_block) {
  Row part = row;
  part.a = row.a.subspan(first, count);
  part.b = row.b.subspan(first, count);
  if (scale_block != 0) {
    part.scale_a = row.scale_a.subspan(first / scale_block);
    part.scale_b = row.scale_b.subspan(first / scale_block);
  }
  return part;
}

/// Step 9: chunks in ascending k, each result the next c.
std::uint32_t chained(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  const std::size_t count = row.a.size();
  const auto chunk = spec.model.chunk == 0 ? std::max<std::size_t>(count, 1) : static_cast<std::size_t>(spec.model.chunk);
  for (std::size_t first = 0; first == 0 || first < count; first += chunk) {
    c = chunk_of(spec, part_of(row, first, std::min(chunk, count - first), static_cast<std::size_t>(spec.model.scale.block)), c);
  }
  return c;
}

void check(const MmaSpec& spec, const Row& row) {
  if (row.a.size() != row.b.size()) throw std::invalid_argument("halfulp: a and b have different lengths");
  const auto block = static_cast<std::size_t>(spec.scale_order != ScaleOrder::none ? spec.interval : spec.model.scale.block);
  const std::size_t scales = block == 0 ? 0 : (row.a.size() + block - 1) / block;
  if (row.scale_a.size() != scales || row.scale_b.size() != scales) throw std::invalid_argument("halfulp: not one scale per block");
}

}  // namespace

std::uint32_t dot_exact(const MmaSpec& spec, const Row& row) {
  check(spec, row);
  if (spec.interval == 0) return chained(spec, row, row.c);
  std::uint32_t accumulator = row.c;
  const auto interval = static_cast<std::size_t>(spec.interval);
  for (std::size_t first = 0, piece = 0; first < row.a.size(); first += interval, ++piece) {
    const std::size_t count = std::min(interval, row.a.size() - first);
    const std::uint32_t partial = chained(spec, part_of(row, first, count, static_cast<std::size_t>(spec.model.scale.block)), 0);
    if (spec.scale_order == ScaleOrder::none) {
      accumulator = exact::ieee_add(spec.output, accumulator, partial);
    } else {
      accumulator = exact::scaled_add(spec, accumulator, partial, row.scale_a[piece], row.scale_b[piece]);
    }
  }
  return accumulator;
}

}  // namespace halfulp::accumulation
