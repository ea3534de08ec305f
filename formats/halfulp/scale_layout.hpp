// Layouts of block scales: where in a buffer the scale of row m and scale column k lies, both ways, and the
// padding.
//
// The tensor has `rows` rows (M, or tokens) and `columns` scale columns (blocks along k: ceil(K / block)).
// Offsets count scales, not bytes; an E8M0 or UE4M3 scale is one byte. A consumer's result must not depend
// on the padding. Formulas: cuBLAS and CUTLASS block-scaled GEMM (128x4), TensorRT-LLM (8x4), vLLM's NVFP4
// KV cache (4x4_kv), SageAttention 3 (sage_tile), the FP8 block recipes of DeepGEMM and Transformer Engine
// (transposed).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "halfulp/config.hpp"
#include "halfulp/error.hpp"

namespace halfulp {

enum class ScaleLayout : std::uint8_t {
  linear,      ///< row-major; columns padded to a multiple
  tile_128x4,  ///< tiles of 128 rows x 4 columns; in a tile row m%32 first, then (m%128)/32, then the
               ///< column
  tile_8x4,    ///< tiles of 8 rows x 4 columns, row-major in the tile
  kv_4x4,  ///< 4 tokens x 4 scales transposed: 4 tokens' scales of one quarter of the head are neighbours
  sage_tile,   ///< tiles of 64 rows x 4 columns: row t%16 first, then t/16, then the column
  transposed,  ///< column-major; rows padded to a multiple
};

struct ScaleLayoutName {
  std::string_view name;
  ScaleLayout layout;
  std::uint32_t row_tile, column_tile;  ///< rows and columns are padded to multiples of these
  bool multiple_is_free;                ///< linear and transposed: ScaleGrid::multiple replaces one of them
};

inline constexpr auto kScaleLayouts = std::to_array<ScaleLayoutName>({
    {"linear", ScaleLayout::linear, 1, 1, true},
    {"128x4", ScaleLayout::tile_128x4, 128, 4, false},
    {"8x4", ScaleLayout::tile_8x4, 8, 4, false},
    {"4x4_kv", ScaleLayout::kv_4x4, 4, 4, false},
    {"sage_tile", ScaleLayout::sage_tile, 64, 4, false},
    {"transposed", ScaleLayout::transposed, 1, 1, true},
});

constexpr std::optional<ScaleLayout> find_scale_layout(std::string_view name) {
  for (const ScaleLayoutName& row : kScaleLayouts) {
    if (row.name == name) return row.layout;
  }
  return std::nullopt;
}

constexpr std::string_view scale_layout_name(ScaleLayout layout) {
  return kScaleLayouts[static_cast<std::size_t>(layout)].name;
}

/// Scales of a tensor in a layout. Requires rows and columns <= 2^31 and multiple 1..2^20, so that no
/// product overflows.
struct ScaleGrid {
  ScaleLayout layout = ScaleLayout::linear;
  std::uint64_t rows = 0, columns = 0;
  std::uint32_t multiple =
      1;  ///< linear: columns are padded to it; transposed: rows are (TMA needs 4); others: unused

  struct Position {
    std::uint64_t row, column;
    friend constexpr bool operator==(const Position&, const Position&) = default;
  };

  HALFULP_HD constexpr std::uint64_t padded_rows() const {
    const std::uint32_t tile = layout == ScaleLayout::transposed ? multiple : row_tile();
    return (rows + tile - 1) / tile * tile;
  }
  HALFULP_HD constexpr std::uint64_t padded_columns() const {
    const std::uint32_t tile = layout == ScaleLayout::linear ? multiple : column_tile();
    return (columns + tile - 1) / tile * tile;
  }
  /// Scales in the buffer, padding included.
  HALFULP_HD constexpr std::uint64_t stored() const { return padded_rows() * padded_columns(); }

  /// Offset of the scale of row m < padded_rows() and column k < padded_columns().
  HALFULP_HD constexpr std::uint64_t offset(std::uint64_t m, std::uint64_t k) const {
    const std::uint64_t width = padded_columns();
    switch (layout) {
      case ScaleLayout::linear: break;
      case ScaleLayout::tile_128x4:
        return ((m / 128) * (width / 4) + k / 4) * 512 + (m % 32) * 16 + (m % 128 / 32) * 4 + k % 4;
      case ScaleLayout::tile_8x4: return ((m / 8) * (width / 4) + k / 4) * 32 + (m % 8) * 4 + k % 4;
      case ScaleLayout::kv_4x4: {
        const std::uint64_t quarter = width / 4;
        return (m / 4 * 4 + k / quarter) * width + (k % quarter) * 4 + m % 4;
      }
      case ScaleLayout::sage_tile:
        return m / 64 * 64 * width + (k / 4) * 256 + (m % 16) * 16 + (m % 64 / 16) * 4 + k % 4;
      case ScaleLayout::transposed: return k * padded_rows() + m;
    }
    return m * width + k;
  }

