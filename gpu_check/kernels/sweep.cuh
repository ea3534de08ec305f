// The sweep: each thread takes runs of consecutive source codes in the order of their values, walks the threshold table once,
// casts every input in every lane, and compares in registers.
#pragma once

#include "gpu_check/digest.hpp"
#include "gpu_check/domain.hpp"
#include "gpu_check/kernels/casts.cuh"

namespace halfulp::gpu {

/// Which positions a sweep covers: run r is [start_r, start_r + length), start_r = r * stride or from a list.
struct Runs {
  std::uint64_t count = 0, length = 0, stride = 0;
  bool listed = false;
};

/// What a sweep counts, one unsigned 64-bit word each.
enum Count : unsigned { kInputs, kMismatches, kDigest, kSmallest, kLane0, kCounts = kLane0 + kMaxLanes };

/// The word in another lane beside `word`: word * odd + lane + 1 modulo any power of two from 16 on, so that no two lanes are equal and each
/// takes every word once.
HALFULP_DEVICE std::uint32_t partner(std::uint32_t word, int lane) {
  const std::uint32_t distance = static_cast<std::uint32_t>(lane) + 1;
  return word + distance * (word * 0x9e3779b0u + 1);
}

/// `word` in its lane, partners in the others.
HALFULP_DEVICE LaneWords words_around(std::uint32_t word, int lane, std::uint32_t word_mask) {
  LaneWords words;
  for (int other = 0; other < kMaxLanes; ++other) words.word[other] = other == lane ? word : partner(word, other) & word_mask;
  return words;
}

/// `tables`: one table per lane, `steps` entries each, padded with the last. Mismatching inputs not above `after` are left out
/// of counts[kSmallest], so that one launch after another finds them in ascending order; 2^64 - 1 takes part as "from the start".
template <CastMethod Method>
HALFULP_KERNEL sweep(DeviceCast d, Domain domain, Runs runs, In<std::uint64_t> starts, In<TableStep> tables, unsigned steps, std::uint64_t after,
                     Out<unsigned long long> counts) {
  const std::uint64_t threads = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  const std::uint32_t code_mask = d.code_bits >= 32 ? 0xffffffffu : (1u << d.code_bits) - 1;
  const std::uint32_t word_mask = static_cast<std::uint32_t>(low_mask(d.from.width));
  unsigned long long inputs = 0, mismatches = 0, digest = 0, smallest = ~0ull;
  unsigned long long wrong[kMaxLanes] = {};
  for (std::uint64_t run = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x; run < runs.count; run += threads) {
    const std::uint64_t begin = runs.listed ? starts[run] : run * runs.stride;
    const std::uint64_t end = begin + runs.length < domain.size() ? begin + runs.length : domain.size();
    unsigned at[kMaxLanes];
    for (int lane = 0; lane < d.lanes; ++lane) {  // the last step that begins at or before `begin`
      unsigned low = 0, high = steps;
      while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        (static_cast<TableStep>(tables[static_cast<unsigned>(lane) * steps + middle]).first <= begin ? low : high) = middle;
      }
      at[lane] = low;
    }
    for (std::uint64_t position = begin; position < end; ++position) {
      const std::uint32_t word = domain.word(position);
      bool any_wrong = false;
      for (int lane = 0; lane < d.lanes; ++lane) {
        while (at[lane] + 1 < steps && static_cast<TableStep>(tables[static_cast<unsigned>(lane) * steps + at[lane] + 1]).first <= position) ++at[lane];
        const std::uint32_t code = cast_lanes<Method>(d, words_around(word, lane, word_mask)) >> (d.code_bits * lane % 32) & code_mask;
        digest += digest_weight(code, static_cast<unsigned>(lane)) * digest_input(word);
        if (code == static_cast<TableStep>(tables[static_cast<unsigned>(lane) * steps + at[lane]]).code) continue;
        ++wrong[lane];
        any_wrong = true;
      }
      ++inputs;
      if (!any_wrong) continue;
      ++mismatches;
      if ((after == ~0ull || word > after) && word < smallest) smallest = word;
    }
  }
  atomicAdd(&counts[kInputs], inputs);
  atomicAdd(&counts[kMismatches], mismatches);
  atomicAdd(&counts[kDigest], digest);
  atomicMin(&counts[kSmallest], smallest);
  for (int lane = 0; lane < d.lanes; ++lane) atomicAdd(&counts[kLane0 + static_cast<unsigned>(lane)], wrong[lane]);
}

}  // namespace halfulp::gpu
