// Tables and constants of the engine; see detail/engine_plan.hpp.
#include "halfulp/accumulation/detail/engine_plan.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::accumulation::detail {
namespace {

constexpr FormatSpec kF32 = spec_of("f32");

bool uses_floats(Scheme scheme) {
  return scheme == Scheme::pairwise || scheme == Scheme::sequential || scheme == Scheme::fma_sequential || scheme == Scheme::tree ||
         scheme == Scheme::warp_tree;
}

int zero_exponent_of(const MmaSpec& spec) { return spec.zero_rule == ZeroRule::b ? kAbsentExponent : kZeroExponent; }

/// Scales exist for the model's own blocks; any format serves elsewhere.
FormatSpec model_scale(const MmaSpec& spec) {
  return spec.model.scale.block == 0 ? spec_of("e8m0") : find_format(spec.model.scale.format)->spec;
}

}  // namespace

OperandDecoder::OperandDecoder(const FormatSpec& format, int zero_exponent, int lowest_exponent)
    : format_(format), zero_exponent_(zero_exponent), lowest_exponent_(lowest_exponent) {
  if (format.storage_bits() > 16) return;
  std::vector<EngineOperand> table(std::size_t{1} << format.storage_bits());
  for (std::size_t word = 0; word < table.size(); ++word) table[word] = decode(static_cast<std::uint32_t>(word));
  if (format == spec_of("ue4m3")) {  // the sign bit does not count
    for (std::size_t word = 0; word < 128; ++word) table.push_back(EngineOperand(table[word]));
  }
  table_ = std::move(table);
}

EngineOperand OperandDecoder::decode(std::uint32_t word) const {
  const Unpacked x = unpack(format_, word);
  if (x.number_class == NumberClass::nan) return {.kind = OperandKind::nan};
  if (x.number_class == NumberClass::infinity) return {.kind = x.negative ? OperandKind::minus_infinity : OperandKind::plus_infinity};
  if (x.number_class == NumberClass::zero) return {.exponent = static_cast<std::int16_t>(zero_exponent_)};
  auto significand = static_cast<std::int32_t>(x.significand);
  int exponent = x.exponent + format_.fraction_bits;
  for (; exponent > lowest_exponent_ && significand >> format_.fraction_bits == 0; --exponent) significand *= 2;
  if (x.negative) significand = -significand;
  return {significand, static_cast<std::int16_t>(exponent), OperandKind::finite, std::ldexp(significand, exponent - format_.fraction_bits)};
}

void OperandDecoder::flatten() {
  for (EngineOperand& x : table_) {
    if (x.significand != 0) x.significand *= 1 << x.exponent;
    x.exponent = 0;
  }
}

FloatDecoder::FloatDecoder(const FormatSpec& format, bool flushes) : flushes_(flushes) {
  if (format.storage_bits() > 16) return;
  table_.resize(std::size_t{1} << format.storage_bits());
  for (std::size_t word = 0; word < table_.size(); ++word) {
    const bool flushed = flushes && unpack(format, word).number_class == NumberClass::subnormal;
    table_[word] = flushed ? 0.0f : std::bit_cast<float>(static_cast<std::uint32_t>(cast(format, word, kF32, {.overflow = Overflow::overflow}).code));
  }
}

float FloatDecoder::operator()(std::uint32_t word) const {
  if (!table_.empty()) return table_[word];
  const auto x = std::bit_cast<float>(word);
  return flushes_ && x != 0 && std::fabs(x) < std::numeric_limits<float>::min() ? 0.0f : x;
}

EnginePlan::EnginePlan(const MmaSpec& s)
    : spec(s),
      floor(exponent_floor(s.zero_rule, s.model.fraction_bits, s.output)),
      zero_exponent(zero_exponent_of(s)),
      a(s.a, zero_exponent_of(s), s.model.scheme == Scheme::widened_halves ? -14 : INT16_MAX),
      b(s.b, zero_exponent_of(s), s.model.scheme == Scheme::widened_halves ? -14 : INT16_MAX),
      scale(model_scale(s), kZeroExponent, INT16_MAX),
      float_a(uses_floats(s.model.scheme) ? s.a : kF32, s.model.flushes),
      float_b(uses_floats(s.model.scheme) ? s.b : kF32, s.model.flushes),
      exact(s.model.scheme == Scheme::exact ? s.a : kF32, s.model.scheme == Scheme::exact ? s.b : kF32) {
  if (s.model.scheme == Scheme::scaled_groups) {
    a.flatten();
    b.flatten();
  }
  const int scale_places = s.model.scheme == Scheme::scaled_groups ? model_scale(s).fraction_bits : 0;
  product_places = s.a.fraction_bits + s.b.fraction_bits + 2 * scale_places;
  lift = s.model.fraction_bits - product_places;
  const bool aligned = s.model.scheme == Scheme::fused || s.model.scheme == Scheme::widened_halves || s.model.scheme == Scheme::scaled_groups ||
                       s.model.scheme == Scheme::two_stage || s.model.scheme == Scheme::two_stage_parity;
  const bool fits = s.model.fraction_bits <= 35 && lift >= 0 && s.model.chunk >= 0 && s.model.chunk <= 1 << 20;
  const bool chunk_fits = s.model.scheme == Scheme::widened_halves ? s.model.chunk == 32
                          : s.model.scheme == Scheme::scaled_groups ? s.model.chunk <= 8 * kScaledGroup && s.model.chunk > 0
                                                                    : true;
  const bool one_scale = s.model.scheme != Scheme::fused || s.model.scale.block == 0 || s.model.scale.block == s.model.chunk;
  if (aligned && !(fits && chunk_fits && one_scale && s.model.chunk > 0)) {
    throw std::invalid_argument("halfulp: the engine does not have this width of sums");
  }
}

}  // namespace halfulp::accumulation::detail
