// The steps of the reference kernel as docs/attention.md numbers them; see kernel_exact.hpp.
#include "halfulp/attention/kernel_exact.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "halfulp/accumulation/models.hpp"
#include "halfulp/accumulation/sum_exact.hpp"
#include "halfulp/attention/detail/kernel_exact_number.hpp"
#include "halfulp/formats.hpp"

namespace halfulp::attention {
namespace {

using namespace exact;  // NOLINT: the arithmetic of this file
using Word = std::uint32_t;

constexpr FormatSpec kF32 = spec_of("f32"), kF16 = spec_of("f16"), kInt32 = spec_of("int32");

Word bits(float x) { return std::bit_cast<Word>(x); }

/// A part of the keys while its tiles are worked off, and the joined parts.
struct State {
  Word m = kMinusInfinity;
  std::vector<Word> lanes, O;
};

class Row {
 public:
  Row(const KernelSpec& spec, const Problem& problem, std::size_t head, std::size_t query, Stages& stages)
      : spec_(spec), shape_(problem.shape), problem_(problem), query_(query), row_(head * shape_.queries + query), head_(head), stages_(stages) {
    kv_head_ = head / (shape_.query_heads / shape_.kv_heads);
    qk_ = accumulation::make_spec({.model = spec.qk_model, .format_a = spec.q_format, .format_b = spec.k_format});
    pv_ = accumulation::make_spec({.model = spec.pv_model, .format_a = spec.p_format, .format_b = spec.v_format, .output = spec.pv_output});
    out_ = find_format(spec.out)->spec;
    L_ = problem.logit_scale.empty() ? kOne : bits(problem.logit_scale[problem.logit_scale.size() == 1 ? 0 : head]);
    stages_.L[row_] = L_;
  }

  void run() {
    const std::size_t keys = shape_.keys, part = spec_.split == 0 ? std::max<std::size_t>(keys, 1) : static_cast<std::size_t>(spec_.split);
    State total = empty_part(0);
    for (std::size_t first = 0; first < keys; first += part) {
      State state = empty_part(first);
      tiles_of_part(state, first, std::min(first + part, keys));
      state.lanes = {row_sum(state.lanes)};
      total = first == 0 ? state : combined(total, state);
    }
    finish(total, row_sum(total.lanes));
  }

 private:
  /// Nothing seen yet. The sink, an extra key without a V row, opens the first part.
  State empty_part(std::size_t first_key) const {
    State state;
    state.lanes.assign(static_cast<std::size_t>(spec_.lanes), 0);
    state.O.assign(shape_.value_dim, 0);
    if (first_key == 0 && !problem_.sink.empty()) {
      state.m = bits(problem_.sink[head_]);
      state.lanes[0] = exact::exp2(exponent_of(state.m, state.m));
    }
    return state;
  }

  /// Step 1.
  void tiles_of_part(State& state, std::size_t first, std::size_t last) {
    const auto tile = static_cast<std::size_t>(spec_.tile);
    const std::size_t count = (last - first + tile - 1) / tile;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = spec_.order == TileOrder::ascending ? i : count - 1 - i;
      const std::size_t begin = first + index * tile;
      one_tile(state, begin, std::min(begin + tile, last));
    }
  }

  bool sees(std::size_t key) const {
    const auto j = static_cast<std::int64_t>(key);
    const std::int64_t diagonal =
        static_cast<std::int64_t>(query_) + static_cast<std::int64_t>(shape_.keys) - static_cast<std::int64_t>(shape_.queries);
    if (spec_.causal && j > diagonal) return false;
    return !spec_.window || j < spec_.visible_prefix || (j >= diagonal - spec_.window->before && j <= diagonal + spec_.window->after);
  }

  /// Step 2: one raw score.
  Word score(std::size_t key) const {
    const std::size_t d = shape_.head_dim;
    const Word dot =
        accumulation::dot_exact(qk_, {problem_.q.subspan(row_ * d, d), problem_.k.subspan((kv_head_ * shape_.keys + key) * d, d), 0, {}, {}});
    return qk_.output == accumulation::Output::int32 ? widened(kInt32, dot) : dot;
  }

