// Rows and fused chunks, in 64-bit integers and exact doubles; see engine.hpp. Twin: sum_exact.cpp.
#include "halfulp/accumulation/engine.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "halfulp/accumulation/detail/engine_plan.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/detail/float_modes.hpp"

namespace halfulp::accumulation {
namespace detail {
namespace {

bool is_finite(OperandKind kind) { return kind == OperandKind::finite; }

/// NaN, an infinity, or finite when neither stands among the products and c.
OperandKind special_of(const EnginePlan& plan, const ChunkOperands& x, OperandKind c) {
  bool plus = c == OperandKind::plus_infinity, minus = c == OperandKind::minus_infinity, nan = c == OperandKind::nan;
  for (std::size_t k = 0; k < x.count; ++k) {
    const EngineOperand &a = x.a[k], &b = x.b[k];
    if (is_finite(a.kind) && is_finite(b.kind)) continue;
    const bool zero = (is_finite(a.kind) && a.significand == 0) || (is_finite(b.kind) && b.significand == 0);
    if (a.kind == OperandKind::nan || b.kind == OperandKind::nan || zero) nan = true;
    const bool a_negative = a.kind == OperandKind::minus_infinity || a.significand < 0;
    const bool b_negative = b.kind == OperandKind::minus_infinity || b.significand < 0;
    (a_negative != b_negative ? minus : plus) = true;
  }
  if (plan.spec.model.scale.block != 0) {
    const auto block = static_cast<std::size_t>(plan.spec.model.scale.block);
    for (std::size_t i = 0; i * block < x.count; ++i) {
      nan = nan || !is_finite(plan.scale(x.scale_a[i]).kind) || !is_finite(plan.scale(x.scale_b[i]).kind);
    }
  }
  if (nan || (plus && minus)) return OperandKind::nan;
  return plus ? OperandKind::plus_infinity : minus ? OperandKind::minus_infinity : OperandKind::finite;
}

std::uint32_t special_word(Output output, OperandKind kind) {
  const bool f32 = output == Output::f32;
  if (kind == OperandKind::nan) return f32 ? kNanF32 : kNanF16;
  const std::uint32_t sign = kind == OperandKind::minus_infinity ? (f32 ? 0x80000000u : 0x8000u) : 0u;
  return sign | (f32 ? 0x7f800000u : 0x7c00u);
}

std::int64_t lifted(std::int64_t magnitude, int lift, int right) { return cut(lift >= 0 ? magnitude << lift : cut(magnitude, -lift), right); }

/// 2^exponent, -1022 <= exponent <= 1023.
double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

std::int64_t with_sign(std::int64_t magnitude, bool negative) { return negative ? -magnitude : magnitude; }

/// c cut to 2^(largest - F).
std::int64_t cut_c(const EnginePlan& plan, const CTerm& c, int largest) {
  const int lift = plan.spec.model.fraction_bits - (plan.spec.output == Output::f16 ? 10 : 23);
  return with_sign(lifted(c.significand < 0 ? -c.significand : c.significand, lift, largest - c.exponent), c.significand < 0);
}

std::uint32_t result(const EnginePlan& plan, std::int64_t sum, int largest) {
  return output_word(plan.spec.output, plan.spec.model.f32_fraction_bits, sum, largest - plan.spec.model.fraction_bits);
}

/// A fused sum of products; `scale` is added to every product's exponent. A product of two values has at most 48 bits and
/// takes any power of two within 2^+-700 exactly, so that the conversion to an integer is the one cut of the model.
std::uint32_t fused(const EnginePlan& plan, const ChunkOperands& x, int scale, std::uint32_t c_word) {
  const CTerm c = c_term(plan, c_word);
  int largest = kNoExponent;
  bool special = !is_finite(c.kind);
  for (std::size_t k = 0; k < x.count && !special; ++k) {  // leaving early also keeps compilers from vectors of gathered fields
    largest = std::max(largest, x.a[k].exponent + x.b[k].exponent);
    special = (static_cast<unsigned>(x.a[k].kind) | static_cast<unsigned>(x.b[k].kind)) != 0;
  }
  if (special) return special_word(plan.spec.output, special_of(plan, x, c.kind));
  largest = std::max({largest + scale, plan.floor, c.exponent});
  std::int64_t sum = cut_c(plan, c, largest);
  // Beyond the clamp every product is 0, or ends below one unit with either power.
  const double units = power_of_two(std::clamp(plan.spec.model.fraction_bits + scale - largest, -700, 700));
  for (std::size_t k = 0; k < x.count; ++k) sum += static_cast<std::int64_t>(x.a[k].value * x.b[k].value * units);
  return result(plan, sum, largest);
}

std::uint32_t scaled_fused(const EnginePlan& plan, const ChunkOperands& x, std::uint32_t c) {
  if (plan.spec.model.scale.block == 0 || x.count == 0) return fused(plan, x, 0, c);
  const EngineOperand scale_a = plan.scale(*x.scale_a), scale_b = plan.scale(*x.scale_b);
  if (!is_finite(scale_a.kind) || !is_finite(scale_b.kind)) return special_word(plan.spec.output, OperandKind::nan);
  return fused(plan, x, scale_a.exponent + scale_b.exponent, c);
}

/// 2.1: both halves from zero through the f16 unit, then one addition.
std::uint32_t widened_halves(const EnginePlan& plan, const ChunkOperands& x, std::uint32_t c) {
  EngineOperand a[16], b[16];
  std::uint32_t sum = 0;
  for (std::size_t half = 0; half < 2; ++half) {
    std::size_t count = 0;
    for (std::size_t k = 2 * half; k < x.count; k += (k % 2 == 0) ? 1 : 3) {
      a[count] = x.a[k];
      b[count++] = x.b[k];
    }
    sum = fused(plan, {a, b, count}, 0, sum);
  }
  return add_words(plan.spec.output, c, sum);
}

/// 2.2: exact dots of 16 times their scales.
std::uint32_t scaled_groups(const EnginePlan& plan, const ChunkOperands& x, std::uint32_t c_word) {
  const CTerm c = c_term(plan, c_word);
  constexpr std::size_t kGroup = kScaledGroup, kMost = 8;
  std::int64_t values[kMost];
  int exponents[kMost];
  int largest = std::max(plan.floor, c.exponent);
  bool special = !is_finite(c.kind);
  const std::size_t groups = (x.count + kGroup - 1) / kGroup;
  for (std::size_t g = 0; g < groups; ++g) {
    std::int32_t dot = 0, bits = 0;  // operands are flat: no exponents
    for (std::size_t k = g * kGroup; k < std::min(x.count, (g + 1) * kGroup); ++k) {
      const std::int32_t product = x.a[k].significand * x.b[k].significand;
      dot += product;
      bits |= product;
    }
    const std::size_t block = g * kGroup / static_cast<std::size_t>(plan.spec.model.scale.block);
    const EngineOperand scale_a = plan.scale(x.scale_a[block]), scale_b = plan.scale(x.scale_b[block]);
    values[g] = std::int64_t{dot} * scale_a.significand * scale_b.significand;
    exponents[g] = scale_a.exponent + scale_b.exponent;
    const bool zero = bits == 0 || scale_a.significand == 0 || scale_b.significand == 0;
    if (zero && plan.spec.zero_rule == ZeroRule::b) exponents[g] = kNoExponent;
    largest = std::max(largest, exponents[g]);
    special |= !is_finite(scale_a.kind) || !is_finite(scale_b.kind);
  }
  if (special) return special_word(plan.spec.output, special_of(plan, x, c.kind));
  std::int64_t sum = cut_c(plan, c, largest);
  for (std::size_t g = 0; g < groups; ++g) {
    sum += with_sign(lifted(values[g] < 0 ? -values[g] : values[g], plan.lift, largest - exponents[g]), values[g] < 0);
  }
  return result(plan, sum, largest);
}

std::uint32_t integer_chunk(const EnginePlan& plan, const ChunkOperands& x, std::uint32_t c) {
  std::int64_t sum = static_cast<std::int32_t>(c);
  for (std::size_t k = 0; k < x.count; ++k) sum += std::int64_t{x.a[k].significand} * x.b[k].significand;
  if (plan.spec.saturate) sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
  return static_cast<std::uint32_t>(sum);
}

}  // namespace

std::uint32_t fused_unit(const EnginePlan& plan, const ChunkOperands& operands, std::uint32_t c) { return scaled_fused(plan, operands, c); }

CTerm c_term(const EnginePlan& plan, std::uint32_t c) {
  const bool f32 = plan.spec.output == Output::f32;
  const int places = f32 ? 23 : 10, bias = f32 ? 127 : 15, top = f32 ? 255 : 31;
  const bool negative = (c >> (f32 ? 31 : 15)) != 0;
  const auto field = static_cast<int>((c >> places) & static_cast<unsigned>(top));
  const auto fraction = static_cast<std::int64_t>(c & ((1u << places) - 1));
  if (field == top) {
    return {0, 0, fraction != 0 ? OperandKind::nan : negative ? OperandKind::minus_infinity : OperandKind::plus_infinity};
  }
  if (field == 0 && fraction == 0) return {0, plan.zero_exponent, OperandKind::finite};
  const std::int64_t significand = fraction + (field != 0 ? std::int64_t{1} << places : 0);
  return {with_sign(significand, negative), std::max(field, 1) - bias, OperandKind::finite};
}

std::uint32_t engine_chunk(const EnginePlan& plan, const ChunkOperands& operands, std::uint32_t c) {
  switch (plan.spec.model.scheme) {
    case Scheme::widened_halves: return widened_halves(plan, operands, c);
    case Scheme::scaled_groups: return scaled_groups(plan, operands, c);
    case Scheme::two_stage:
    case Scheme::two_stage_parity: return two_stage(plan, operands, c);
    case Scheme::integer: return integer_chunk(plan, operands, c);
    default: break;
  }
  return scaled_fused(plan, operands, c);
}

/// Operand `n` of a row that may have none.
template <class T>
const T* operand(const T* first, std::size_t n) {
  return first == nullptr ? nullptr : first + n;
}

std::uint32_t engine_chain(const EnginePlan& plan, const ChunkOperands& operands, std::uint32_t c) {
  const std::size_t chunk = plan.chunk(operands.count);
  const auto block = static_cast<std::size_t>(plan.spec.model.scale.block);
  for (std::size_t first = 0; first == 0 || first < operands.count; first += chunk) {
    const std::size_t scales = block == 0 ? 0 : first / block;
    c = engine_chunk(plan,
                     {operand(operands.a, first), operand(operands.b, first), std::min(chunk, operands.count - first), operand(operands.scale_a, scales),
                      operand(operands.scale_b, scales)},
                     c);
  }
  return c;
}

std::uint32_t row_result(const EnginePlan& plan, const RowOperands& row, std::uint32_t c) {
  const MmaSpec& spec = plan.spec;
  const bool by_row = is_row_scheme(spec.model.scheme);
  const auto stretch = [&](std::size_t first, std::size_t length, std::uint32_t start) {
    if (by_row) return float_row(plan, operand(row.a_words, first), operand(row.b_words, first), length, start);
    const std::size_t skipped = spec.model.scale.block == 0 ? 0 : first / static_cast<std::size_t>(spec.model.scale.block);
    return engine_chain(plan, {operand(row.a, first), operand(row.b, first), length, operand(row.scale_a, skipped), operand(row.scale_b, skipped)}, start);
  };
  if (spec.interval == 0) return stretch(0, row.count, c);
  const auto interval = static_cast<std::size_t>(spec.interval);
  for (std::size_t first = 0, piece = 0; first < row.count; first += interval, ++piece) {
    const std::uint32_t partial = stretch(first, std::min(interval, row.count - first), 0);
    c = promoted(spec, c, partial, operand(row.scale_a, piece), operand(row.scale_b, piece));
  }
  return c;
}

}  // namespace detail

Engine::Engine(const MmaSpec& spec) : plan_(std::make_shared<detail::EnginePlan>(spec)) {}

const MmaSpec& Engine::spec() const { return plan_->spec; }

std::uint32_t Engine::dot(const Row& row) const {
  const std::size_t count = row.a.size();
  if (count != row.b.size()) throw std::invalid_argument("halfulp: a and b have different lengths");
  const auto block = static_cast<std::size_t>(scale_block(plan_->spec));
  const std::size_t scales = block == 0 ? 0 : (count + block - 1) / block;
  if (row.scale_a.size() != scales || row.scale_b.size() != scales) throw std::invalid_argument("halfulp: not one scale per block");

  const halfulp::detail::DefaultFloatModes modes;
  thread_local std::vector<detail::EngineOperand> a, b;
  if (!detail::is_row_scheme(plan_->spec.model.scheme)) {
    a.resize(count);
    b.resize(count);
    plan_->a.decode(row.a.data(), count, a.data());
    plan_->b.decode(row.b.data(), count, b.data());
  }
  return detail::row_result(*plan_, {a.data(), b.data(), row.a.data(), row.b.data(), count, row.scale_a.data(), row.scale_b.data()}, row.c);
}

}  // namespace halfulp::accumulation
