// The steps of the reference kernel, a block of query rows at a time; the steps are numbered as in docs/attention.md.
#include "halfulp/attention/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "halfulp/accumulation/detail/gemm_tile.hpp"
#include "halfulp/attention/detail/kernel_plan.hpp"
#include "halfulp/attention/exp2.hpp"
#include "halfulp/attention/tanh.hpp"
#include "halfulp/detail/float_modes.hpp"

namespace halfulp::attention {
namespace {

using detail::KernelPlan;
using Word = std::uint32_t;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
const float kNanValue = std::bit_cast<float>(detail::kNan);

/// A result of an operation: all NaNs are one.
float value(float x) { return x != x ? kNanValue : x; }
Word word(float x) { return x != x ? detail::kNan : std::bit_cast<Word>(x); }

/// exp2 of the distance from one maximum to another: the factor of step 8.
float rescale_factor(float from, float to, float L) {
  const float distance = from - to;
  return exp2_p6(distance * L);
}

/// Rows [first, first + count) of all query rows, which share a KV head.
class RowBlock {
 public:
  RowBlock(const KernelPlan& plan, std::size_t first, std::size_t count, Keep keep, Stages& stages)
      : plan_(plan), spec_(plan.spec), shape_(plan.problem.shape), stages_(stages), first_(first), count_(count), keep_(keep == Keep::all),
        kv_head_(first / plan.rows_per_kv_head()), lanes_(static_cast<std::size_t>(spec_.lanes)) {
    for (std::size_t r = 0; r < count_; ++r) {
      L_.push_back(plan_.L(head_of(r)));
      visible_.push_back(detail::visible_keys(spec_, shape_, (first_ + r) % shape_.queries));
    }
  }

  void run() {
    const halfulp::detail::DefaultFloatModes modes;
    start(true);
    std::size_t tile = 0;
    for (std::size_t part = 0; part < plan_.parts(); ++part) {
      if (part != 0) start(false);
      for (const detail::Tile& keys : plan_.part_tiles[part]) one_tile(keys, tile++);
      add_lanes();
      part == 0 ? keep_first() : combine();
    }
    if (plan_.parts() == 0) {
      add_lanes();
      keep_first();
    }
    finish();
  }

 private:
  std::size_t head_of(std::size_t r) const { return (first_ + r) / shape_.queries; }

  /// An empty part; the sink, an extra key without a V row, opens the first one.
  void start(bool first_part) {
    m_.assign(count_, kMinusInfinity);
    l_.assign(count_ * lanes_, 0.0f);
    O_.assign(count_ * shape_.value_dim, 0);
    if (!first_part || plan_.problem.sink.empty()) return;
    for (std::size_t r = 0; r < count_; ++r) {
      const float sink = plan_.problem.sink[head_of(r)], L = L_[r];
      m_[r] = sink;
      l_[r * lanes_] = exp2_p6(detail::fused(sink, L, detail::fused(-sink, L, spec_.offset)));
    }
  }

  void one_tile(const detail::Tile& keys, std::size_t tile) {
    const std::size_t n = keys.end - keys.begin;
    read_scores(keys);
    t_.assign(count_ * n, 0.0f);
    P_.assign(count_ * n, 0.0f);
    for (std::size_t r = 0; r < count_; ++r) weights(r, keys, tile);
    cast_weights();
    for (std::size_t r = 0; r < count_; ++r) add_row_sum(r, keys);
    products(keys);
    if (keep_) keep_tile(keys, tile);
  }

  /// Step 2, for a stretch of keys at once: no score depends on its tile.
  void read_scores(const detail::Tile& keys) {
    constexpr std::size_t kStretch = 2048;
    if (keys.begin < scored_.begin || keys.end > scored_.end) {
      const std::size_t begin = keys.begin / kStretch * kStretch;
      scored_ = {begin, std::min(shape_.keys, std::max(keys.end, begin + kStretch))};
      scores_.resize(count_ * (scored_.end - scored_.begin));
      plan_.scores(kv_head_, first_, count_, scored_.begin, scored_.end, scores_.data());
    }
    const std::size_t n = keys.end - keys.begin, stride = scored_.end - scored_.begin;
    S_.resize(count_ * n);
    for (std::size_t r = 0; r < count_; ++r) std::copy_n(&scores_[r * stride + keys.begin - scored_.begin], n, &S_[r * n]);
  }

