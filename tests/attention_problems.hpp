// Random kernels and problems for the tests of attention: every parameter, small shapes, codes that reach the edges.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/kernel.hpp"
#include "halfulp/attention/presets.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::test {

using attention::KernelSpec;
using attention::Problem;
using attention::Shape;
using attention::Stages;

/// A problem with its tensors.
struct OwnedProblem {
  Shape shape;
  std::vector<std::uint32_t> q, k, v;
  std::vector<float> logit_scale, v_scale, sink;
  Problem view() const { return {shape, q, k, v, logit_scale, v_scale, sink}; }
};

class AttentionMaker {
 public:
  explicit AttentionMaker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  template <class T, std::size_t N>
  T any(const T (&list)[N]) {
    return list[below(N)];
  }

  /// A valid spec; half of its parameters differ from the defaults.
  KernelSpec spec() {
    KernelSpec s;
    struct Product {
      const char *model, *a, *b;
    };
    const Product qk[] = {{"hopper_fp8_wgmma", "e4m3", "e4m3"}, {"blackwell_f8f6f4", "e4m3", "e5m2"}, {"ada_fp8", "e5m2", "e4m3"},
                          {"int8_imma", "int8", "int8"},        {"hopper_f16", "f16", "f16"},         {"hopper_fp8_mma_sync", "e4m3", "e4m3"},
                          {"f32_sequential", "e4m3", "e4m3"},   {"hopper_f16", "bf16", "bf16"},       {"f32_tree", "f16", "f16"}};
    const Product pv[] = {{"hopper_fp8_wgmma", "e4m3", "e4m3"}, {"blackwell_f8f6f4", "e4m3", "e4m3"}, {"ada_fp8", "e5m2", "e5m2"},
                          {"hopper_f16", "f16", "f16"},         {"hopper_f16", "bf16", "bf16"},       {"hopper_fp8_mma_sync", "e4m3", "e5m2"}};
    const Product a = below(2) == 0 ? qk[0] : any(qk), b = below(2) == 0 ? pv[0] : any(pv);
    s.qk_model = a.model, s.q_format = a.a, s.k_format = a.b;
    s.pv_model = b.model, s.p_format = b.a, s.v_format = b.b;
    const int tiles[] = {1, 2, 3, 5, 8, 16, 33};
    s.tile = any(tiles);
    if (below(2) == 0) s.order = attention::TileOrder::descending;
    if (below(3) == 0) s.split = s.tile * static_cast<int>(1 + below(3));
    const float offsets[] = {0, 8, std::bit_cast<float>(0x410ce979u)};
    s.offset = any(offsets);
    const float thresholds[] = {0, 4, 0.5f};
    if (below(3) == 0) s.threshold = any(thresholds);
    if (below(3) == 0) s.prescale = below(2) == 0 ? 448.0f : 57344.0f;
    if (below(3) == 0) s.sum_of = attention::SumOf::quantized;
    if (below(2) == 0) s.lanes = 4;
    if (below(2) == 0) {
      s.pv = attention::PvMode::two_level;
      s.interval = static_cast<int>(below(4));
      if (below(3) == 0) s.pv_output = "f16";
    }
    const char* const outs[] = {"f32", "bf16", "f16", "e4m3", "e5m2"};
    s.out = any(outs);
    if (below(5) == 0) s.softcap = attention::SoftCap{30, 0.0625f};
    if (below(3) == 0) s.causal = true;
    if (below(3) == 0) {
      s.window = attention::Window{static_cast<std::int64_t>(below(8)) - 2, static_cast<std::int64_t>(below(6)) - 2};
      s.visible_prefix = static_cast<std::int64_t>(below(4));
    }
    return s;
  }

  /// Sizes of at most a few dozen; none in one of eight.
  Shape shape() {
    Shape s;
    s.kv_heads = 1 + below(2);
    s.query_heads = s.kv_heads * (1 + below(3));
    s.queries = 1 + below(5);
    s.keys = below(8) == 0 ? below(3) : below(50);
    s.head_dim = 1 + below(40);
    s.value_dim = 1 + below(20);
    return s;
  }

