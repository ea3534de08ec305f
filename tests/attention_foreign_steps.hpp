// What a foreign kernel computes with: scores, exp2, sums and casts, each as wrong as its budget allows. See attention_foreign.hpp.
#pragma once

#include <algorithm>
#include <map>

#include "attention_random.hpp"
#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/enclosure.hpp"
#include "halfulp/attention/exp2.hpp"
#include "halfulp/attention/tanh.hpp"

namespace attention_foreign {

using namespace attention_random;  // NOLINT: test programs
using halfulp::accumulation::Engine;
using halfulp::attention::Budget, halfulp::attention::Scores, halfulp::attention::Tiles;
using halfulp::attention::PvMode, halfulp::attention::SumOf, halfulp::attention::TileOrder;

/// How a kernel uses the freedom that its budget leaves.
enum class Manner : std::uint8_t {
  mild,     ///< exp2_p6, divisions, order of the spec where it is stated
  random,   ///< every error drawn anew within its bound
  extreme,  ///< every error at an end of its bound, the end drawn anew
};

inline const Engine& engine_of(const std::string& model, const std::string& a, const std::string& b, const std::string& output = {}) {
  static std::map<std::string, Engine> engines;
  const std::string name = model + " " + a + " " + b + " " + output;
  const auto found = engines.find(name);
  if (found != engines.end()) return found->second;
  const auto spec = halfulp::accumulation::make_spec({.model = model, .format_a = a, .format_b = b, .output = output});
  return engines.emplace(name, Engine(spec)).first->second;
}

class ForeignSteps {
 public:
  ForeignSteps(const Budget& budget, const Problem& problem, Random& random, Manner manner)
      : budget_(budget),
        spec_(budget.kernel),
        problem_(problem),
        shape_(problem.shape),
        random_(random),
        manner_(manner),
        qk_(engine_of(spec_.qk_model, spec_.q_format, spec_.k_format)),
        pv_(engine_of(spec_.pv_model, spec_.p_format, spec_.v_format, spec_.pv_output)) {}

 protected:
  static std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
  static float real(std::uint32_t x) { return std::bit_cast<float>(x); }

  /// The row that is computed.
  void choose_row(std::size_t row) {
    head_ = row / shape_.queries;
    query_ = row % shape_.queries;
    kv_head_ = head_ / (shape_.query_heads / shape_.kv_heads);
    row_ = row;
    choose_scale();
  }

  bool sees(std::size_t j) const {
    const auto key = static_cast<long>(j), last = static_cast<long>(query_) + static_cast<long>(shape_.keys) - static_cast<long>(shape_.queries);
    if (spec_.causal && key > last) return false;
    if (!spec_.window || key < spec_.visible_prefix) return true;
    return key >= last - spec_.window->before && key <= last + spec_.window->after;
  }

  /// A factor 1 + e with |e| < error, short of it by a float32 rounding.
  double off(double error) {
    if (error <= 0x1p-24) return 1;
    const double room = error * (1 - 0x1p-10) - 0x1p-24;
    if (manner_ == Manner::extreme) return random_.one_in(2) ? 1 + room : 1 - room;
    return 1 + room * (2 * random_.real() - 1);
  }

  void choose_scale() {
    const float L = problem_.logit_scale.empty() ? 1.0f : problem_.logit_scale[problem_.logit_scale.size() == 1 ? 0 : head_];
    L_ = manner_ == Manner::mild ? L : static_cast<float>(static_cast<double>(L) * off(budget_.logit_scale_error));
  }

