// Quantized attention, step by step as docs/attention.md numbers them. attention_parts: one block takes kRows query rows of
// one KV head and one part of the keys at a time; attention_combine joins the parts and ends every row.
//
// Eight lanes share a row; each holds the row's maximum, and lane j < lanes one partial sum. Compile with -fmad=false: every
// float operation below is one IEEE operation.
#pragma once

#include "gpu_check/kernels/attention_cache.cuh"
#include "gpu_check/kernels/attention_units.cuh"
#include "halfulp/attention/tanh.hpp"

namespace halfulp::gpu {

/// Queries [query head, query, channel] and scales: L and sink per query head, v_scale per [KV head, channel].
template <class Code>
struct AttentionInputs {
  In<Code> q;
  In<float> logit_scale, sink, v_scale;
};

/// As Stages (halfulp/attention/problem.hpp).
struct StageBuffers {
  Out<std::uint32_t> L, S, m, t, P, P_code, alpha, l, O_tile, row_sum, m_last, O;
};

/// What a part leaves: m and the row sum per [row, part], O per [row, part, channel]. Words of float32.
struct PartBuffers {
  Out<std::uint32_t> m, sum, O;
};

/// The keys that a row sees: [first, last) and [0, prefix).
struct Seen {
  std::int64_t first = 0, last = 0, prefix = 0;
  HALFULP_HD bool operator()(std::int64_t key) const { return (key >= first && key < last) || key < prefix; }
};

HALFULP_DEVICE Seen seen_keys(const AttentionPlan& p, unsigned query) {
  const auto keys = static_cast<std::int64_t>(p.keys), diagonal = static_cast<std::int64_t>(query) + keys - static_cast<std::int64_t>(p.queries);
  const std::int64_t end = p.causal == 0 || diagonal + 1 > keys ? keys : diagonal + 1 < 0 ? 0 : diagonal + 1;
  const auto inside = [end](std::int64_t key) { return key < 0 ? 0 : key > end ? end : key; };
  if (p.has_window == 0) return {0, end, 0};
  return {inside(diagonal - p.before), inside(diagonal + p.after + 1), inside(p.prefix)};
}

/// True when two rows see the same keys of [begin, end).
HALFULP_DEVICE bool see_alike(const Seen& a, const Seen& b, std::int64_t begin, std::int64_t end) {
  for (std::int64_t key = begin; key < end; ++key) {
    if (a(key) != b(key)) return false;
  }
  return true;
}

constexpr float kMinusInfinity = -__builtin_huge_valf();

HALFULP_DEVICE float rescale_factor(float from, float to, float L) {
  const float distance = from - to;
  return attention::exp2_p6(distance * L);
}
HALFULP_DEVICE std::uint32_t times(std::uint32_t word, float factor) { return word_of(float_of(word) * factor); }

/// Shared memory of a block.
template <class Code>
struct Work {
  Out<Code> queries;  ///< [row, channel]
  Out<Code> operand;  ///< keys of the tile, then its values transposed, in cores
  Out<Code> codes;    ///< P codes [row, key]
  Out<float> weights; ///< S, then P [row, key]
  Out<std::uint32_t> O;  ///< [row, channel]
};

/// The rows of an item and the part of the keys.
struct Item {
  unsigned kv_head, first_row, rows, part;
};
HALFULP_DEVICE Item item_of(const AttentionPlan& p, unsigned i) {
  const unsigned row_tile = i / p.parts() % p.row_tiles(), kv_head = i / p.parts() / p.row_tiles();
  const unsigned left = p.rows_per_kv_head() - row_tile * kRows;
  return {kv_head, kv_head * p.rows_per_kv_head() + row_tile * kRows, left < kRows ? left : kRows, i % p.parts()};
}

/// What eight lanes know of their row.
struct Row {
  unsigned index;  ///< in the block
  unsigned row;    ///< of all rows
  bool exists;
  float L;
  Seen seen;
  float m;
  float l;  ///< of this lane
};

HALFULP_HD constexpr unsigned padded(unsigned n, unsigned to) { return (n + to - 1) / to * to; }

/// Step 1: keys of [begin, end) that some row sees, zeros for the others.
template <class Traits, int kFault>
HALFULP_DEVICE void load_keys(const AttentionPlan& p, const typename Traits::Cache& cache, const Item& item, unsigned begin, unsigned end,
                              const Work<typename Traits::Code>& work) {
  using Code = typename Traits::Code;
  const unsigned depth = padded(p.head_dim, kDepthBytes / kBytes<Code>), count = padded(end - begin, kColumns);
  for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
    const unsigned key = begin + k;
    bool any = false;
    for (unsigned r = 0; r < item.rows && !any && key < end; ++r) any = seen_keys(p, (item.first_row + r) % p.queries)(key);
    for (unsigned i = 0; i < depth; ++i) {
      work.operand[core_index<Code>(k, i, kMaxDim)] = any && i < p.head_dim ? cache.template key<kFault>(p, item.kv_head, key, i) : Code{0};
    }
  }
}

