// What every block of rows shares: engines, casts, tensors packed for the vector kernels. Private to the kernel.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "halfulp/accumulation/engine.hpp"
#include "halfulp/attention/kernel_spec.hpp"
#include "halfulp/attention/problem.hpp"
#include "halfulp/batch.hpp"

namespace halfulp::attention::detail {

/// Container words of 1, 2 or 4 bytes: what casts write and products read.
class CodeBuffer {
 public:
  void resize(const FormatSpec& format, std::size_t count);
  /// `count` words from `first` on, as gemm wants them.
  std::span<const std::byte> bytes(std::size_t first, std::size_t count) const;
  std::uint32_t operator[](std::size_t i) const;
  void set(std::size_t i, std::uint32_t word);
  /// Words [first, first + count) of a buffer of the same format, to `at`.
  void copy(const CodeBuffer& from, std::size_t first, std::size_t count, std::size_t at);
  /// Casts floats to words [0, x.size()). The caster's formats must be f32 and that of resize().
  void cast(const BatchCaster& caster, std::span<const float> x);

 private:
  std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>, std::vector<std::uint32_t>> words_;
};

/// Keys [begin, end) that one PV product takes from zero or from O.
struct Piece {
  std::size_t begin, end;
};

/// A tile: keys, and its pieces.
struct Tile {
  std::size_t begin, end;
  std::vector<Piece> pieces;
};

/// The keys that a row sees among [0, keys): [first, last) and [0, prefix).
struct Visible {
  std::size_t first, last, prefix;
  bool operator()(std::size_t key) const { return (key >= first && key < last) || key < prefix; }
  /// The seen keys of [begin, end): at most two stretches, the first one before the second; they may be empty.
  struct Stretches {
    std::size_t begin[2], end[2];
    std::size_t count() const { return end[0] - begin[0] + end[1] - begin[1]; }
  };
  Stretches among(std::size_t begin, std::size_t end) const;
};
Visible visible_keys(const KernelSpec& spec, const Shape& shape, std::size_t query);

struct KernelPlan {
  /// Throws InputError where the spec is not valid or the problem does not fit (kernel_plan.cpp says how).
  KernelPlan(const KernelSpec& spec, const Problem& problem);

  /// S of rows [row, row + rows) with keys [begin, end) of their KV head: float32, rows x keys.
  void scores(std::size_t kv_head, std::size_t row, std::size_t rows, std::size_t begin, std::size_t end, float* S) const;
  /// PV of `rows` rows of P codes (rows x piece): from c in words of the PV output, or from zero where c is empty. `V`: the packed
  /// values of the piece, value_dim x keys.
  std::vector<std::uint32_t> product(std::span<const std::byte> P, std::size_t rows, std::span<const std::byte> V, std::size_t keys,
                                     std::span<const std::uint32_t> c) const;
  std::span<const std::byte> values(std::size_t kv_head, const Piece& piece) const;

  /// The number that a P code stands for.
  float p_value(std::uint32_t code) const { return p_values_.empty() ? std::bit_cast<float>(code) : p_values_[code]; }
  /// A PV sum as a float32.
  float partial_value(std::uint32_t word) const;
  /// Results as codes of the output format.
  void cast_output(std::span<const float> x, std::uint32_t* codes) const;

  float L(std::size_t head) const;
  float value_scale(std::size_t kv_head, std::size_t d) const;
  /// Rows of one KV head: its query heads stand side by side.
  std::size_t rows_per_kv_head() const { return problem.shape.query_heads / problem.shape.kv_heads * problem.shape.queries; }
  std::size_t parts() const { return part_tiles.size(); }

  const KernelSpec& spec;
  const Problem& problem;
  accumulation::Engine qk, pv;
  FormatSpec p_format, out_format;
  BatchCaster to_p, to_out;
  std::vector<std::vector<Tile>> part_tiles;  ///< parts ascending, tiles in processing order
  std::size_t tiles = 0;

 private:
  std::vector<float> p_values_;  ///< of codes, where codes are summed; empty: float32 bits
  CodeBuffer q_, k_, v_;  ///< v_: [KV head][piece in key order][value_dim][key of the piece]
};

/// t = fma(S, L, b) and P = exp2_p6(t), element by element; the bits do not depend on the SIMD level (exponents.cpp).
void exponentials(const float* S, std::size_t count, float L, float b, float* t, float* P);

/// A float32 result as a word: every NaN is 0x7fffffff.
inline constexpr std::uint32_t kNan = 0x7fffffff;

}  // namespace halfulp::attention::detail
