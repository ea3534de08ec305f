// The exact twin of CDNA, integer and software orders; see detail/sum_exact_parts.hpp.
#include <algorithm>
#include <vector>

#include "halfulp/accumulation/detail/sum_exact_parts.hpp"

namespace halfulp::accumulation::exact {
namespace {

constexpr int kF32Places = 23;

std::uint32_t to_f32(const Number& x) { return rounded(x, Output::f32, kF32Places, Direction::nearest_even); }
Number f32(std::uint32_t word) { return number_of(operand_of(kF32Format, word)); }
Number a_of(const MmaSpec& spec, const Row& row, std::size_t k) { return number_of(operand_of(spec.a, row.a[k])); }
Number b_of(const MmaSpec& spec, const Row& row, std::size_t k) { return number_of(operand_of(spec.b, row.b[k])); }

/// A float32 result where results are flushed: a subnormal becomes a zero of its sign.
std::uint32_t flushed_result(const MmaSpec& spec, std::uint32_t word) {
  const bool subnormal = (word & 0x7f800000) == 0;
  return spec.model.flushes && subnormal ? word & 0x80000000 : word;
}

/// An operand where operands are flushed: a subnormal becomes +0.
Number flushed_operand(const MmaSpec& spec, const Operand& x) {
  const bool subnormal = x.kind == Kind::finite && x.significand != 0 && (x.significand >> x.places) == 0;
  return spec.model.flushes && subnormal ? Number{} : number_of(x);
}

/// A tree of adjacent pairs; an odd leftover moves up. At least one word.
template <class Add>
std::uint32_t tree_of(std::vector<std::uint32_t> words, const Add& add) {
  while (words.size() > 1) {
    std::vector<std::uint32_t> next;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) next.push_back(add(words[i], words[i + 1]));
    if (words.size() % 2 != 0) next.push_back(words.back());
    words = next;
  }
  return words.front();
}

/// Products truncated to 2^(largest - F) and summed: the sum, and the largest exponent.
struct CutSum {
  Integer units = 0;
  int exponent = kNoExponent;
};

/// Products first, first + step, ...
CutSum cut_sum(const MmaSpec& spec, const Row& row, std::size_t first, std::size_t step) {
  CutSum sum;
  for (std::size_t k = first; k < row.a.size(); k += step) {
    sum.exponent = std::max(sum.exponent, operand_of(spec.a, row.a[k]).alignment() + operand_of(spec.b, row.b[k]).alignment());
  }
  for (std::size_t k = first; k < row.a.size(); k += step) {
    const Number product = a_of(spec, row, k) * b_of(spec, row, k);
    sum.units += truncated(product.units, product.exponent, sum.exponent - spec.model.fraction_bits);
  }
  return sum;
}

/// NaN or Inf where a product or c is one; a product of 2^128 or more counts as an infinity.
Number special_of(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  Number special;
  for (std::size_t k = 0; k < row.a.size(); ++k) {
    const Number product = a_of(spec, row, k) * b_of(spec, row, k);
    const bool huge = product.kind == Kind::finite && truncated(abs(product.units), product.exponent, 128) != 0;
    if (huge) special = special + Number{Kind::infinity, product.negative};
    if (product.kind != Kind::finite) special = special + product;
  }
  return f32(c).kind == Kind::finite ? special : special + f32(c);
}

}  // namespace

Operand scale_of(const MmaSpec& spec, std::uint32_t word) {
  static constexpr FormatSpec kE8m0 = spec_of("e8m0"), kUe4m3 = spec_of("ue4m3");
  return spec.model.scale.format == "e8m0" ? operand_of(kE8m0, word) : operand_of(kUe4m3, word & 0x7f);
}

std::uint32_t ieee_add(Output output, std::uint32_t x, std::uint32_t y) {
  const FormatSpec& format = output_format(output);
  return rounded(number_of(operand_of(format, x)) + number_of(operand_of(format, y)), output, format.fraction_bits, Direction::nearest_even);
}

std::uint32_t scaled_add(const MmaSpec& spec, std::uint32_t accumulator, std::uint32_t partial, std::uint32_t scale_a,
                         std::uint32_t scale_b) {
  const bool scales_first = spec.scale_order == ScaleOrder::scales_first;
  const Number factor = f32(to_f32(f32(scales_first ? scale_b : partial) * f32(scale_a)));
  const Number product = factor * f32(scales_first ? partial : scale_b);
  return to_f32(f32(accumulator) + (spec.contract ? product : f32(to_f32(product))));
}