/// Step 10: values of [begin, end) that the row sees, transposed, zeros for the others.
template <class Traits, int kFault>
HALFULP_DEVICE void load_values(const AttentionPlan& p, const typename Traits::Cache& cache, const Item& item, const Seen& seen, unsigned begin,
                                unsigned end, const Work<typename Traits::Code>& work) {
  using Code = typename Traits::Code;
  const unsigned depth = padded(end - begin, kDepthBytes / kBytes<Code>), columns = padded(p.value_dim, kColumns);
  for (unsigned i = threadIdx.x; i < depth * columns; i += blockDim.x) {
    const unsigned k = i / columns, d = i % columns, key = begin + k;
    const bool live = kFault == kDeadSlot ? true : key < end && seen(key);
    work.operand[core_index<Code>(d, k, kMaxTile)] = live && d < p.value_dim ? cache.value(p, item.kv_head, key, d) : Code{0};
  }
}

/// Steps 3 to 6 and 8 for the keys of a tile; exports S and m, alpha.
template <int kFault, class Code>
HALFULP_DEVICE void new_maximum(const AttentionPlan& p, Row& row, unsigned begin, unsigned n, unsigned tile, const Work<Code>& work,
                                const StageBuffers& out) {
  const unsigned lane = threadIdx.x % 8;
  const float before = row.m;
  float candidate = before;
  int at = -1, bad = 0;  // of equal scores the first one is the maximum: zeros may differ in sign
  for (unsigned k = lane; k < n && row.exists; k += 8) {
    const bool seen = row.seen(begin + k);
    const unsigned i = row.index * kMaxTile + k;
    float score = work.weights[i];
    out.S[static_cast<std::size_t>(row.row) * p.keys + begin + k] = seen ? word_of(score) : 0u;
    if (!seen) continue;
    if (!(score - score == 0.0f)) bad = 1;
    if (p.has_softcap != 0) {
      score = p.cap * attention::tanh_fma(score * p.cap_scale);
      work.weights[i] = score;
    }
    if (score > candidate) {
      candidate = score;
      at = static_cast<int>(k);
    }
  }
  for (int step = 4; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, candidate, step);
    const int other_at = __shfl_xor_sync(0xffffffffu, at, step);
    bad |= __shfl_xor_sync(0xffffffffu, bad, step);
    if (other > candidate || (kFault != kAnyZero && other == candidate && other_at < at)) {
      candidate = other;
      at = other_at;
    }
  }
  if (kFault != kSpecialScores && bad != 0) candidate = float_of(kNanWord);
  const float rise = (candidate - before) * row.L;
  const bool below = kFault == kStaleMaximum || (p.has_threshold != 0 && !(kFault == kThresholdMet ? rise >= p.threshold : rise > p.threshold));
  const bool stays = below && before != kMinusInfinity && candidate == candidate;
  if (!stays) row.m = candidate;
  float alpha = 1;
  if (before != kMinusInfinity && word_of(row.m) != word_of(before)) {
    alpha = rescale_factor(before, row.m, row.L);
    row.l = one_nan(row.l * alpha);
    const unsigned channels = kFault == kLastChannel ? p.value_dim - 1 : p.value_dim;
    for (unsigned d = lane; d < channels && row.exists; d += 8) {
      const unsigned i = row.index * kMaxDim + d;
      work.O[i] = times(work.O[i], alpha);
    }
  }
  if (lane != 0 || !row.exists) return;
  out.m[static_cast<std::size_t>(row.row) * p.tiles() + tile] = word_of(row.m);
  out.alpha[static_cast<std::size_t>(row.row) * p.tiles() + tile] = word_of(alpha);
}

