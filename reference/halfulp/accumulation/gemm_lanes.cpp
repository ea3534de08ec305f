// Packs tiles for the vector kernels (fused_kernel.cpp), and gives the scalar engine what they leave.
//
// Nothing here decides a bit: what the kernels cannot do exactly they name, and it goes to the engine's own chunk.
#include <algorithm>
#include <array>
#include <bit>

#include "halfulp/accumulation/detail/gemm_tile.hpp"
#include "halfulp/accumulation/detail/lane_packing.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/detail/float_modes.hpp"

namespace halfulp::accumulation::detail {
namespace {

/// The rows of a block times one panel of B.
template <class Lane>
class Tile {
 public:
  static constexpr bool k16 = sizeof(Lane) == 2;

  Tile(const LaneRun<Lane>& lanes, std::size_t column, std::size_t column_end, std::uint32_t* d)
      : lanes_(lanes), run_(lanes.run), first_row_(lanes.rows.first), row_end_(lanes.rows.end), column_(column), column_end_(column_end), d_(d) {}

  void run() {
    const halfulp::detail::DefaultFloatModes modes;
    pack_panel();
    const std::size_t rows = row_end_ - first_row_;
    accumulator_.assign(rows * kPanel, 0.0f);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t j = column_; j < column_end_; ++j) accumulator_[r * kPanel + j - column_] = std::bit_cast<float>(run_.c_of(first_row_ + r, j));
    }
    sums_ = accumulator_;
    for (std::size_t piece = 0; piece < run_.pieces.size(); ++piece) {
      if (run_.from_zero) std::fill(sums_.begin(), sums_.end(), 0.0f);
      run_piece(run_.pieces[piece]);
      if (run_.from_zero) promote(piece);
    }
    write(run_.from_zero ? accumulator_ : sums_);
  }

 private:
  std::size_t slots() const { return lanes_.slots(); }