  /// Result of a hardware exp2; below the normal numbers it may be flushed.
  float power(float t) {
    if (t == 0) return 1;
    if (manner_ == Manner::mild) return halfulp::attention::exp2_p6(t);
    const auto x = static_cast<float>(std::exp2(static_cast<double>(t)) * off(budget_.exp2_error));
    return x < 0x1p-126f && random_.one_in(2) ? 0.0f : x;
  }

  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random_.below(i)]);
  }

  /// Float32 sum in a random order, as a random tree.
  float tree(std::vector<float> all) {
    if (all.empty()) return 0;
    while (all.size() > 1) {
      const std::size_t i = random_.below(all.size());
      std::swap(all[i], all.back());
      const float x = all.back();
      all.pop_back();
      const std::size_t j = random_.one_in(2) ? all.size() - 1 : random_.below(all.size());
      all[j] = all[j] + x;
    }
    return all[0];
  }

  double value_of(const Engine& engine, bool second, std::uint32_t code) const {
    const auto& format = second ? engine.spec().b : engine.spec().a;
    const halfulp::Unpacked x = halfulp::unpack(format, code);
    if (x.number_class == halfulp::NumberClass::nan) return std::nan("");
    if (x.number_class == halfulp::NumberClass::infinity) return x.negative ? -HUGE_VAL : HUGE_VAL;
    const double v = std::ldexp(static_cast<double>(x.significand), x.exponent);
    return x.negative ? -v : v;
  }

  float score(std::size_t j) {
    const std::size_t d = shape_.head_dim;
    std::vector<std::uint32_t> q(problem_.q.begin() + static_cast<long>(row_ * d), problem_.q.begin() + static_cast<long>((row_ + 1) * d));
    const std::size_t at = (kv_head_ * shape_.keys + j) * d;
    std::vector<std::uint32_t> k(problem_.k.begin() + static_cast<long>(at), problem_.k.begin() + static_cast<long>(at + d));
    float S = 0;
    if (budget_.scores == Scores::f32_any_order) {
      std::vector<float> products;
      for (std::size_t i = 0; i < d; ++i)
        products.push_back(static_cast<float>(value_of(qk_, false, q[i])) * static_cast<float>(value_of(qk_, true, k[i])));
      S = tree(products);
    } else {
      if (budget_.scores == Scores::model_any_order) {
        for (std::size_t i = d; i > 1; --i) {
          const std::size_t other = random_.below(i);
          std::swap(q[i - 1], q[other]);
          std::swap(k[i - 1], k[other]);
        }
      }
      const std::uint32_t word = qk_.dot({q, k, 0, {}, {}});
      S = qk_.spec().output == halfulp::accumulation::Output::int32 ? static_cast<float>(static_cast<std::int32_t>(word)) : real(word);
    }
    if (!spec_.softcap) return S;
    const double x = static_cast<double>(S) * static_cast<double>(spec_.softcap->scale);
    if (manner_ == Manner::mild) return spec_.softcap->cap * halfulp::attention::tanh_fma(S * spec_.softcap->scale);
    return static_cast<float>(static_cast<double>(spec_.softcap->cap) * std::tanh(x) * off(budget_.softcap_error));
  }

  float weight(float S, float m) { return power(std::fma(S, L_, std::fma(-m, L_, spec_.offset))); }

  std::uint32_t code_word(float x) const {
    static constexpr halfulp::FormatSpec kF32 = halfulp::spec_of("f32");
    return static_cast<std::uint32_t>(halfulp::cast(kF32, bits(x), pv_.spec().a, halfulp::CastPolicy{}).code);
  }

  std::uint32_t product(std::uint32_t O, std::span<const std::uint32_t> P, std::span<const std::uint32_t> V) {
    if (budget_.pv_f32) {
      std::vector<float> terms = {real(O)};
      for (std::size_t i = 0; i < P.size(); ++i)
        terms.push_back(static_cast<float>(value_of(pv_, false, P[i])) * static_cast<float>(value_of(pv_, true, V[i])));
      return bits(tree(terms));
    }
    if (spec_.pv == PvMode::chained) return pv_.dot({P, V, O, {}, {}});
    const bool free = budget_.tiles == Tiles::any && manner_ != Manner::mild;
    std::size_t piece = spec_.interval == 0 ? P.size() : static_cast<std::size_t>(spec_.interval);
    if (free) piece = 1 + random_.below(P.size());
    for (std::size_t first = 0; first < P.size(); first += piece) {
      const std::size_t count = std::min(piece, P.size() - first);
      const std::uint32_t partial = pv_.dot({P.subspan(first, count), V.subspan(first, count), 0, {}, {}});
      const bool half = pv_.spec().output == halfulp::accumulation::Output::f16;
      static constexpr halfulp::FormatSpec kF16 = halfulp::spec_of("f16"), kF32 = halfulp::spec_of("f32");
      const auto wide =
          half ? static_cast<std::uint32_t>(halfulp::cast(kF16, partial, kF32, {.overflow = halfulp::Overflow::overflow}).code) : partial;
      O = bits(real(O) + real(wide));
    }
    return O;
  }

  const Budget& budget_;
  const KernelSpec& spec_;
  const Problem& problem_;
  const Shape& shape_;
  Random& random_;
  Manner manner_;
  const Engine &qk_, &pv_;
  std::size_t head_ = 0, query_ = 0, kv_head_ = 0, row_ = 0;
  float L_ = 1;
};

}  // namespace attention_foreign