  /// The soft cap, if there is one: cap * tanh(S * scale).
  Word capped(Word S) const {
    if (!spec_.softcap) return S;
    return multiply(bits(spec_.softcap->cap), exact::tanh(multiply(S, bits(spec_.softcap->scale))));
  }

  /// Step 6: fma(S, L, fma(-m, L, offset)).
  Word exponent_of(Word S, Word m) const { return fused(S, L_, fused(m ^ 0x80000000, L_, bits(spec_.offset))); }
  /// Step 8.
  Word factor_of(Word from, Word to) const { return exact::exp2(multiply(subtract(from, to), L_)); }

  void one_tile(State& state, std::size_t begin, std::size_t end) {
    // Steps 2 and 4.
    std::vector<Word> S(end - begin);
    Word candidate = state.m;
    for (std::size_t key = begin; key < end; ++key) {
      if (!sees(key)) continue;
      S[key - begin] = stages_.S[row_ * shape_.keys + key] = score(key);
      if (!is_finite(S[key - begin])) candidate = kNan;
      S[key - begin] = capped(S[key - begin]);
      if (greater(S[key - begin], candidate)) candidate = S[key - begin];
    }
    // Step 5.
    const bool sets = state.m == kMinusInfinity || is_nan(candidate) || !spec_.threshold ||
                      greater(multiply(subtract(candidate, state.m), L_), bits(*spec_.threshold));
    const Word m = sets ? candidate : state.m;
    // Step 8.
    Word alpha = kOne;
    if (state.m != kMinusInfinity && m != state.m) {
      alpha = factor_of(state.m, m);
      for (Word& l : state.lanes) l = multiply(l, alpha);
      for (Word& o : state.O) o = multiply(o, alpha);
    }
    state.m = m;
    // Steps 6, 7 and 9.
    std::vector<Word> codes(end - begin), values(end - begin);
    for (std::size_t key = begin; key < end; ++key) {
      const std::size_t column = key - begin, at = row_ * shape_.keys + key;
      if (!sees(key)) continue;
      const Word t = exponent_of(S[column], m), P = exact::exp2(t);
      codes[column] = cast_to(pv_.a, spec_.prescale ? multiply(P, bits(*spec_.prescale)) : P);
      stages_.t[at] = t;
      stages_.P[at] = P;
      stages_.P_code[at] = codes[column];
      Word& lane = state.lanes[spec_.lanes == 1 ? 0 : column / 2 % 4];
      lane = add(lane, spec_.sum_of == SumOf::f32 ? P : widened(pv_.a, codes[column]));
    }
    product(state, codes, begin, end);
    stages_.m[row_ * stages_.tiles + tile_] = state.m;
    stages_.alpha[row_ * stages_.tiles + tile_] = alpha;
    std::copy(state.lanes.begin(), state.lanes.end(), stages_.l.begin() + offset_of((row_ * stages_.tiles + tile_) * stages_.lanes));
    std::copy(state.O.begin(), state.O.end(), stages_.O_tile.begin() + offset_of((row_ * stages_.tiles + tile_) * shape_.value_dim));
    ++tile_;
  }

  static std::ptrdiff_t offset_of(std::size_t index) { return static_cast<std::ptrdiff_t>(index); }

  /// Step 10. The V of a key that is not seen is not read: a zero stands for it, as for its P.
  void product(State& state, const std::vector<Word>& codes, std::size_t begin, std::size_t end) const {
    for (std::size_t d = 0; d < shape_.value_dim; ++d) {
      std::vector<Word> column(end - begin);
      for (std::size_t key = begin; key < end; ++key) {
        if (sees(key)) column[key - begin] = problem_.v[(kv_head_ * shape_.keys + key) * shape_.value_dim + d];
      }
      Word& O = state.O[d];
      const std::span<const Word> P = codes, V = column;
      if (spec_.pv == PvMode::chained) {
        O = accumulation::dot_exact(pv_, {P, V, O, {}, {}});
        continue;
      }
      const std::size_t piece = spec_.interval == 0 ? P.size() : static_cast<std::size_t>(spec_.interval);
      for (std::size_t first = 0; first < P.size(); first += piece) {
        const std::size_t count = std::min(piece, P.size() - first);
        const Word partial = accumulation::dot_exact(pv_, {P.subspan(first, count), V.subspan(first, count), 0, {}, {}});
        O = add(O, pv_.output == accumulation::Output::f16 ? widened(kF16, partial) : partial);
      }
    }
  }

