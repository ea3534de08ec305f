// Parts of a split, the sink that opens the first one, and step 11; see detail/row_block.hpp.
#include "halfulp/attention/detail/row_block.hpp"

#include <algorithm>

#include "halfulp/detail/float_modes.hpp"

namespace halfulp::attention::detail {

RowBlock::RowBlock(const KernelPlan& plan, std::size_t first, std::size_t count, Keep keep, Stages& stages)
    : plan_(plan), spec_(plan.spec), shape_(plan.problem.shape), stages_(stages), first_(first), count_(count), keep_(keep == Keep::all),
      kv_head_(first / plan.rows_per_kv_head()), lanes_(static_cast<std::size_t>(spec_.lanes)) {
  for (std::size_t r = 0; r < count_; ++r) {
    L_.push_back(plan_.L(head_of(r)));
    visible_.push_back(visible_keys(spec_, shape_, (first_ + r) % shape_.queries));
  }
}

void RowBlock::run() {
  const halfulp::detail::DefaultFloatModes modes;
  start(true);
  std::size_t tile = 0;
  for (std::size_t part = 0; part < plan_.parts(); ++part) {
    if (part != 0) start(false);
    for (const Tile& keys : plan_.part_tiles[part]) one_tile(keys, tile++);
    add_lanes();
    part == 0 ? keep_first() : combine();
  }
  if (plan_.parts() == 0) {
    add_lanes();
    keep_first();
  }
  finish();
}

/// An empty part; the sink, an extra key without a V row, opens the first one.
void RowBlock::start(bool first_part) {
  m_.assign(count_, kMinusInfinity);
  l_.assign(count_ * lanes_, 0.0f);
  O_.assign(count_ * shape_.value_dim, 0);
  if (!first_part || plan_.problem.sink.empty()) return;
  for (std::size_t r = 0; r < count_; ++r) {
    const float sink = plan_.problem.sink[head_of(r)], L = L_[r];
    m_[r] = sink;
    l_[r * lanes_] = exp2_p6(fused(sink, L, fused(-sink, L, spec_.offset)));
  }
}

/// Step 9, the end: the lanes of a part become one sum.
void RowBlock::add_lanes() {
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

void RowBlock::keep_first() {
  total_m_ = m_;
  total_sum_ = sum_;
  total_O_ = O_;
}

/// Joins the part to those before it: both are brought to the larger maximum, then added. A part that saw nothing adds nothing.
void RowBlock::combine() {
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

void RowBlock::bring_to(float m, float L, float from, float& sum, Word* O) const {
  if (word(from) == word(m)) return;
  const float alpha = rescale_factor(from, m, L);
  sum = value(sum * alpha);
  for (std::size_t d = 0; d < shape_.value_dim; ++d) O[d] = word(std::bit_cast<float>(O[d]) * alpha);
}

/// Step 11.
void RowBlock::finish() {
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

}  // namespace halfulp::attention::detail