/// Steps 6, 7 and 9; exports t, P, P_code and l.
template <int kFault, class Code>
HALFULP_DEVICE void weigh(const AttentionPlan& p, Row& row, unsigned begin, unsigned n, unsigned tile, const Work<Code>& work,
                          const StageBuffers& out) {
  const unsigned lane = threadIdx.x % 8;
  const float b = one_nan(attention::detail::fused(-row.m, row.L, p.offset));
  for (unsigned k = lane; k < n && row.exists; k += 8) {
    const unsigned i = row.index * kMaxTile + k;
    const bool seen = row.seen(begin + k);
    float t = 0, weight = 0;
    if (seen) {
      t = attention::detail::fused(work.weights[i], row.L, b);
      weight = kFault == kLibraryExp2 ? exp2f(t) : attention::exp2_p6(t);
    }
    const float scaled = p.has_prescale != 0 ? one_nan(weight * p.prescale) : weight;
    const std::uint32_t code = seen ? cast_word(word_of(scaled), p.pv.a) : 0u;
    work.weights[i] = weight;
    work.codes[i] = static_cast<Code>(code);
    const std::size_t at = static_cast<std::size_t>(row.row) * p.keys + begin + k;
    out.t[at] = word_of(t);
    out.P[at] = word_of(weight);
    out.P_code[at] = code;
  }
  __syncwarp();
  if (lane >= p.lanes || !row.exists) return;
  for (unsigned k = 0; k < n; ++k) {
    if (!row.seen(begin + k) || (p.lanes == 4 && k / 2 % 4 != lane)) continue;
    const unsigned i = row.index * kMaxTile + k;
    const float weight = p.sum_quantized != 0 ? number_of(p.pv.a, static_cast<Code>(work.codes[i])) : static_cast<float>(work.weights[i]);
    row.l = one_nan(row.l + weight);
  }
  out.l[(static_cast<std::size_t>(row.row) * p.tiles() + tile) * p.lanes + lane] = word_of(row.l);
}

/// Step 10 for all rows of the block: rows that see the same keys share a product; values of other keys are not read.
template <class Traits, int kFault>
HALFULP_DEVICE void add_values(const AttentionPlan& p, const typename Traits::Cache& cache, const Item& item, unsigned begin, unsigned end,
                               const Work<typename Traits::Code>& work) {
  using Code = typename Traits::Code;
  const auto seen_of = [&](unsigned r) { return seen_keys(p, (item.first_row + r) % p.queries); };
  if (kFault == kDeadSlot) end = begin + padded(end - begin, 8);
  for (unsigned leader = 0; leader < item.rows; ++leader) {
    bool led = false;
    for (unsigned r = 0; r < leader && !led; ++r) led = see_alike(seen_of(r), seen_of(leader), begin, end);
    if (led) continue;
    load_values<Traits, kFault>(p, cache, item, seen_of(leader), begin, end, work);
    fence_shared_for_matrix_unit();
    __syncthreads();
    const auto active = [&](unsigned r) { return r < item.rows && see_alike(seen_of(r), seen_of(leader), begin, end); };
    const unsigned length = end - begin, interval = p.two_level != 0 && p.interval != 0 ? p.interval : length;
    for (unsigned first = 0; first < length; first += interval) {
      const unsigned last = first + interval < length ? first + interval : length;
      Traits::PvUnit::run(
          p.pv, Operands<Code>{work.codes, work.operand, kMaxTile, kMaxTile, item.rows, p.value_dim, first, last}, active,
          [&](unsigned r, unsigned d) { return p.two_level != 0 ? 0u : static_cast<std::uint32_t>(work.O[r * kMaxDim + d]); },
          [&](unsigned r, unsigned d, std::uint32_t word) {
            const unsigned i = r * kMaxDim + d;
            const float partial = p.pv.f16_output != 0 ? float_of_half(static_cast<std::uint16_t>(word)) : float_of(word);
            work.O[i] = p.two_level != 0 ? word_of(float_of(work.O[i]) + partial) : word;
          });
    }
    if (kFault != kMissingBarrier) __syncthreads();
  }
}

