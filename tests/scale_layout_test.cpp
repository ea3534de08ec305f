// Scale layouts: offsets made by hand, permutations and their inverses, padding. Rows of fault reports:
// packing_test.cpp.
#include "halfulp/scale_layout.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace halfulp {
namespace {

TEST(ScaleLayout, NamesAreThoseOfTheEnumeration) {
  for (const ScaleLayoutName& row : kScaleLayouts) {
    EXPECT_EQ(find_scale_layout(row.name), row.layout);
    EXPECT_EQ(scale_layout_name(row.layout), row.name);
    const ScaleGrid one{row.layout, 1, 1};
    EXPECT_EQ(one.padded_rows(), row.row_tile) << row.name;
    EXPECT_EQ(one.padded_columns(), row.column_tile) << row.name;
  }
}

TEST(ScaleLayout, OffsetsMadeByHand) {
  const struct {
    ScaleGrid grid;
    std::uint64_t row, column, offset;
  } table[] = {
      {{ScaleLayout::linear, 3, 5}, 2, 1, 11},
      {{ScaleLayout::linear, 3, 5, 4}, 2, 1, 17},
      {{ScaleLayout::transposed, 3, 5}, 2, 1, 5},
      {{ScaleLayout::transposed, 3, 5, 4}, 2, 1, 6},
      {{ScaleLayout::tile_8x4, 9, 5}, 7, 3, 31},
      {{ScaleLayout::tile_8x4, 9, 5}, 0, 4, 32},
      {{ScaleLayout::tile_8x4, 9, 5}, 8, 0, 64},
      {{ScaleLayout::kv_4x4, 8, 8}, 0, 1, 4},  // second scale of the first quarter: after 4 tokens
      {{ScaleLayout::kv_4x4, 8, 8}, 1, 0, 1},  // token 1 beside token 0
      {{ScaleLayout::kv_4x4, 8, 8}, 0, 2, 8},  // second quarter: next stored row
      {{ScaleLayout::kv_4x4, 8, 8}, 7, 7, 63},
      {{ScaleLayout::sage_tile, 64, 8}, 16, 0, 4},
      {{ScaleLayout::sage_tile, 64, 8}, 1, 0, 16},
      {{ScaleLayout::sage_tile, 64, 8}, 63, 7, 511},
      {{ScaleLayout::sage_tile, 65, 8}, 64, 0, 512},
  };
  for (const auto& row : table) {
    EXPECT_EQ(row.grid.offset(row.row, row.column), row.offset)
        << scale_layout_name(row.grid.layout) << ' ' << row.row << ' ' << row.column;
  }
}

TEST(ScaleLayout, EveryLayoutIsAPermutationOfItsPaddedGridAndInvertsItself) {
  for (const ScaleLayoutName& name : kScaleLayouts) {
    for (const std::uint32_t multiple : {1u, 3u, 4u}) {
      for (const auto& [rows, columns] :
           {std::pair{0, 0}, {0, 3}, {1, 1}, {1, 4}, {3, 5}, {63, 7}, {65, 9}, {129, 6}, {260, 12}}) {
        const ScaleGrid grid{name.layout, static_cast<std::uint64_t>(rows),
                             static_cast<std::uint64_t>(columns), multiple};
        std::vector<bool> used(grid.stored());
        for (std::uint64_t m = 0; m < grid.padded_rows(); ++m) {
          for (std::uint64_t k = 0; k < grid.padded_columns(); ++k) {
            const std::uint64_t at = grid.offset(m, k);
            ASSERT_LT(at, used.size()) << name.name;
            ASSERT_FALSE(used[at]) << name.name;
            used[at] = true;
            ASSERT_EQ(grid.padded_position(at), (ScaleGrid::Position{m, k})) << name.name << ' ' << at;
          }
        }
        std::vector<std::uint16_t> scales(grid.rows * grid.columns), back(scales.size()),
            buffer(grid.stored());
        for (std::size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<std::uint16_t>(i + 1);
        store_scales<std::uint16_t>(grid, scales, buffer);
        std::uint64_t zeros = 0;
        for (std::uint64_t at = 0; at < buffer.size(); ++at) {
          zeros += buffer[at] == 0;
          ASSERT_EQ(buffer[at] == 0, grid.is_padding(grid.padded_position(at)));
          if (buffer[at] == 0) buffer[at] = 0xffff;  // what is read back must not depend on it
        }
        EXPECT_EQ(zeros, buffer.size() - scales.size());
        load_scales<std::uint16_t>(grid, buffer, back);
        EXPECT_EQ(back, scales) << name.name;
      }
    }
  }
}

TEST(ScaleLayout, WrongSizesAreRefused) {
  const struct {
    ScaleGrid grid;
    std::uint64_t row_major, buffer;
    const char* part;
  } table[] = {
      {{ScaleLayout::linear, 2, 2}, 3, 4, "scale layout 'linear': 2 rows x 2 columns are 4 scales, not 3"},
      {{ScaleLayout::tile_128x4, 2, 2}, 4, 4, "holds 512 scales with padding, not 4"},
      {{ScaleLayout::linear, 1ull << 40, 2}, 0, 0, "out of range"},
      {{ScaleLayout::linear, 1, 2, 0}, 2, 2, "out of range"},
  };
  for (const auto& row : table) {
    try {
      row.grid.check_sizes(row.row_major, row.buffer);
      ADD_FAILURE() << "accepted: " << row.part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(row.part), std::string::npos) << error.what();
    }
  }
  EXPECT_FALSE(find_scale_layout("128X4"));
}

}  // namespace
}  // namespace halfulp