std::uint32_t pairwise_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  const auto add = [&spec](std::uint32_t x, std::uint32_t y) { return flushed_result(spec, to_f32(f32(x) + f32(y))); };
  std::vector<std::uint32_t> products;
  for (std::size_t k = 0; k < row.a.size(); ++k) {
    const Number a = flushed_operand(spec, operand_of(spec.a, row.a[k])), b = flushed_operand(spec, operand_of(spec.b, row.b[k]));
    products.push_back(flushed_result(spec, to_f32(a * b)));
  }
  const std::uint32_t start = to_f32(flushed_operand(spec, operand_of(kF32Format, c)));
  return products.empty() ? start : add(start, tree_of(products, add));
}

std::uint32_t two_stage_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  const Number special = special_of(spec, row, c);
  if (special.kind != Kind::finite) return to_f32(special);
  const int fraction_bits = spec.model.fraction_bits;
  const bool parity = spec.model.scheme == Scheme::two_stage_parity;
  CutSum sum = cut_sum(spec, row, 0, parity ? 2 : 1);
  if (parity && row.a.size() > 1) {
    const CutSum odd = cut_sum(spec, row, 1, 2);
    const int largest = std::max(sum.exponent, odd.exponent), unit = largest - fraction_bits;
    sum = {floored(sum.units, sum.exponent - fraction_bits, unit) + floored(odd.units, odd.exponent - fraction_bits, unit), largest};
  }
  const Operand operand_c = operand_of(kF32Format, c);
  const int largest = std::max(sum.exponent, operand_c.alignment());
  const int fine = largest - fraction_bits - 7, coarse = largest - fraction_bits;
  Integer total = row.a.empty() ? Integer(0) : floored(sum.units, sum.exponent - fraction_bits, fine);
  const bool dropped = parity && operand_c.alignment() < largest - fraction_bits - 1;
  if (!dropped) total += floored(number_of(operand_c).units, number_of(operand_c).exponent, coarse) * 128;
  const std::uint32_t word = to_f32({Kind::finite, total < 0, total, fine});
  return (word & 0x7fffffff) == 0 ? 0 : word;
}

std::uint32_t integer_chunk(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  Number sum = number_of(operand_of(kInt32Format, c));
  for (std::size_t k = 0; k < row.a.size(); ++k) sum = sum + a_of(spec, row, k) * b_of(spec, row, k);
  if (spec.saturate) {
    const Integer limit = Integer(1) << 31;
    sum.units = std::clamp(sum.units, Integer(-limit), Integer(limit - 1));
  }
  return rounded(sum, Output::int32, 0, Direction::toward_zero);
}

std::uint32_t software_row(const MmaSpec& spec, const Row& row, std::uint32_t c) {
  const auto product = [&](std::size_t k) { return a_of(spec, row, k) * b_of(spec, row, k); };
  const auto add = [](std::uint32_t x, std::uint32_t y) { return to_f32(f32(x) + f32(y)); };
  const std::size_t count = row.a.size();
  const FormatSpec& format = output_format(spec.output);
  if (spec.model.scheme == Scheme::exact) {
    Number sum = number_of(operand_of(format, c));
    for (std::size_t k = 0; k < count; ++k) sum = sum + product(k);
    if (sum.kind == Kind::finite && sum.units == 0) return 0;
    return rounded(sum, spec.output, format.fraction_bits, Direction::nearest_even);
  }
  if (spec.model.scheme == Scheme::tree) {
    std::vector<std::uint32_t> products;
    for (std::size_t k = 0; k < count; ++k) products.push_back(to_f32(product(k)));
    return products.empty() ? to_f32(f32(c)) : add(tree_of(products, add), c);
  }
  if (spec.model.scheme == Scheme::warp_tree) {
    std::vector<std::uint32_t> lanes(kWarpLanes, 0);
    for (std::size_t k = 0; k < count; ++k) lanes[k % kWarpLanes] = add(lanes[k % kWarpLanes], to_f32(product(k)));
    for (std::size_t distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      for (std::size_t lane = 0; lane < distance; ++lane) lanes[lane] = add(lanes[lane], lanes[lane + distance]);
    }
    return add(lanes[0], c);
  }
  std::uint32_t sum = to_f32(f32(c));
  for (std::size_t k = 0; k < count; ++k) {
    sum = spec.model.scheme == Scheme::fma_sequential ? to_f32(product(k) + f32(sum)) : add(sum, to_f32(product(k)));
  }
  return sum;
}

}  // namespace halfulp::accumulation::exact
