// Packing orders and scale layouts: tables made by hand, rows from fault reports (data/block.json), round
// trips.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/packing.hpp"
#include "halfulp/scale_layout.hpp"

namespace halfulp {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Codes = std::vector<std::uint32_t>;
using nlohmann::json;

Bytes packed(Packing packing, int width, const Codes& codes) {
  Bytes bytes(packed_bytes(packing, width, codes.size()), 0xa5);
  pack<std::uint32_t>(packing, width, codes, bytes);
  return bytes;
}

Codes unpacked(Packing packing, int width, const Bytes& bytes, std::size_t count) {
  Codes codes(count);
  unpack<std::uint32_t>(packing, width, bytes, codes);
  return codes;
}

TEST(Packing, TablesMadeByHand) {
  const struct {
    Packing packing;
    int width;
    Codes codes;
    Bytes bytes;
  } table[] = {
      {Packing::low_first, 4, {1, 2, 3}, {0x21, 0x03}},
      {Packing::high_first, 4, {1, 2, 3}, {0x12, 0x30}},
      {Packing::low_first, 2, {1, 2, 3, 0, 1}, {0b00111001, 0b01}},
      {Packing::high_first, 2, {1, 2, 3, 0, 1}, {0b01101100, 0b01000000}},
      {Packing::low_first, 1, {1, 0, 0, 0, 0, 0, 0, 1, 1}, {0x81, 0x01}},
      {Packing::low_first, 8, {0x12, 0x34}, {0x12, 0x34}},
      {Packing::byte_low_bits, 6, {0x3f, 0x01}, {0x3f, 0x01}},
      {Packing::dense, 6, {0x01, 0x02, 0x03, 0x3f}, {0x81, 0x30, 0xfc}},
      {Packing::dense, 6, {0x3f}, {0x3f}},
      {Packing::dense, 6, {0x3f, 0x3f}, {0xff, 0x0f}},
      {Packing::dense, 4, {1, 2, 3}, {0x21, 0x03}},
      {Packing::dense, 3, {7, 0, 7, 0, 7, 0, 7, 0}, {0xc7, 0x71, 0x1c}},
      {Packing::dense, 12, {0xabc, 0x123}, {0xbc, 0x3a, 0x12}},
      {Packing::dense, 9, {0x1ff, 0x000, 0x155}, {0xff, 0x01, 0x54, 0x05}},
      {Packing::int32_little, 4, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {0x21, 0x43, 0x65, 0x87, 0x09, 0, 0, 0}},
      {Packing::int32_little, 2, {3}, {3, 0, 0, 0}},
      {Packing::int32_little, 16, {0x1234, 0xabcd}, {0x34, 0x12, 0xcd, 0xab}},
      {Packing::ggml_half, 4, {7, 9}, {7, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
  };
  for (const auto& row : table) {
    EXPECT_EQ(packed(row.packing, row.width, row.codes), row.bytes)
        << packing_name(row.packing) << ' ' << row.width;
    EXPECT_EQ(unpacked(row.packing, row.width, row.bytes, row.codes.size()), row.codes)
        << packing_name(row.packing);
  }
}

TEST(Packing, EveryOrderWidthAndLengthSurvivesTheRoundTripAndUsesEachBitOnce) {
  int pairs = 0;
  for (const PackingName& row : kPackings) {
    EXPECT_EQ(find_packing(row.name), row.packing);
    for (int width = 1; width <= 16; ++width) {
      if (!packs(row.packing, width)) continue;
      ++pairs;
      const PackingUnit unit = packing_unit(row.packing, width);
      EXPECT_EQ(packed_bytes(row.packing, width, unit.codes), unit.bytes);
      for (std::size_t count = 0; count <= 70; ++count) {
        Codes codes(count);
        for (std::size_t i = 0; i < count; ++i)
          codes[i] = static_cast<std::uint32_t>((i * 40503 + 7) & low_mask(width));
        const Bytes bytes = packed(row.packing, width, codes);
        ASSERT_EQ(unpacked(row.packing, width, bytes, count), codes)
            << row.name << ' ' << width << ' ' << count;
        std::vector<bool> used(bytes.size() * 8);
        for (std::size_t i = 0; i < count; ++i) {
          for (int bit = 0; bit < width; ++bit) {
            const std::uint64_t at = packed_bit(row.packing, width, i) + static_cast<std::uint64_t>(bit);
            ASSERT_LT(at, used.size());
            ASSERT_FALSE(used[at]) << row.name << ' ' << width << ' ' << i;
            used[at] = true;
          }
        }
        for (std::size_t bit = 0; bit < used.size(); ++bit) {
          ASSERT_TRUE(used[bit] || (bytes[bit / 8] >> bit % 8 & 1) == 0) << "padding must be zero";
        }
      }
    }
  }
  EXPECT_EQ(pairs, 4 + 4 + 1 + 8 + 16 + 5);
}

TEST(Packing, UnpackingIgnoresTheBitsOfNoCode) {
  EXPECT_EQ(unpacked(Packing::low_first, 4, {0xf5}, 1), Codes{5});
  EXPECT_EQ(unpacked(Packing::byte_low_bits, 6, {0xff}, 1), Codes{0x3f});
  EXPECT_EQ(unpacked(Packing::int32_little, 8, {1, 0xff, 0xff, 0xff}, 1), Codes{1});
}

TEST(Packing, RunsAtCompileTime) {
  constexpr std::uint32_t third = [] {
    const std::uint8_t codes[] = {1, 2, 3, 4};
    std::uint8_t bytes[3] = {};
    pack<std::uint8_t>(Packing::dense, 6, codes, bytes);
    return read_bits(bytes, packed_bit(Packing::dense, 6, 2), 6);
  }();
  static_assert(third == 3);
}

TEST(Packing, WrongWidthsSizesAndCodesAreRefused) {
  const auto message = [](auto&& run) -> std::string {
    try {
      run();
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(message([] { packed(Packing::low_first, 8, {256}); }).find("does not fit 8 bits"),
            std::string::npos);
  EXPECT_NE(message([] { packed(Packing::ggml_half, 2, {1}); }).find("does not hold codes of 2 bits"),
            std::string::npos);
  EXPECT_NE(message([] { packed(Packing::dense, 17, {1}); }).find("does not hold codes of 17 bits"),
            std::string::npos);
  EXPECT_NE(message([] {
              unpacked(Packing::dense, 6, {1, 2}, 3);
            }).find("take 3 bytes, not 2"),
            std::string::npos);
  EXPECT_NE(message([] {
              unpacked(Packing::low_first, 4, {1, 2}, 2);
            }).find("take 1 bytes, not 2"),
            std::string::npos);
  EXPECT_NE(message([] {
              std::uint8_t code[1];
              unpack<std::uint8_t>(Packing::dense, 12, Bytes{1, 2}, code);
            }).find("do not fit their words"),
            std::string::npos);
  EXPECT_FALSE(find_packing("low-first"));
}

std::uint32_t number(const json& text) {
  return static_cast<std::uint32_t>(std::stoul(text.get<std::string>(), nullptr, 16));
}

template <class T>
std::vector<T> numbers(const json& list) {
  std::vector<T> out;
  for (const json& text : list) out.push_back(static_cast<T>(number(text)));
  return out;
}

std::map<std::string, json> pack_cases() {
  std::map<std::string, json> cases;
  const json file = json::parse(std::ifstream(std::string(HALFULP_SOURCE_DIR) + "/tests/data/block.json"));
  for (const json& row : file.at("cases")) {
    if (row.at("op") == "pack") cases[row.at("id")] = row;
  }
  return cases;
}

TEST(PackingCases, EveryReportedFaultIsAvoided) {
  const std::map<std::string, json> cases = pack_cases();
  ASSERT_EQ(cases.size(), 5u) << "a new row needs a check here";

  const json& scales = cases.at("block-A9-1");  // float scales to E8M0 bytes of one int32 word
  Codes codes;
  for (const std::uint32_t bits : numbers<std::uint32_t>(scales.at("input"))) {
    codes.push_back(
        static_cast<std::uint32_t>(cast(spec_of("f32"), bits, spec_of("e8m0"), CastPolicy{}).code));
  }
  const Bytes word = packed(Packing::int32_little, 8, codes);
  EXPECT_EQ(read_bits(word.data(), 0, 16) | read_bits(word.data(), 16, 16) << 16,
            number(scales.at("expected")));

  const json& ggml = cases.at("block-E1-1");
  const auto block = numbers<std::uint8_t>(ggml.at("input"));
  const auto expected = numbers<std::uint32_t>(ggml.at("expected"));
  EXPECT_EQ(unpacked(Packing::ggml_half, 4, block, 32), expected);
  EXPECT_EQ(packed(Packing::ggml_half, 4, expected), block);
  EXPECT_EQ(unpacked(Packing::low_first, 4, block, 32), numbers<std::uint32_t>(ggml.at("wrong")));

  const json& padding = cases.at("block-E3-1");
  const auto in = numbers<std::uint8_t>(padding.at("input").at("scales"));
  const ScaleGrid tiled{ScaleLayout::tile_128x4, padding.at("input").at("rows"),
                        padding.at("input").at("scale_columns")};
  Bytes buffer(tiled.stored(), 0xff), want(padding.at("expected").at("bytes").get<std::size_t>());
  for (const json& set : padding.at("expected").at("set"))
    want[set[0].get<std::size_t>()] = static_cast<std::uint8_t>(number(set[1]));
  store_scales<std::uint8_t>(tiled, in, buffer);
  EXPECT_EQ(buffer, want);

  const json& stride = cases.at("block-E5-1");
  const json& where = stride.at("input");
  const std::uint64_t k = where.at("k"), length = where.at("block");
  EXPECT_EQ((ScaleGrid{ScaleLayout::linear, 2, (k + length - 1) / length, 4}.offset(
                where.at("row"), where.at("scale_column"))),
            stride.at("expected").at("linear_padded_offset").get<std::uint64_t>());

  const json& swizzle = cases.at("block-E7-1");
  const ScaleGrid grid{ScaleLayout::tile_128x4, 256, 8}, row_major{ScaleLayout::linear, 256, 8};
  for (std::size_t i = 0; i < swizzle.at("input").size(); ++i) {
    const std::uint64_t m = swizzle.at("input")[i][0], c = swizzle.at("input")[i][1];
    EXPECT_EQ(grid.offset(m, c), swizzle.at("expected")[i].get<std::uint64_t>());
    EXPECT_EQ(row_major.offset(m, c), swizzle.at("wrong")[i].get<std::uint64_t>());
  }
}

}  // namespace
}  // namespace halfulp
