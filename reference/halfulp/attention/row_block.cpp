// Steps 2 to 10 of the reference kernel: one tile of keys against a block of rows; see detail/row_block.hpp.
#include "halfulp/attention/detail/row_block.hpp"

#include <algorithm>
#include <cmath>

#include "halfulp/attention/tanh.hpp"

namespace halfulp::attention::detail {

void RowBlock::one_tile(const Tile& keys, std::size_t tile) {
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
void RowBlock::read_scores(const Tile& keys) {
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
void RowBlock::weights(std::size_t r, const Tile& keys, std::size_t tile) {
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
  const float b = value(fused(-m, L, spec_.offset));
  for (std::size_t s = 0; s < 2; ++s) {
    const std::size_t at = seen.begin[s] - keys.begin, count = seen.end[s] - seen.begin[s];
    if (count != 0) exponentials(S + at, count, L, b, &t_[r * n + at], &P_[r * n + at]);
  }
  if (!keep_) return;
  stages_.m[(first_ + r) * stages_.tiles + tile] = word(m);
  stages_.alpha[(first_ + r) * stages_.tiles + tile] = word(alpha);
}

/// Step 7.
void RowBlock::cast_weights() {
  codes_.resize(plan_.p_format, P_.size());
  if (!spec_.prescale) return codes_.cast(plan_.to_p, P_);
  scaled_.resize(P_.size());
  for (std::size_t i = 0; i < P_.size(); ++i) scaled_[i] = value(P_[i] * *spec_.prescale);
  codes_.cast(plan_.to_p, scaled_);
}

/// Step 9. A masked key would add +0.
void RowBlock::add_row_sum(std::size_t r, const Tile& keys) {
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
void RowBlock::products(const Tile& keys) {
  const std::size_t n = keys.end - keys.begin;
  for (const Piece& piece : keys.pieces) {
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
std::span<const std::byte> RowBlock::masked_values(const Piece& piece, const Visible& visible) {
  const std::size_t length = piece.end - piece.begin, dim = shape_.value_dim;
  masked_.resize(plan_.pv.spec().b, length * dim);
  for (std::size_t d = 0; d < dim; ++d) {
    for (std::size_t key = piece.begin; key < piece.end; ++key) {
      if (visible(key)) masked_.set(d * length + key - piece.begin, plan_.problem.v[(kv_head_ * shape_.keys + key) * dim + d]);
    }
  }
  return masked_.bytes(0, length * dim);
}

void RowBlock::product_of(const std::vector<std::size_t>& rows, const Piece& piece, std::size_t stride,
                std::size_t offset, std::span<const std::byte> V) {
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

void RowBlock::keep_tile(const Tile& keys, std::size_t tile) {
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

}  // namespace halfulp::attention::detail