/// One part of an item.
template <class Traits, int kFault>
HALFULP_DEVICE void run_item(const AttentionPlan& p, const typename Traits::Cache& cache, const AttentionInputs<typename Traits::Code>& in,
                             const Item& item, const Work<typename Traits::Code>& work, const StageBuffers& out, const PartBuffers& parts) {
  using Code = typename Traits::Code;
  const unsigned lane = threadIdx.x % 8;
  Row row;
  row.index = threadIdx.x / 8;
  row.exists = row.index < item.rows;
  row.row = item.first_row + (row.exists ? row.index : 0);
  row.L = in.logit_scale[row.row / p.queries];
  row.seen = seen_keys(p, row.row % p.queries);
  row.m = kMinusInfinity;
  row.l = 0;
  if (item.part == 0 && p.has_sink != 0) {
    row.m = in.sink[row.row / p.queries];
    if (lane == 0) row.l = attention::exp2_p6(attention::detail::fused(row.m, row.L, attention::detail::fused(-row.m, row.L, p.offset)));
  }
  for (unsigned i = threadIdx.x; i < kRows * kMaxDim; i += blockDim.x) {
    const unsigned r = i / kMaxDim, c = i % kMaxDim;
    work.queries[i] = r < item.rows && c < p.head_dim ? in.q[static_cast<std::size_t>(item.first_row + r) * p.head_dim + c] : Code{0};
  }
  for (unsigned d = lane; d < kMaxDim; d += 8) work.O[row.index * kMaxDim + d] = 0u;

  const unsigned part_begin = item.part * p.part_keys(), part_end = part_begin + p.part_keys() < p.keys ? part_begin + p.part_keys() : p.keys;
  const unsigned tiles = (part_end - part_begin + p.tile - 1) / p.tile, first_tile = item.part * (p.part_keys() / p.tile);
  for (unsigned i = 0; i < tiles; ++i) {
    const unsigned begin = part_begin + (p.descending != 0 ? tiles - 1 - i : i) * p.tile, end = begin + p.tile < part_end ? begin + p.tile : part_end;
    const unsigned n = end - begin, tile = first_tile + i;
    load_keys<Traits, kFault>(p, cache, item, begin, end, work);
    fence_shared_for_matrix_unit();
    __syncthreads();
    Traits::QkUnit::run(
        p.qk, Operands<Code>{work.queries, work.operand, kMaxDim, kMaxDim, item.rows, n, 0, p.head_dim}, [&](unsigned r) { return r < item.rows; },
        [](unsigned, unsigned) { return 0u; },
        [&](unsigned r, unsigned k, std::uint32_t word) {
          work.weights[r * kMaxTile + k] = p.qk.scheme == kIntegerProduct ? static_cast<float>(static_cast<std::int32_t>(word)) : float_of(word);
        });
    __syncthreads();
    new_maximum<kFault>(p, row, begin, n, tile, work, out);
    weigh<kFault>(p, row, begin, n, tile, work, out);
    add_values<Traits, kFault>(p, cache, item, begin, end, work);
    for (unsigned d = lane; d < p.value_dim && row.exists; d += 8) {
      out.O_tile[(static_cast<std::size_t>(row.row) * p.tiles() + tile) * p.value_dim + d] = work.O[row.index * kMaxDim + d];
    }
  }
  const unsigned first_lane = threadIdx.x % 32 / 8 * 8;
  float l[4];
  for (unsigned j = 0; j < 4; ++j) l[j] = __shfl_sync(0xffffffffu, row.l, static_cast<int>(first_lane + j));
  if (!row.exists) return;
  const std::size_t at = static_cast<std::size_t>(row.row) * p.parts() + item.part;
  for (unsigned d = lane; d < p.value_dim; d += 8) parts.O[at * p.value_dim + d] = work.O[row.index * kMaxDim + d];
  if (lane != 0) return;
  const float even = one_nan(l[0] + l[2]), odd = one_nan(l[1] + l[3]);
  parts.m[at] = word_of(row.m);
  parts.sum[at] = word_of(p.lanes == 1 ? l[0] : one_nan(even + odd));
}