  /// `specials`: NaN and Inf codes here and there, where the formats have them.
  OwnedProblem problem(const KernelSpec& spec, const Shape& shape, bool specials) {
    OwnedProblem p;
    p.shape = shape;
    p.q = codes(spec.q_format, shape.query_heads * shape.queries * shape.head_dim, specials && below(4) == 0);
    p.k = codes(spec.k_format, shape.kv_heads * shape.keys * shape.head_dim, specials);
    p.v = codes(spec.v_format, shape.kv_heads * shape.keys * shape.value_dim, specials);
    const float base = spec.q_format == "int8" ? 0x1p-10f : below(3) == 0 ? 1.0f : 0.3f;
    const auto factor = [&] { return 1 + static_cast<float>(below(1000)) * 0x1p-10f; };
    const std::uint64_t scales = below(3);
    for (std::size_t h = 0; scales != 0 && h < (scales == 1 ? 1 : shape.query_heads); ++h) p.logit_scale.push_back(base * factor());
    const std::size_t counts[] = {0, 1, shape.kv_heads, shape.kv_heads * shape.value_dim};
    for (std::size_t i = any(counts); i > 0; --i) p.v_scale.push_back(factor() / 4);
    for (std::size_t h = 0; below(4) == 0 && h == 0;) {
      for (; h < shape.query_heads; ++h) p.sink.push_back((factor() - 1.5f) * 6);
    }
    return p;
  }

  std::vector<std::uint32_t> codes(const std::string& name, std::size_t count, bool specials) {
    const FormatSpec format = find_format(name)->spec;
    std::vector<std::uint32_t> words(count);
    for (std::uint32_t& word : words) word = below(200) == 0 && specials ? special(format) : finite(format);
    return words;
  }

  /// A NaN, or an infinity where the format has one; of an integer any code.
  std::uint32_t special(const FormatSpec& format) {
    if (!format.has_nan()) return finite(format);
    const auto sign = static_cast<std::uint32_t>(below(2) << (format.width - 1));
    if (format.has_infinity() && below(2) == 0) return sign | static_cast<std::uint32_t>(format.infinity_magnitude());
    return sign | static_cast<std::uint32_t>(format.magnitude_mask());
  }

 private:
  std::uint32_t finite(const FormatSpec& format) {
    if (format.encoding != Encoding::floating) return static_cast<std::uint32_t>(random_() & low_mask(format.width));
    const auto bias = static_cast<std::uint64_t>(format.bias);
    const std::uint64_t field = below(12) == 0 ? below(2) : bias - 3 + below(5);
    const std::uint64_t fraction = random_() & low_mask(format.fraction_bits);
    return static_cast<std::uint32_t>((below(2) << (format.width - 1)) | (field << format.fraction_bits) | fraction);
  }

  std::mt19937_64 random_;
};

/// Name of the first stage in which two runs differ; empty where none does.
inline std::string first_difference(const Stages& a, const Stages& b) {
  const std::pair<const char*, std::vector<std::uint32_t> Stages::*> stages[] = {
      {"L", &Stages::L},           {"S", &Stages::S}, {"m", &Stages::m},       {"t", &Stages::t},           {"P", &Stages::P}, {"P_code", &Stages::P_code},
      {"alpha", &Stages::alpha},   {"l", &Stages::l}, {"O_tile", &Stages::O_tile}, {"row_sum", &Stages::row_sum}, {"O", &Stages::O}, {"m_last", &Stages::m_last}};
  for (const auto& [name, member] : stages) {
    if (a.*member == b.*member) continue;
    const auto &x = a.*member, &y = b.*member;
    std::size_t i = 0;
    while (i < x.size() && i < y.size() && x[i] == y[i]) ++i;
    char text[96];
    std::snprintf(text, sizeof text, "%s[%zu]: %08x, %08x", name, i, i < x.size() ? x[i] : 0, i < y.size() ? y[i] : 0);
    return text;
  }
  return {};
}

}  // namespace halfulp::test