  void pack_panel() {
    panel_.resize(3 * slots() * kPanel);
    Lane* exponent = panel_.data();
    Lane* magnitude = exponent + slots() * kPanel;
    Lane* sign = magnitude + slots() * kPanel;
    const std::vector<std::int32_t> none(kStretch, -1);
    LaneOperand<Lane> operands[kStretch];
    for (std::size_t begin = 0; begin < slots(); begin += kStretch) {
      const std::size_t count = std::min(kStretch, slots() - begin);
      for (std::size_t j = 0; j < kPanel; ++j) {
        const bool real = column_ + j < column_end_;
        const std::byte* words = run_.problem.b.words.data() + (real ? column_ + j : column_) * run_.problem.b.k * run_.b_bytes;
        lanes_.decode_b(words, run_.b_bytes, real ? run_.source.data() + begin : none.data(), count, operands);
        std::uint8_t special = 0;
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t s = begin + i, at = k16 ? (s / 2 * kPanel + j) * 2 + s % 2 : s * kPanel + j;
          exponent[at] = operands[i].exponent;
          magnitude[at] = operands[i].magnitude;
          sign[at] = operands[i].sign;
          special |= operands[i].special;
        }
        if (special != 0) special_columns_ |= 1u << j;
      }
    }
    for (std::size_t j = 0; j < kPanel && run_.plan.spec.model.scale.block != 0; ++j) {
      panel_scale_.resize(run_.blocks * kPanel);
      for (std::size_t i = 0; column_ + j < column_end_ && i < run_.blocks; ++i) {
        const EngineOperand scale = run_.plan.scale(run_.scales_of_b(column_ + j)[i]);
        panel_scale_[i * kPanel + j] = scale.exponent;
        if (scale.kind != OperandKind::finite) special_columns_ |= 1u << j;
      }
    }
  }

  struct SlowContext {
    Tile* tile;
    std::size_t row;
    std::size_t first_chunk;
  };

  void run_piece(const GemmRun::Piece& piece) {
    const MmaSpec& spec = run_.plan.spec;
    const LaneConstants constants = {run_.chunk, spec.model.fraction_bits, spec.model.f32_fraction_bits, std::max(run_.plan.floor, -60000),
                                     run_.plan.zero_exponent};
    const std::size_t slice = std::max<std::size_t>(1, (k16 ? 256 : 128) / static_cast<std::size_t>(run_.chunk));  // stays in the first cache
    for (std::size_t done = 0; done < piece.chunks; done += slice) {
      const std::size_t chunks = std::min(slice, piece.chunks - done), first = piece.first_chunk + done;
      const std::size_t slot = first * static_cast<std::size_t>(run_.chunk), plane = slots() * kPanel;
      const PackedPanel<Lane> panel = {panel_.data() + slot * kPanel, panel_.data() + plane + slot * kPanel, panel_.data() + 2 * plane + slot * kPanel};
      const std::size_t rows = row_end_ - first_row_;
      for (std::size_t r = 0; r < rows;) {
        SlowContext context = {this, r, first};
        const SlowLanes slow = {&context, redo};
        if constexpr (k16) {
          const std::size_t together = rows - r >= kRowsTogether ? kRowsTogether : 1;
          PackedRow<Lane> packed[kRowsTogether];
          for (std::size_t i = 0; i < together; ++i) packed[i] = packed_row(r + i, slot);
          run_lanes16(constants, chunks, packed, together, panel, &sums_[r * kPanel], slow);
          r += together;
        } else {
          run_lanes32(constants, chunks, packed_row(r, slot), panel, scale_lanes(r, first, chunks), &sums_[r * kPanel], slow);
          ++r;
        }
      }
    }
  }

  PackedRow<Lane> packed_row(std::size_t r, std::size_t slot) const {
    const Lane* lanes = lanes_.rows.lanes.data() + 3 * slots() * r + slot;
    return {lanes, lanes + slots(), lanes + 2 * slots()};
  }

  /// Exponents of both scales for the chunks of a slice; null without scales.
  const std::int32_t* scale_lanes(std::size_t r, std::size_t first, std::size_t chunks) {
    if (run_.plan.spec.model.scale.block == 0) return nullptr;
    scale_.resize(chunks * kPanel);
    for (std::size_t i = 0; i < chunks; ++i) {
      const std::int32_t a = run_.plan.scale(run_.scales_of_a(first_row_ + r)[first + i]).exponent;
      for (std::size_t j = 0; j < kPanel; ++j) scale_[i * kPanel + j] = a + panel_scale_[(first + i) * kPanel + j];
    }
    return scale_.data();
  }

  static void redo(void* context, std::size_t chunk, std::size_t of_rows, std::uint32_t lanes, const float* c, float* results) {
    const auto& x = *static_cast<const SlowContext*>(context);
    const Tile& tile = *x.tile;
    const std::size_t row = tile.first_row_ + x.row + of_rows, block = x.first_chunk + chunk, slot = block * static_cast<std::size_t>(tile.run_.chunk);
    std::array<EngineOperand, 64> a, b;
    for (; lanes != 0; lanes &= lanes - 1) {
      const auto j = static_cast<std::size_t>(std::countr_zero(lanes));
      if (tile.column_ + j >= tile.column_end_) continue;
      std::size_t count = 0;
      for (std::size_t s = slot; s < slot + static_cast<std::size_t>(tile.run_.chunk); ++s) {
        if (tile.run_.source[s] < 0) continue;
        const auto k = static_cast<std::size_t>(tile.run_.source[s]);
        a[count] = tile.run_.plan.a(tile.run_.a_word(row, k));
        b[count++] = tile.run_.plan.b(tile.run_.b_word(tile.column_ + j, k));
      }
      const std::size_t scales = tile.run_.plan.spec.model.scale.block == 0 ? 0 : block;
      const ChunkOperands operands = {a.data(), b.data(), count, tile.run_.scales_of_a(row) + scales, tile.run_.scales_of_b(tile.column_ + j) + scales};
      results[j] = std::bit_cast<float>(fused_unit(tile.run_.plan, operands, std::bit_cast<std::uint32_t>(c[j])));
    }
  }

  void promote(std::size_t piece) {
    const bool scaled = run_.plan.spec.scale_order != ScaleOrder::none;
    for (std::size_t r = 0; r < row_end_ - first_row_; ++r) {
      float *acc = &accumulator_[r * kPanel], *sums = &sums_[r * kPanel];
      if (!scaled) {
        for (std::size_t j = 0; j < kPanel; ++j) acc[j] += sums[j];
        continue;
      }
      for (std::size_t j = 0; j < column_end_ - column_; ++j) {
        acc[j] = std::bit_cast<float>(promoted(run_.plan.spec, std::bit_cast<std::uint32_t>(acc[j]), std::bit_cast<std::uint32_t>(sums[j]),
                                               run_.scales_of_a(first_row_ + r) + piece, run_.scales_of_b(column_ + j) + piece));
      }
    }
  }

  void write(const std::vector<float>& results) {
    const std::size_t n = run_.problem.b.rows;
    for (std::size_t r = 0; r < row_end_ - first_row_; ++r) {
      for (std::size_t j = column_; j < column_end_; ++j) {
        const float x = results[r * kPanel + j - column_];
        d_[(first_row_ + r) * n + j] = x != x ? kNanF32 : std::bit_cast<std::uint32_t>(x);
      }
      if (lanes_.rows.special[r] != 0) scalar_tile(run_, first_row_ + r, first_row_ + r + 1, column_, column_end_, d_);
    }
    for (std::size_t j = column_; j < column_end_; ++j) {
      if ((special_columns_ >> (j - column_) & 1) != 0) scalar_tile(run_, first_row_, row_end_, j, j + 1, d_);
    }
  }

  const LaneRun<Lane>& lanes_;
  const GemmRun& run_;
  std::size_t first_row_, row_end_, column_, column_end_;
  std::uint32_t* d_;
  std::vector<Lane> panel_;
  std::vector<std::int32_t> panel_scale_, scale_;
  std::vector<float> accumulator_, sums_;
  std::uint32_t special_columns_ = 0;
};

}  // namespace

