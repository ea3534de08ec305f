// Operands as the vector kernels want them, and the rows of A packed once for all panels of B. Private to gemm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
  }
  LaneOperand<Lane> operator()(std::uint32_t word) const { return table_.empty() ? decode(word) : table_[word]; }
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
    for (std::size_t s = 0; s < slots(); ++s) {
      const std::int32_t k = run.source[s];
      const LaneOperand<Lane> x = k < 0 ? decode_a.absent() : decode_a(run.a_word(rows.first + r, static_cast<std::size_t>(k)));
      exponent[s] = x.exponent;
      magnitude[s] = x.magnitude;
      sign[s] = x.sign;
      rows.special[r] |= x.special;
    }
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