  /// Steps 3 to 6 and 8.
  void weights(std::size_t r, const detail::Tile& keys, std::size_t tile) {
    const std::size_t n = keys.end - keys.begin;
    const auto seen = visible_[r].among(keys.begin, keys.end);
    float* const S = &S_[r * n];
    if (keep_) {
      for (std::size_t i = 0; i < n; ++i) stages_.S[(first_ + r) * shape_.keys + keys.begin + i] = visible_[r](keys.begin + i) ? word(S[i]) : 0;
    }
    const float L = L_[r], before = m_[r];
    float candidate = before;
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t key = seen.begin[s]; key < seen.end[s]; ++key) {
        float& score = S[key - keys.begin];
        if (!std::isfinite(score)) candidate = kNanValue;
        if (spec_.softcap) score = spec_.softcap->cap * tanh_fma(score * spec_.softcap->scale);
        if (score > candidate) candidate = score;
      }
    }
    const float distance = candidate - before;
    const bool stays = spec_.threshold && before != kMinusInfinity && candidate == candidate && !(distance * L > *spec_.threshold);
    const float m = stays ? before : candidate;
    m_[r] = m;
    float alpha = 1;
    if (before != kMinusInfinity && word(m) != word(before)) {
      alpha = rescale_factor(before, m, L);
      for (std::size_t j = 0; j < lanes_; ++j) l_[r * lanes_ + j] = value(l_[r * lanes_ + j] * alpha);
      for (std::size_t d = 0; d < shape_.value_dim; ++d) {
        Word& O = O_[r * shape_.value_dim + d];
        O = word(std::bit_cast<float>(O) * alpha);
      }
    }
    const float b = value(detail::fused(-m, L, spec_.offset));
    for (std::size_t s = 0; s < 2; ++s) {
      const std::size_t at = seen.begin[s] - keys.begin, count = seen.end[s] - seen.begin[s];
      if (count != 0) detail::exponentials(S + at, count, L, b, &t_[r * n + at], &P_[r * n + at]);
    }
    if (!keep_) return;
    stages_.m[(first_ + r) * stages_.tiles + tile] = word(m);
    stages_.alpha[(first_ + r) * stages_.tiles + tile] = word(alpha);
  }

  /// Step 7.
  void cast_weights() {
    codes_.resize(plan_.p_format, P_.size());
    if (!spec_.prescale) return codes_.cast(plan_.to_p, P_);
    scaled_.resize(P_.size());
    for (std::size_t i = 0; i < P_.size(); ++i) scaled_[i] = value(P_[i] * *spec_.prescale);
    codes_.cast(plan_.to_p, scaled_);
  }

  /// Step 9. A masked key would add +0.
  void add_row_sum(std::size_t r, const detail::Tile& keys) {
    const std::size_t n = keys.end - keys.begin;
    const auto seen = visible_[r].among(keys.begin, keys.end);
    for (std::size_t s = 0; s < 2; ++s) {
      for (std::size_t key = seen.begin[s]; key < seen.end[s]; ++key) {
        const std::size_t i = key - keys.begin;
        float& l = l_[r * lanes_ + (lanes_ == 1 ? 0 : i / 2 % 4)];
        l = value(l + (spec_.sum_of == SumOf::f32 ? P_[r * n + i] : plan_.p_value(codes_[r * n + i])));
      }
    }
  }

  /// Step 10. Rows that see a whole piece share one product; the others have theirs with zeros where they see nothing.
  void products(const detail::Tile& keys) {
    const std::size_t n = keys.end - keys.begin;
    for (const detail::Piece& piece : keys.pieces) {
      const std::size_t length = piece.end - piece.begin;
      std::vector<std::size_t> whole, none;
      for (std::size_t r = 0; r < count_; ++r) {
        const std::size_t seen = visible_[r].among(piece.begin, piece.end).count();
        if (seen == length) whole.push_back(r);
        else if (seen == 0) none.push_back(r);
        else product_of({r}, piece, n, piece.begin - keys.begin, masked_values(piece, visible_[r]));
      }
      if (!whole.empty()) product_of(whole, piece, n, piece.begin - keys.begin, plan_.values(kv_head_, piece));
      if (!none.empty()) product_of(none, piece, n, piece.begin - keys.begin, masked_values(piece, {0, 0, 0}));
    }
  }