  /// Row and column of the scale at `at` < stored(), padding included: the inverse of offset().
  HALFULP_HD constexpr Position padded_position(std::uint64_t at) const {
    const std::uint64_t width = padded_columns();
    switch (layout) {
      case ScaleLayout::linear: break;
      case ScaleLayout::tile_128x4: {
        const std::uint64_t tile = at / 512, in = at % 512;
        return {tile / (width / 4) * 128 + in % 16 / 4 * 32 + in / 16, tile % (width / 4) * 4 + in % 4};
      }
      case ScaleLayout::tile_8x4: {
        const std::uint64_t tile = at / 32, in = at % 32;
        return {tile / (width / 4) * 8 + in / 4, tile % (width / 4) * 4 + in % 4};
      }
      case ScaleLayout::kv_4x4: {
        const std::uint64_t row = at / width, column = at % width;
        return {row / 4 * 4 + column % 4, row % 4 * (width / 4) + column / 4};
      }
      case ScaleLayout::sage_tile: {
        const std::uint64_t in = at % (64 * width);
        return {at / (64 * width) * 64 + in % 16 / 4 * 16 + in % 256 / 16, in / 256 * 4 + in % 4};
      }
      case ScaleLayout::transposed: return {at % padded_rows(), at / padded_rows()};
    }
    return {at / width, at % width};
  }

  HALFULP_HD constexpr bool is_padding(Position p) const { return p.row >= rows || p.column >= columns; }

  /// Throws InputError when the sizes are out of range.
  constexpr void check() const {
    constexpr std::uint64_t kLargest = 1ull << 31;
    if (rows > kLargest || columns > kLargest || multiple < 1 || multiple > (1u << 20)) {
      throw InputError(name(),
                       std::to_string(rows) + " rows x " + std::to_string(columns) +
                           " columns with multiple " + std::to_string(multiple) + " is out of range",
                       "use sizes up to 2^31 and a multiple of 1 to 2^20");
    }
  }

  /// Throws InputError unless a row-major array has rows * columns scales and a buffer has stored().
  constexpr void check_sizes(std::uint64_t row_major, std::uint64_t buffer) const {
    check();
    if (row_major != rows * columns) {
      throw InputError(name(),
                       std::to_string(rows) + " rows x " + std::to_string(columns) + " columns are " +
                           std::to_string(rows * columns) + " scales, not " + std::to_string(row_major),
                       "give one scale per block");
    }
    if (buffer != stored()) {
      throw InputError(name(),
                       "the buffer holds " + std::to_string(stored()) + " scales with padding, not " +
                           std::to_string(buffer),
                       "give a buffer of that size");
    }
  }

 private:
  HALFULP_HD constexpr std::uint32_t row_tile() const {
    return layout == ScaleLayout::tile_128x4  ? 128
           : layout == ScaleLayout::tile_8x4  ? 8
           : layout == ScaleLayout::kv_4x4    ? 4
           : layout == ScaleLayout::sage_tile ? 64
                                              : 1;
  }
  HALFULP_HD constexpr std::uint32_t column_tile() const {
    return layout == ScaleLayout::linear || layout == ScaleLayout::transposed ? 1 : 4;
  }
  constexpr std::string name() const {
    return "scale layout '" + std::string(scale_layout_name(layout)) + "'";
  }
};

/// Lays row-major scales out; padding gets `fill`. Throws InputError for wrong sizes.
template <class T>
constexpr void store_scales(const ScaleGrid& grid, std::span<const T> scales, std::span<T> buffer,
                            T fill = T{}) {
  grid.check_sizes(scales.size(), buffer.size());
  for (T& scale : buffer) scale = fill;
  for (std::uint64_t m = 0; m < grid.rows; ++m) {
    for (std::uint64_t k = 0; k < grid.columns; ++k)
      buffer[grid.offset(m, k)] = scales[m * grid.columns + k];
  }
}

/// The row-major scales of a buffer; its padding is not read. Throws InputError for wrong sizes.
template <class T>
constexpr void load_scales(const ScaleGrid& grid, std::span<const T> buffer, std::span<T> scales) {
  grid.check_sizes(scales.size(), buffer.size());
  for (std::uint64_t m = 0; m < grid.rows; ++m) {
    for (std::uint64_t k = 0; k < grid.columns; ++k)
      scales[m * grid.columns + k] = buffer[grid.offset(m, k)];
  }
}

}  // namespace halfulp
