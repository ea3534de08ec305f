#include "attention_kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/attention/exp2.hpp"
#include "halfulp/attention/probes_case.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/cast.hpp"

namespace halfulp::vectors {
namespace {

using namespace attention;

constexpr FormatSpec kF32 = spec_of("f32"), kF16 = spec_of("f16");
constexpr float kLowest = -std::numeric_limits<float>::infinity();

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x != x ? std::numeric_limits<float>::quiet_NaN() : x); }
std::uint32_t cast_of(float x, const FormatSpec& format, Rounding rounding = Rounding::ties_to_even, Overflow overflow = Overflow::saturate) {
  return static_cast<std::uint32_t>(cast(kF32, std::bit_cast<std::uint32_t>(x), format, {.rounding = rounding, .overflow = overflow}).code);
}

/// Maximum, lanes and output of some keys.
struct Part {
  float m = kLowest;
  std::vector<float> lanes, O;
  float sum() const { return lanes.size() == 1 ? lanes[0] : (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]); }
};

class Run {
 public:
  Run(const KernelSpec& spec, const Problem& problem, const KernelFaults& faults)
      : spec_(spec), problem_(problem), faults_(faults), shape_(problem.shape),
        qk_(accumulation::make_spec({.model = spec.qk_model, .format_a = spec.q_format, .format_b = spec.k_format})),
        pv_(accumulation::make_spec({.model = spec.pv_model, .format_a = spec.p_format, .format_b = spec.v_format, .output = spec.pv_output})),
        p_format_(format_named(spec.p_format)), out_(format_named(spec.out)) {
    Stages& s = stages_;
    s = {.rows = shape_.query_heads * shape_.queries, .keys = shape_.keys, .tiles = tiles_in(shape_.keys), .lanes = static_cast<std::size_t>(spec.lanes),
         .value_dim = shape_.value_dim, .L = {}, .S = {}, .m = {}, .t = {}, .P = {}, .P_code = {}, .alpha = {}, .l = {}, .row_sum = {}, .O_tile = {}, .O = {}, .m_last = {}};
    for (auto* column : {&s.S, &s.t, &s.P, &s.P_code}) column->assign(s.rows * s.keys, 0);
    for (auto* column : {&s.m, &s.alpha}) column->assign(s.rows * s.tiles, 0);
    s.l.assign(s.rows * s.tiles * s.lanes, 0);
    s.O_tile.assign(s.rows * s.tiles * s.value_dim, 0);
  }

  Stages stages() {
    for (row_ = 0; row_ < stages_.rows; ++row_) row();
    return std::move(stages_);
  }

 private:
  std::size_t tiles_in(std::size_t keys) const { return (keys + static_cast<std::size_t>(spec_.tile) - 1) / static_cast<std::size_t>(spec_.tile); }
  std::size_t kv_head() const { return row_ / shape_.queries / (shape_.query_heads / shape_.kv_heads); }

  void row() {
    const std::size_t head = row_ / shape_.queries;
    const auto& L = problem_.logit_scale;
    L_ = L.empty() ? 1 : L[L.size() == 1 ? 0 : head];
    tile_ = 0;
    const std::size_t part = spec_.split == 0 ? std::max<std::size_t>(1, shape_.keys) : static_cast<std::size_t>(spec_.split);
    Part all = started(problem_.sink.empty() ? nullptr : &problem_.sink[head]);
    for (std::size_t first = 0; first < shape_.keys; first += part) {
      Part one = first == 0 ? all : started(nullptr);
      const std::size_t keys = std::min(part, shape_.keys - first), tiles = tiles_in(keys), size = static_cast<std::size_t>(spec_.tile);
      for (std::size_t i = 0; i < tiles; ++i) {
        const std::size_t at = (spec_.order == TileOrder::ascending ? i : tiles - 1 - i) * size;
        tile(one, first + at, first + std::min(at + size, keys));
      }
      if (faults_.forgets_last_lane && spec_.lanes == 4) one.lanes[3] = 0;
      one.lanes = {one.sum()};
      if (first == 0) all = std::move(one);
      else combine(all, std::move(one));
    }
    finish(all);
  }

  Part started(const float* sink) const {
    Part part{kLowest, std::vector<float>(static_cast<std::size_t>(spec_.lanes)), std::vector<float>(shape_.value_dim)};
    if (sink != nullptr) {
      part.m = *sink;
      part.lanes[0] = weight(*sink, part.m, nullptr);
    }
    return part;
  }

  float weight(float S, float m, float* t_out) const {
    const float t = std::fma(S, L_, std::fma(-m, L_, spec_.offset));
    if (t_out != nullptr) *t_out = t;
    return exp2_p6(t);
  }

  float score(std::size_t key) {
    const std::size_t d = shape_.head_dim;
    const std::uint32_t word = qk_.dot({problem_.q.subspan(row_ * d, d), problem_.k.subspan((kv_head() * shape_.keys + key) * d, d), 0, {}, {}});
    float S = qk_.spec().output == accumulation::Output::int32 ? static_cast<float>(static_cast<std::int32_t>(word)) : std::bit_cast<float>(word);
    if (faults_.scores_through_f16) S = value_of(kF16, cast_of(S, kF16, Rounding::ties_to_even, Overflow::overflow));
    stages_.S[row_ * shape_.keys + key] = bits(S);
    if (!spec_.softcap) return S;
    const float x = S * spec_.softcap->scale;
    if (!faults_.ratio_of_exponentials) return spec_.softcap->cap * tanh_fma(x);
    const float e = std::exp(2 * x);
    return spec_.softcap->cap * ((e - 1) / (e + 1));
  }