  /// V of a piece with zeros for keys that are not seen: those are not read.
  std::span<const std::byte> masked_values(const detail::Piece& piece, const detail::Visible& visible) {
    const std::size_t length = piece.end - piece.begin, dim = shape_.value_dim;
    masked_.resize(plan_.pv.spec().b, length * dim);
    for (std::size_t d = 0; d < dim; ++d) {
      for (std::size_t key = piece.begin; key < piece.end; ++key) {
        if (visible(key)) masked_.set(d * length + key - piece.begin, plan_.problem.v[(kv_head_ * shape_.keys + key) * dim + d]);
      }
    }
    return masked_.bytes(0, length * dim);
  }

  void product_of(const std::vector<std::size_t>& rows, const detail::Piece& piece, std::size_t stride, std::size_t offset, std::span<const std::byte> V) {
    const std::size_t length = piece.end - piece.begin, dim = shape_.value_dim;
    const bool chained = spec_.pv == PvMode::chained;
    gathered_.resize(plan_.p_format, rows.size() * length);
    c_.resize(chained ? rows.size() * dim : 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      gathered_.copy(codes_, rows[i] * stride + offset, length, i * length);
      if (chained) std::copy_n(&O_[rows[i] * dim], dim, &c_[i * dim]);
    }
    const auto sums = plan_.product(gathered_.bytes(0, rows.size() * length), rows.size(), V, length, c_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t d = 0; d < dim; ++d) {
        Word& O = O_[rows[i] * dim + d];
        O = chained ? sums[i * dim + d] : word(std::bit_cast<float>(O) + plan_.partial_value(sums[i * dim + d]));
      }
    }
  }

  void keep_tile(const detail::Tile& keys, std::size_t tile) {
    const std::size_t n = keys.end - keys.begin, dim = shape_.value_dim;
    for (std::size_t r = 0; r < count_; ++r) {
      const std::size_t row = first_ + r, at = row * shape_.keys + keys.begin;
      for (std::size_t i = 0; i < n; ++i) {
        stages_.t[at + i] = word(t_[r * n + i]);
        stages_.P[at + i] = word(P_[r * n + i]);
        stages_.P_code[at + i] = codes_[r * n + i];
      }
      for (std::size_t j = 0; j < lanes_; ++j) stages_.l[(row * stages_.tiles + tile) * lanes_ + j] = word(l_[r * lanes_ + j]);
      for (std::size_t d = 0; d < dim; ++d) stages_.O_tile[(row * stages_.tiles + tile) * dim + d] = O_[r * dim + d];
    }
  }

  /// Step 9, the end: the lanes of a part become one sum.
  void add_lanes() {
    sum_.resize(count_);
    for (std::size_t r = 0; r < count_; ++r) {
      const float* l = &l_[r * lanes_];
      if (lanes_ == 1) {
        sum_[r] = l[0];
        continue;
      }
      const float even = value(l[0] + l[2]), odd = value(l[1] + l[3]);
      sum_[r] = value(even + odd);
    }
  }

  void keep_first() {
    total_m_ = m_;
    total_sum_ = sum_;
    total_O_ = O_;
  }

  /// Joins the part to those before it: both are brought to the larger maximum, then added. A part that saw nothing adds nothing.
  void combine() {
    const std::size_t dim = shape_.value_dim;
    for (std::size_t r = 0; r < count_; ++r) {
      if (m_[r] == kMinusInfinity) continue;
      if (total_m_[r] == kMinusInfinity) {
        total_m_[r] = m_[r];
        total_sum_[r] = sum_[r];
        std::copy_n(&O_[r * dim], dim, &total_O_[r * dim]);
        continue;
      }
      const bool nan = m_[r] != m_[r] || total_m_[r] != total_m_[r];
      const float m = nan ? kNanValue : m_[r] > total_m_[r] ? m_[r] : total_m_[r];
      bring_to(m, L_[r], total_m_[r], total_sum_[r], &total_O_[r * dim]);
      bring_to(m, L_[r], m_[r], sum_[r], &O_[r * dim]);
      total_m_[r] = m;
      total_sum_[r] = value(total_sum_[r] + sum_[r]);
      for (std::size_t d = 0; d < dim; ++d) {
        Word& O = total_O_[r * dim + d];
        O = word(std::bit_cast<float>(O) + std::bit_cast<float>(O_[r * dim + d]));
      }
    }
  }

  void bring_to(float m, float L, float from, float& sum, Word* O) const {
    if (word(from) == word(m)) return;
    const float alpha = rescale_factor(from, m, L);
    sum = value(sum * alpha);
    for (std::size_t d = 0; d < shape_.value_dim; ++d) O[d] = word(std::bit_cast<float>(O[d]) * alpha);
  }

  /// Step 11.
  void finish() {
    const std::size_t dim = shape_.value_dim;
    std::vector<float> result(count_ * dim);
    for (std::size_t r = 0; r < count_; ++r) {
      const float sum = total_sum_[r], inverse = sum == 0 ? 0.0f : 1.0f / sum;
      stages_.L[first_ + r] = word(L_[r]);
      stages_.row_sum[first_ + r] = word(sum);
      stages_.m_last[first_ + r] = word(total_m_[r]);
      for (std::size_t d = 0; d < dim; ++d) {
        const float factor = inverse * plan_.value_scale(kv_head_, d);
        result[r * dim + d] = value(std::bit_cast<float>(total_O_[r * dim + d]) * factor);
      }
    }
    plan_.cast_output(result, &stages_.O[first_ * dim]);
  }

  const KernelPlan& plan_;
  const KernelSpec& spec_;
  const Shape& shape_;
  Stages& stages_;
  std::size_t first_, count_;
  bool keep_;
  std::size_t kv_head_, lanes_;
  std::vector<float> L_;
  std::vector<detail::Visible> visible_;
  detail::Piece scored_ = {0, 0};  ///< keys whose scores are in scores_
  std::vector<float> scores_, S_, t_, P_, scaled_;
  detail::CodeBuffer codes_, gathered_, masked_;
  std::vector<float> m_, l_, sum_, total_m_, total_sum_;
  std::vector<Word> O_, total_O_, c_;
};

}  // namespace