Lanes lanes_for(const EnginePlan& plan) {
  const MmaSpec& spec = plan.spec;
  const AccumulationModel& model = spec.model;
  const bool halves = model.scheme == Scheme::widened_halves && spec.interval == 0;
  if (!has_lanes() || spec.output != Output::f32 || !(model.scheme == Scheme::fused || halves)) return Lanes::none;
  if (model.chunk % 2 != 0 || model.chunk > 64 || model.f32_fraction_bits > 23) return Lanes::none;
  const bool narrow = spec.a.width <= 8 && spec.b.width <= 8;
  if (narrow && !halves && model.fraction_bits <= 13 && model.scale.block == 0) return Lanes::bits16;
  const int wide = std::max(spec.a.fraction_bits, spec.b.fraction_bits);
  return model.fraction_bits <= 25 && wide <= 10 && model.fraction_bits >= 20 ? Lanes::bits32 : Lanes::none;
}

GemmRun::GemmRun(const GemmProblem& p, const EnginePlan& pl)
    : problem(p), plan(pl), a_bytes(static_cast<std::size_t>(p.spec.a.storage_bytes())),
      b_bytes(static_cast<std::size_t>(p.spec.b.storage_bytes())), lanes(lanes_for(pl)) {
  const auto block = static_cast<std::size_t>(scale_block(p.spec));
  const std::size_t k = p.a.k;
  blocks = block == 0 ? 0 : (k + block - 1) / block;
  if (lanes == Lanes::none) return;
  const bool halves = p.spec.model.scheme == Scheme::widened_halves;
  chunk = halves ? 16 : p.spec.model.chunk;
  from_zero = halves || p.spec.interval != 0;
  const std::size_t length = halves ? 32 : p.spec.interval != 0 ? static_cast<std::size_t>(p.spec.interval) : std::max<std::size_t>(k, 1);
  const auto n = static_cast<std::size_t>(chunk);
  for (std::size_t first = 0; first < k; first += length) {
    const std::size_t count = std::min(length, k - first), begin = source.size();
    if (halves) {
      for (const bool second : {false, true}) {
        for (std::size_t i = 0; i < count; ++i) {
          if ((i % 4 >= 2) == second) source.push_back(static_cast<std::int32_t>(first + i));
        }
        source.resize(begin + (second ? 32 : 16), -1);
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) source.push_back(static_cast<std::int32_t>(first + i));
      source.resize((source.size() + n - 1) / n * n, -1);
    }
    pieces.push_back({begin / n, (source.size() - begin) / n});
  }
  if (k == 0) lanes = Lanes::none;
}

namespace {

template <class Lane>
void run_in_lanes(const GemmRun& run, int threads, const std::function<void(std::size_t)>& tick, std::uint32_t* d) {
  constexpr std::size_t kRows = 1024, kRowsPerTask = 16;
  const std::size_t m = run.problem.a.rows, n = run.problem.b.rows;
  LaneRun<Lane> lanes(run);
  for (std::size_t first = 0; first < m; first += kRows) {
    const std::size_t rows = std::min(kRows, m - first);
    lanes.start_block(first, first + rows);
    for_each_task((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](std::size_t i) {
      for (std::size_t r = i * kRowsPerTask; r < std::min((i + 1) * kRowsPerTask, rows); ++r) lanes.pack_row(r);
    });
    for_each_task((n + kPanel - 1) / kPanel, threads, [&](std::size_t i) {
      const std::size_t column = i * kPanel, column_end = std::min(column + kPanel, n);
      Tile<Lane>(lanes, column, column_end, d).run();
      if (tick) tick(rows * (column_end - column));
    });
  }
}

}  // namespace

void lanes_gemm(const GemmRun& run, int threads, const std::function<void(std::size_t)>& tick, std::uint32_t* d) {
  if (run.lanes == Lanes::bits16) run_in_lanes<std::int16_t>(run, threads, tick, d);
  else run_in_lanes<std::int32_t>(run, threads, tick, d);
}

}  // namespace halfulp::accumulation::detail