  /// Step 9, the end.
  static Word row_sum(const std::vector<Word>& lanes) {
    return lanes.size() == 1 ? lanes[0] : add(add(lanes[0], lanes[2]), add(lanes[1], lanes[3]));
  }

  /// Two parts of split KV: both are brought to the larger maximum by step 8, then added.
  State combined(State a, State b) const {
    if (b.m == kMinusInfinity) return a;
    if (a.m == kMinusInfinity) return b;
    const Word m = is_nan(a.m) || is_nan(b.m) ? kNan : greater(b.m, a.m) ? b.m : a.m;
    for (State* part : {&a, &b}) {
      if (part->m == m) continue;
      const Word alpha = factor_of(part->m, m);
      part->lanes[0] = multiply(part->lanes[0], alpha);
      for (Word& o : part->O) o = multiply(o, alpha);
    }
    a.m = m;
    a.lanes[0] = add(a.lanes[0], b.lanes[0]);
    for (std::size_t d = 0; d < a.O.size(); ++d) a.O[d] = add(a.O[d], b.O[d]);
    return a;
  }

  /// Step 11.
  void finish(const State& state, Word sum) {
    stages_.row_sum[row_] = sum;
    stages_.m_last[row_] = state.m;
    const Word inverse = (sum & 0x7fffffff) == 0 ? 0 : divide(kOne, sum);
    for (std::size_t d = 0; d < shape_.value_dim; ++d) {
      const Word O = multiply(state.O[d], multiply(inverse, value_scale(d)));
      stages_.O[row_ * shape_.value_dim + d] = out_ == kF32 ? O : cast_to(out_, O);
    }
  }

  Word value_scale(std::size_t d) const {
    const auto scales = problem_.v_scale;
    if (scales.empty()) return kOne;
    if (scales.size() == 1) return bits(scales[0]);
    return bits(scales.size() == shape_.kv_heads ? scales[kv_head_] : scales[kv_head_ * shape_.value_dim + d]);
  }

  const KernelSpec& spec_;
  const Shape& shape_;
  const Problem& problem_;
  std::size_t query_, row_, head_, kv_head_ = 0, tile_ = 0;
  Stages& stages_;
  accumulation::MmaSpec qk_, pv_;
  FormatSpec out_;
  Word L_ = kOne;
};

}  // namespace

Stages run_exact(const KernelSpec& spec, const Problem& problem) {
  const Shape& shape = problem.shape;
  Stages stages;
  stages.rows = shape.query_heads * shape.queries;
  stages.keys = shape.keys;
  stages.lanes = static_cast<std::size_t>(spec.lanes);
  stages.value_dim = shape.value_dim;
  stages.tiles = (shape.keys + static_cast<std::size_t>(spec.tile) - 1) / static_cast<std::size_t>(spec.tile);
  for (auto* per_key : {&stages.S, &stages.t, &stages.P, &stages.P_code}) per_key->assign(stages.rows * stages.keys, 0);
  for (auto* per_tile : {&stages.m, &stages.alpha}) per_tile->assign(stages.rows * stages.tiles, 0);
  for (auto* per_row : {&stages.L, &stages.row_sum, &stages.m_last}) per_row->assign(stages.rows, 0);
  stages.l.assign(stages.rows * stages.tiles * stages.lanes, 0);
  stages.O_tile.assign(stages.rows * stages.tiles * stages.value_dim, 0);
  stages.O.assign(stages.rows * stages.value_dim, 0);
  for (std::size_t head = 0; head < shape.query_heads; ++head) {
    for (std::size_t query = 0; query < shape.queries; ++query) Row(spec, problem, head, query, stages).run();
  }
  return stages;
}

}  // namespace halfulp::attention