Stages run(const KernelSpec& spec, const Problem& problem, Keep keep, unsigned threads) {
  const KernelPlan plan(spec, problem);
  const Shape& shape = problem.shape;
  Stages stages;
  stages.rows = shape.query_heads * shape.queries;
  stages.keys = shape.keys;
  stages.tiles = plan.tiles;
  stages.lanes = static_cast<std::size_t>(spec.lanes);
  stages.value_dim = shape.value_dim;
  for (auto* per_row : {&stages.L, &stages.row_sum, &stages.m_last}) per_row->resize(stages.rows);
  stages.O.resize(stages.rows * stages.value_dim);
  if (keep == Keep::all) {
    for (auto* per_key : {&stages.S, &stages.t, &stages.P, &stages.P_code}) per_key->resize(stages.rows * stages.keys);
    for (auto* per_tile : {&stages.m, &stages.alpha}) per_tile->resize(stages.rows * stages.tiles);
    stages.l.resize(stages.rows * stages.tiles * stages.lanes);
    stages.O_tile.resize(stages.rows * stages.tiles * stages.value_dim);
  }
  constexpr std::size_t kRows = 64;
  const std::size_t per_head = plan.rows_per_kv_head(), blocks = (per_head + kRows - 1) / kRows;
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  accumulation::detail::for_each_task(blocks * shape.kv_heads, static_cast<int>(threads == 0 ? cores : threads), [&](std::size_t i) {
    const std::size_t first = i % blocks * kRows;
    RowBlock(plan, i / blocks * per_head + first, std::min(kRows, per_head - first), keep, stages).run();
  });
  return stages;
}

}  // namespace halfulp::attention