/// kAttentionThreads threads; any number of blocks. Traits: Code, Cache, QkUnit, PvUnit. Fills every stage but the last ones.
template <class Traits, int kFault = kNoFault>
HALFULP_KERNEL attention_parts(AttentionPlan p, typename Traits::Cache cache, AttentionInputs<typename Traits::Code> in, StageBuffers out,
                               PartBuffers parts) {
  using Code = typename Traits::Code;
  HALFULP_SHARED(Code, queries, kRows * kMaxDim);
  HALFULP_SHARED(Code, operand, kMaxTile * kMaxDim);
  HALFULP_SHARED(Code, codes, kRows * kMaxTile);
  HALFULP_SHARED(float, weights, kRows * kMaxTile);
  HALFULP_SHARED(std::uint32_t, sums, kRows * kMaxDim);
  const Work<Code> work{queries, operand, codes, weights, sums};
  for (unsigned i = blockIdx.x; i < p.items(); i += gridDim.x) {
    run_item<Traits, kFault>(p, cache, in, item_of(p, i), work, out, parts);
    __syncthreads();
  }
}

/// Joins the parts of a row, ascending, and ends it (step 11). A part that saw nothing adds nothing.
template <int kFault>
HALFULP_DEVICE void join_parts(const AttentionPlan& p, const In<float>& logit_scale, const In<float>& v_scale, const In<std::uint32_t>& part_m,
                               const In<std::uint32_t>& part_sum, const In<std::uint32_t>& part_O, const StageBuffers& out) {
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < static_cast<std::size_t>(p.rows()) * p.value_dim;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const std::size_t row = i / p.value_dim, d = i % p.value_dim, first = row * p.parts();
    const float L = logit_scale[row / p.queries];
    float m = float_of(part_m[first]), sum = float_of(part_sum[first]);
    std::uint32_t O = part_O[first * p.value_dim + d];
    for (std::size_t part = first + 1; part < first + p.parts(); ++part) {
      const float part_max = float_of(part_m[part]);
      float other_sum = float_of(part_sum[part]);
      std::uint32_t other_O = part_O[part * p.value_dim + d];
      if (kFault != kEmptyPart && part_max == kMinusInfinity) continue;
      if (kFault != kEmptyPart && m == kMinusInfinity) {
        m = part_max;
        sum = other_sum;
        O = other_O;
        continue;
      }
      const bool nan = part_max != part_max || m != m;
      const float to = nan ? float_of(kNanWord) : part_max > m ? part_max : m;
      if (word_of(m) != word_of(to)) {
        const float alpha = rescale_factor(m, to, L);
        sum = one_nan(sum * alpha);
        O = times(O, alpha);
      }
      if (word_of(part_max) != word_of(to)) {
        const float alpha = rescale_factor(part_max, to, L);
        other_sum = one_nan(other_sum * alpha);
        other_O = times(other_O, alpha);
      }
      m = to;
      sum = one_nan(sum + other_sum);
      O = word_of(float_of(O) + float_of(other_O));
    }
    const float inverse = sum == 0 ? 0.0f : 1.0f / sum;
    const float factor = inverse * v_scale[row / p.rows_per_kv_head() * p.value_dim + d];
    const float result = float_of(O) * factor;
    out.O[i] = p.out.width == 32 ? word_of(result) : cast_word(word_of(result), p.out);
    if (d != 0) continue;
    out.L[row] = word_of(L);
    out.row_sum[row] = word_of(sum);
    out.m_last[row] = word_of(m);
  }
}

/// Any number of blocks and threads.
HALFULP_KERNEL attention_combine(AttentionPlan p, In<float> logit_scale, In<float> v_scale, In<std::uint32_t> part_m,
                                 In<std::uint32_t> part_sum, In<std::uint32_t> part_O, StageBuffers out) {
  join_parts<kNoFault>(p, logit_scale, v_scale, part_m, part_sum, part_O, out);
}

}  // namespace halfulp::gpu
