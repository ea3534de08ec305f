// RowBlock: the steps of the reference kernel on a block of query rows. Private to the kernel.
//
// The steps are numbered as in docs/attention.md: those of a tile are in row_block.cpp, parts and the end in row_block_parts.cpp.
#pragma once

#include <bit>
#include <limits>
#include <span>
#include <vector>

#include "halfulp/attention/detail/kernel_plan.hpp"
#include "halfulp/attention/exp2.hpp"
#include "halfulp/attention/kernel.hpp"

namespace halfulp::attention::detail {

using Word = std::uint32_t;

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
inline constexpr float kNanValue = std::bit_cast<float>(kNan);

/// A result of an operation: all NaNs are one.
inline float value(float x) { return x != x ? kNanValue : x; }
inline Word word(float x) { return x != x ? kNan : std::bit_cast<Word>(x); }

/// exp2 of the distance from one maximum to another: the factor of step 8.
inline float rescale_factor(float from, float to, float L) {
  const float distance = from - to;
  return exp2_p6(distance * L);
}

/// Rows [first, first + count) of all query rows, which share a KV head.
class RowBlock {
 public:
  RowBlock(const KernelPlan& plan, std::size_t first, std::size_t count, Keep keep, Stages& stages);
  void run();

 private:
  std::size_t head_of(std::size_t r) const { return (first_ + r) / shape_.queries; }

  // A tile.
  void one_tile(const Tile& keys, std::size_t tile);
  void read_scores(const Tile& keys);
  void weights(std::size_t r, const Tile& keys, std::size_t tile);
  void cast_weights();
  void add_row_sum(std::size_t r, const Tile& keys);
  void products(const Tile& keys);
  std::span<const std::byte> masked_values(const Piece& piece, const Visible& visible);
  void product_of(const std::vector<std::size_t>& rows, const Piece& piece, std::size_t stride, std::size_t offset,
                  std::span<const std::byte> V);
  void keep_tile(const Tile& keys, std::size_t tile);

  // Parts, and the end.
  void start(bool first_part);
  void add_lanes();
  void keep_first();
  void combine();
  void bring_to(float m, float L, float from, float& sum, Word* O) const;
  void finish();

  const KernelPlan& plan_;
  const KernelSpec& spec_;
  const Shape& shape_;
  Stages& stages_;
  std::size_t first_, count_;
  bool keep_;
  std::size_t kv_head_, lanes_;
  std::vector<float> L_;
  std::vector<Visible> visible_;
  Piece scored_ = {0, 0};  ///< keys whose scores are in scores_
  std::vector<float> scores_, S_, t_, P_, scaled_;
  CodeBuffer codes_, gathered_, masked_;
  std::vector<float> m_, l_, sum_, total_m_, total_sum_;
  std::vector<Word> O_, total_O_, c_;
};

}  // namespace halfulp::attention::detail
