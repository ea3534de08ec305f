// Random kernel specs and problems for the tests of attention: every parameter, every kind of operand. One seed, one case.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"
#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"

namespace attention_random {

using halfulp::attention::KernelSpec, halfulp::attention::Problem, halfulp::attention::Shape;

/// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  /// In [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// About normal, within [-6, 6].
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += real();
    return sum;
  }

 private:
  std::uint64_t state_;
};

struct OwnedProblem {
  Shape shape;
  std::vector<std::uint32_t> q, k, v;
  std::vector<float> logit_scale, v_scale, sink;
  Problem view() const { return {shape, q, k, v, logit_scale, v_scale, sink}; }
};

/// What the operands of a problem are.
enum class Operands : std::uint8_t { normal, subnormal, integers, any_code, special, huge, outliers };
inline constexpr std::size_t kOperandKinds = 7;
inline const char* name_of(Operands kind) {
  constexpr const char* kNames[] = {"normal", "subnormal", "integers", "any_code", "special", "huge", "outliers"};
  return kNames[static_cast<std::size_t>(kind)];
}

inline std::uint32_t code_of(const halfulp::FormatSpec& format, double x) {
  static constexpr halfulp::FormatSpec kF32 = halfulp::spec_of("f32");
  return static_cast<std::uint32_t>(halfulp::cast(kF32, std::bit_cast<std::uint32_t>(static_cast<float>(x)), format, halfulp::CastPolicy{}).code);
}

inline std::uint32_t random_code(Random& random, const halfulp::FormatSpec& format, Operands kind) {
  const bool integer = format.encoding == halfulp::Encoding::twos_complement;
  const auto any = static_cast<std::uint32_t>((random.next() & halfulp::low_mask(format.width)) << format.storage_shift);
  const double unit = integer ? 40 : 1;
  switch (kind) {
    case Operands::normal: return code_of(format, random.normal() * unit);
    case Operands::subnormal:
      if (integer) return code_of(format, random.normal());
      return code_of(format, random.normal() * std::ldexp(1.0, std::max(-120, format.min_exponent())));
    case Operands::integers: return code_of(format, static_cast<double>(random.below(7)) - 3);
    case Operands::any_code: break;
    case Operands::special:
      if (!random.one_in(40)) return code_of(format, random.normal() * unit);
      break;
    case Operands::huge: return code_of(format, random.normal() * (integer ? 100 : std::min(1e18, std::ldexp(1.0, 8))));
    case Operands::outliers: return code_of(format, random.normal() * (random.one_in(8) ? 30 : 0.5) * unit);
  }
  return any;
}

struct Product {
  const char *model, *a, *b;
};
inline constexpr Product kQk[] = {{"hopper_fp8_wgmma", "e4m3", "e4m3"}, {"hopper_fp8_wgmma", "e5m2", "e4m3"}, {"ada_fp8", "e4m3", "e5m2"},
                                  {"blackwell_f8f6f4", "e4m3", "e4m3"}, {"blackwell_f8f6f4", "e4m3", "e2m1"}, {"int8_imma", "int8", "int8"},
                                  {"int8_imma", "uint8", "int8"},       {"hopper_f16", "f16", "f16"},         {"hopper_f16", "bf16", "bf16"},
                                  {"hopper_fp8_mma_sync", "e4m3", "e4m3"}, {"cdna3_fp8", "e4m3fnuz", "e4m3fnuz"}, {"exact", "e4m3", "f16"},
                                  {"f32_sequential", "f16", "e4m3"},    {"f32_tree", "e4m3", "e4m3"},         {"f32_fma_sequential", "bf16", "e5m2"},
                                  {"cdna1_f16", "f16", "f16"},          {"ampere_f16", "bf16", "bf16"}};
inline constexpr Product kPv[] = {{"hopper_fp8_wgmma", "e4m3", "e4m3"},  {"hopper_fp8_wgmma", "e5m2", "e5m2"},
                                  {"ada_fp8", "e4m3", "e4m3"},           {"blackwell_f8f6f4", "e4m3", "e4m3"},
                                  {"blackwell_f8f6f4", "e4m3", "e2m1"},  {"hopper_f16", "f16", "f16"},
                                  {"hopper_f16", "bf16", "bf16"},        {"hopper_fp8_mma_sync", "e4m3", "e5m2"},
                                  {"cdna3_fp8", "e4m3fnuz", "e4m3fnuz"}, {"exact", "e4m3", "e4m3"},
                                  {"f32_sequential", "f16", "e4m3"},     {"f32_tree", "bf16", "bf16"},
                                  {"cdna1_bf16", "bf16", "bf16"},        {"ampere_f16", "f16", "f16"}};

template <class T, std::size_t N>
const T& pick(Random& random, const T (&all)[N]) {
  return all[random.below(N)];
}

