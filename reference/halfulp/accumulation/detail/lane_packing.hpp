// Operands as the vector kernels want them, and the rows of A packed once for all panels of B. Private to gemm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "halfulp/accumulation/detail/engine_plan.hpp"
#include "halfulp/accumulation/detail/fused_kernel.hpp"
#include "halfulp/accumulation/detail/gemm_tile.hpp"

namespace halfulp::accumulation::detail {

/// Bits of lift that magnitudes of A and of B take: their sum is F - places (and the kernel's extra).
struct Lift {
  int a, b;
};

template <class Lane>
struct LaneOperand {
  Lane exponent = kAbsentLane;
  Lane magnitude = 0;
  Lane sign = 0;
  std::uint8_t special = 0;  ///< NaN or Inf: the magnitude is 0
};

/// Operands of one side in lanes: `positive` and `negative` are what the kernel wants for signs.
template <class Lane>
class LaneDecoder {
 public:
  LaneDecoder(const OperandDecoder& operands, const FormatSpec& format, int lift, Lane positive, Lane negative)
      : operands_(operands), lift_(lift), positive_(positive), negative_(negative) {
    if (format.storage_bits() > 16) return;
    table_.resize(std::size_t{1} << format.storage_bits());
    for (std::size_t word = 0; word < table_.size(); ++word) table_[word] = decode(static_cast<std::uint32_t>(word));
    table_.push_back(absent());
  }
  /// Operands of some slots, each the k of a word in `words` (of `bytes` bytes), or -1: absent.
  void operator()(const std::byte* words, std::size_t bytes, const std::int32_t* slots, std::size_t count, LaneOperand<Lane>* out) const {
    const auto none = static_cast<std::uint32_t>(table_.size() - 1);
    if (bytes == 1) {
      for (std::size_t i = 0; i < count; ++i) out[i] = table_[slots[i] < 0 ? none : static_cast<std::uint32_t>(words[slots[i]])];
    } else if (bytes == 2) {
      for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t word = 0;
        if (slots[i] >= 0) std::memcpy(&word, words + 2 * static_cast<std::size_t>(slots[i]), 2);
        out[i] = table_[slots[i] < 0 ? none : word];
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t word = 0;
        if (slots[i] >= 0) std::memcpy(&word, words + 4 * static_cast<std::size_t>(slots[i]), 4);
        out[i] = slots[i] < 0 ? absent() : decode(word);
      }
    }
  }
  LaneOperand<Lane> absent() const { return {kAbsentLane, 0, positive_, 0}; }

 private:
  LaneOperand<Lane> decode(std::uint32_t word) const {
    const EngineOperand x = operands_(word);
    const std::int32_t magnitude = (x.significand < 0 ? -x.significand : x.significand) << lift_;
    const int exponent = x.exponent == kAbsentExponent ? kAbsentLane : x.exponent;
    return {static_cast<Lane>(exponent), static_cast<Lane>(magnitude), x.significand < 0 ? negative_ : positive_,
            static_cast<std::uint8_t>(x.kind != OperandKind::finite)};
  }

  const OperandDecoder& operands_;
  int lift_;
  Lane positive_, negative_;
  std::vector<LaneOperand<Lane>> table_;
};

/// Slots that are decoded together: what 16 columns of them write stays in the first cache.
inline constexpr std::size_t kStretch = 64;

/// Rows of A in lanes, for all panels of B.
template <class Lane>
struct RowBlock {
  std::size_t first = 0, end = 0;
  std::vector<Lane> lanes;             ///< three planes per row
  std::vector<std::uint8_t> special;   ///< the row has NaN or Inf
};

/// What all tiles of a run share in lanes of one width.
template <class Lane>
struct LaneRun {
  static constexpr bool k16 = sizeof(Lane) == 2;

  explicit LaneRun(const GemmRun& r)
      : run(r), lift(lift_of(r.plan)), decode_a(r.plan.a, r.plan.spec.a, lift.a, Lane{0}, k16 ? static_cast<Lane>(0xfffe) : static_cast<Lane>(-1)),
        decode_b(r.plan.b, r.plan.spec.b, lift.b, k16 ? Lane{1} : Lane{0}, static_cast<Lane>(-1)) {}

  static Lift lift_of(const EnginePlan& plan) {
    if (k16) return {plan.lift + lanes16_extra_lift(), 0};
    const int b = plan.spec.model.fraction_bits / 2 + 1 - plan.spec.b.fraction_bits;  // magnitudes of B below 2^14, of A below 2^15
    const int taken = std::clamp(b, 0, plan.lift);
    return {plan.lift - taken, taken};
  }
  std::size_t slots() const { return run.source.size(); }

  void start_block(std::size_t first, std::size_t end) {
    rows.first = first;
    rows.end = end;
    rows.lanes.resize(3 * slots() * (end - first));
    rows.special.assign(end - first, 0);
  }

  void pack_row(std::size_t r) {
    Lane* exponent = rows.lanes.data() + 3 * slots() * r;
    Lane* magnitude = exponent + slots();
    Lane* sign = magnitude + slots();
    const std::byte* words = run.problem.a.words.data() + (rows.first + r) * run.problem.a.k * run.a_bytes;
    LaneOperand<Lane> operands[kStretch];
    std::uint8_t special = 0;
    for (std::size_t begin = 0; begin < slots(); begin += kStretch) {
      const std::size_t count = std::min(kStretch, slots() - begin);
      decode_a(words, run.a_bytes, run.source.data() + begin, count, operands);
      for (std::size_t i = 0; i < count; ++i) {
        exponent[begin + i] = operands[i].exponent;
        magnitude[begin + i] = operands[i].magnitude;
        sign[begin + i] = operands[i].sign;
        special |= operands[i].special;
      }
    }
    rows.special[r] = special;
    for (std::size_t i = 0; run.plan.spec.model.scale.block != 0 && i < run.blocks; ++i) {
      if (run.plan.scale(run.scales_of_a(rows.first + r)[i]).kind != OperandKind::finite) rows.special[r] = 1;
    }
  }

  const GemmRun& run;
  Lift lift;
  LaneDecoder<Lane> decode_a, decode_b;
  RowBlock<Lane> rows;
};

}  // namespace halfulp::accumulation::detail