  void tile(Part& part, std::size_t begin, std::size_t end) {
    std::vector<float> S(end - begin, kLowest);
    float candidate = part.m;
    for (std::size_t key = begin; key < end; ++key) {
      const bool hidden = faults_.hidden_from != 0 && key >= faults_.hidden_from;
      if (hidden || !is_visible(spec_, shape_, row_ % shape_.queries, key)) continue;
      const float s = S[key - begin] = score(key);
      candidate = !std::isfinite(s) || candidate != candidate ? std::numeric_limits<float>::quiet_NaN() : std::max(candidate, s);
    }
    const bool keeps = part.m != kLowest && spec_.threshold && candidate == candidate && !((candidate - part.m) * L_ > *spec_.threshold);
    const float m = keeps ? part.m : candidate;
    float alpha = 1;
    if (part.m != kLowest && m != part.m) {
      alpha = exp2_p6((part.m - m) * L_);
      for (float& l : part.lanes) l *= faults_.no_rescale_of_sum ? 1 : alpha;
      for (float& o : part.O) o *= faults_.no_rescale_of_output ? 1 : alpha;
    }
    part.m = m;
    std::vector<std::uint32_t> codes(end - begin);
    for (std::size_t key = begin; key < end; ++key) {
      const std::size_t column = key - begin, at = row_ * shape_.keys + key;
      if (S[column] == kLowest) continue;
      float t;
      const float P = weight(S[column], m, &t);
      codes[column] = cast_of(spec_.prescale ? P * *spec_.prescale : P, p_format_, faults_.truncates_P ? Rounding::toward_zero : Rounding::ties_to_even);
      part.lanes[spec_.lanes == 1 ? 0 : column / 2 % 4] += spec_.sum_of == SumOf::f32 ? P : value_of(p_format_, codes[column]);
      stages_.t[at] = bits(t);
      stages_.P[at] = bits(P);
      stages_.P_code[at] = codes[column];
    }
    product(part, codes, S, begin);
    const std::size_t at = row_ * stages_.tiles + tile_++;
    stages_.m[at] = bits(part.m);
    stages_.alpha[at] = bits(alpha);
    for (std::size_t i = 0; i < stages_.lanes; ++i) stages_.l[at * stages_.lanes + i] = bits(part.lanes[i]);
    for (std::size_t d = 0; d < shape_.value_dim; ++d) stages_.O_tile[at * shape_.value_dim + d] = bits(part.O[d]);
  }

  void product(Part& part, const std::vector<std::uint32_t>& codes, const std::vector<float>& S, std::size_t begin) const {
    const std::size_t count = codes.size(), piece = spec_.pv == PvMode::chained || spec_.interval == 0 ? count : static_cast<std::size_t>(spec_.interval);
    std::vector<std::uint32_t> V(count);
    for (std::size_t d = 0; d < shape_.value_dim; ++d) {
      for (std::size_t i = 0; i < count; ++i) {
        const bool read = S[i] != kLowest || faults_.multiplies_hidden_V;
        V[i] = read ? problem_.v[(kv_head() * shape_.keys + begin + i) * shape_.value_dim + d] : 0;
      }
      for (std::size_t first = 0; first < count; first += piece) {
        const std::size_t n = std::min(piece, count - first);
        const bool chained = spec_.pv == PvMode::chained;
        const std::uint32_t word = pv_.dot({std::span(codes).subspan(first, n), std::span(V).subspan(first, n), chained ? bits(part.O[d]) : 0, {}, {}});
        const float sum = value_of(accumulation::format_of(pv_.spec().output), word);
        part.O[d] = chained ? sum : part.O[d] + sum;
      }
    }
  }

  void combine(Part& all, Part one) const {
    if (one.m == kLowest) return;
    if (all.m == kLowest) {
      all = std::move(one);
      return;
    }
    const float m = all.m != all.m || one.m != one.m ? std::numeric_limits<float>::quiet_NaN() : std::max(all.m, one.m);
    for (Part* part : {&all, &one}) {
      if (part->m == m || faults_.no_rescale_of_parts) continue;
      const float alpha = exp2_p6((part->m - m) * L_);
      part->lanes[0] *= alpha;
      for (float& o : part->O) o *= alpha;
    }
    all.m = m;
    all.lanes[0] += one.lanes[0];
    for (std::size_t d = 0; d < all.O.size(); ++d) all.O[d] += one.O[d];
  }

  void finish(const Part& part) {
    const float l = part.sum(), inverse = l == 0 ? 0 : 1 / l;
    stages_.L.push_back(bits(L_));
    stages_.row_sum.push_back(bits(l));
    stages_.m_last.push_back(bits(part.m));
    const auto& scales = problem_.v_scale;
    for (std::size_t d = 0; d < shape_.value_dim; ++d) {
      const std::size_t at = scales.size() <= 1 ? 0 : scales.size() == shape_.kv_heads ? kv_head() : kv_head() * shape_.value_dim + d;
      const float scale = scales.empty() ? 1 : scales[at];
      float O = part.O[d] * (inverse * scale);
      if (faults_.rounds_output_to_f16) O = value_of(kF16, cast_of(part.O[d], kF16, Rounding::ties_to_even, Overflow::overflow)) * (inverse * scale);
      stages_.O.push_back(out_ == kF32 ? bits(O) : cast_of(O, out_));
    }
  }

  const KernelSpec& spec_;
  const Problem& problem_;
  const KernelFaults& faults_;
  const Shape& shape_;
  accumulation::Engine qk_, pv_;
  FormatSpec p_format_, out_;
  Stages stages_;
  std::size_t row_ = 0, tile_ = 0;
  float L_ = 1;
};

}  // namespace

Stages run_with(const KernelSpec& spec, const Problem& problem, const KernelFaults& faults) { return Run(spec, problem, faults).stages(); }

}  // namespace halfulp::vectors