/// `keys` of the problem it is meant for. Few formats and models come up in every second spec, all others in the rest.
inline KernelSpec random_spec(Random& random, std::size_t keys) {
  KernelSpec spec;
  spec.tile = static_cast<int>(1 + random.below(random.one_in(3) ? 40 : 8));
  spec.order = random.one_in(2) ? halfulp::attention::TileOrder::ascending : halfulp::attention::TileOrder::descending;
  if (random.one_in(4)) spec.split = spec.tile * static_cast<int>(1 + random.below(3));
  const Product qk = pick(random, kQk), pv = pick(random, kPv);
  spec.qk_model = qk.model, spec.q_format = qk.a, spec.k_format = qk.b;
  spec.pv_model = pv.model, spec.p_format = pv.a, spec.v_format = pv.b;
  if (random.one_in(5)) spec.softcap = {static_cast<float>(1 + 50 * random.real()), static_cast<float>(random.real())};
  constexpr float kOffsets[] = {8, 8, 0, 8.807f, -3, 4.25f};
  spec.offset = pick(random, kOffsets);
  constexpr float kThresholds[] = {0, 4, 0.5f, 8};
  if (random.one_in(3)) spec.threshold = pick(random, kThresholds);
  constexpr float kPrescales[] = {448, 57344, 1, 3.3f};
  if (random.one_in(3)) spec.prescale = pick(random, kPrescales), spec.offset = random.one_in(2) ? 0 : spec.offset;
  spec.sum_of = random.one_in(3) ? halfulp::attention::SumOf::quantized : halfulp::attention::SumOf::f32;
  spec.lanes = random.one_in(2) ? 4 : 1;
  spec.pv = random.one_in(2) ? halfulp::attention::PvMode::chained : halfulp::attention::PvMode::two_level;
  if (spec.pv == halfulp::attention::PvMode::two_level) {
    if (random.one_in(2)) spec.interval = static_cast<int>(1 + random.below(12));
    const std::string_view model = spec.pv_model;
    const bool has_f16 = model.find("cdna") == model.npos && model.find("f32_") == model.npos;
    if (has_f16 && random.one_in(3)) spec.pv_output = "f16";
  }
  constexpr const char* kOuts[] = {"f32", "bf16", "f16", "e4m3", "e5m2"};
  spec.out = pick(random, kOuts);
  spec.causal = random.one_in(3);
  if (random.one_in(3)) spec.window = {static_cast<std::int64_t>(random.below(keys + 2)) - 1, static_cast<std::int64_t>(random.below(keys + 2)) - 1};
  if (spec.window && random.one_in(2)) spec.visible_prefix = static_cast<std::int64_t>(random.below(keys + 2));
  return spec;
}

inline OwnedProblem random_problem(Random& random, const KernelSpec& spec, const Shape& shape, Operands kind) {
  using halfulp::find_format;
  OwnedProblem problem;
  problem.shape = shape;
  const auto fill = [&](std::vector<std::uint32_t>& codes, std::size_t count, const std::string& format) {
    const halfulp::FormatSpec f = find_format(format)->spec;
    for (std::size_t i = 0; i < count; ++i) codes.push_back(random_code(random, f, random.one_in(6) ? Operands::normal : kind));
  };
  fill(problem.q, shape.query_heads * shape.queries * shape.head_dim, spec.q_format);
  fill(problem.k, shape.kv_heads * shape.keys * shape.head_dim, spec.k_format);
  fill(problem.v, shape.kv_heads * shape.keys * shape.value_dim, spec.v_format);
  const double unit = spec.qk_model == "int8_imma" ? 0x1p-10 : kind == Operands::huge ? 0x1p-12 : 0.7;
  const auto scales = [&](std::size_t count, double around) {
    std::vector<float> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<float>(around * (0.25 + random.real())));
    return all;
  };
  const std::size_t which = random.below(3);
  if (which != 0) problem.logit_scale = scales(which == 1 ? 1 : shape.query_heads, unit);
  const std::size_t counts[] = {0, 1, shape.kv_heads, shape.kv_heads * shape.value_dim};
  problem.v_scale = scales(counts[random.below(4)], random.one_in(2) ? 1 : 1.0 / 448);
  if (random.one_in(5)) {
    for (std::size_t h = 0; h < shape.query_heads; ++h) problem.sink.push_back(static_cast<float>(random.normal()));
  }
  return problem;
}

inline Shape random_shape(Random& random) {
  Shape shape;
  shape.kv_heads = 1 + random.below(2);
  shape.query_heads = shape.kv_heads * (1 + random.below(2));
  shape.queries = 1 + random.below(2);
  shape.keys = random.one_in(20) ? 0 : 1 + random.below(random.one_in(6) ? 40 : 9);
  shape.head_dim = 1 + random.below(random.one_in(6) ? 40 : 5);
  shape.value_dim = 1 + random.below(3);
  return shape;
}

}  // namespace attention_random
