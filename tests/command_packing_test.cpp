// `quantize --packing`: packed codes hold the same codes, and `dequantize` reads them back.
#include <gtest/gtest.h>

#include "command_runner.hpp"
#include "temporary_folder.hpp"

namespace {

using command::Result;
using command::run;
using halfulp::test::read_bytes;
using Folder = halfulp::test::TemporaryFolder;

/// bf16 words of some numbers, the same ones every time.
std::string numbers(std::size_t count) {
  std::string bytes;
  unsigned state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    bytes += static_cast<char>(state >> 24);
    bytes += static_cast<char>(((state >> 16) & 0x81) | 0x3e);  // either sign, 2^-3 to 2^1
  }
  return bytes;
}

void quantize(const Folder& folder, const std::string& recipe, const std::string& shape, const std::string& name,
              std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"quantize", "-r", recipe, "-i", folder / "x.bin", "--dtype", "bf16", "--shape", shape, "-o", folder / name};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Result result = run(arguments);
  ASSERT_EQ(result.status, 0) << recipe << " " << shape << ": " << result.error;
}

std::string values(const Folder& folder, const std::string& name) {
  const Result result = run({"dequantize", "-i", folder / name});
  EXPECT_EQ(result.status, 0) << result.error;
  return result.out;
}

/// Rows of codes of less than a byte, the first in the low bits, by the definition.
std::string low_first(const std::string& codes, std::size_t columns, int width) {
  std::string bytes;
  const auto each = static_cast<std::size_t>(8 / width);
  for (std::size_t row = 0; row < codes.size(); row += columns) {
    for (std::size_t i = 0; i < columns; i += each) {
      int byte = 0;
      for (std::size_t k = 0; k < each && i + k < columns; ++k) byte += codes[row + i + k] << (width * static_cast<int>(k));
      bytes += static_cast<char>(byte);
    }
  }
  return bytes;
}

TEST(Packing, codes_come_back_from_every_packing) {
  const Folder folder;
  halfulp::test::write_bytes(folder / "x.bin", numbers(6 * 35));
  struct Case {
    const char* recipe;
    std::vector<const char*> packings;
  };
  for (const Case& one : {Case{"mxfp4/ocp_floor", {"low_first", "high_first", "ggml_half", "byte_low_bits", "dense", "int32_little"}},
                          Case{"mxfp6/rceil", {"byte_low_bits", "dense"}}, Case{"nvfp4/torchao", {"low_first", "dense"}},
                          Case{"int_asym/zero_point", {"int32_little", "low_first"}}}) {
    for (const char* shape : {"6x35", "2x3x35", "210"}) {
      quantize(folder, one.recipe, shape, "plain");
      for (const std::string packing : one.packings) {
        for (const std::string form : {"packed", "packed.npz", "packed.safetensors"}) {
          if (form != "packed" && shape != std::string("6x35")) continue;  // files of a form differ in the form alone
          quantize(folder, one.recipe, shape, form, {"--packing", packing});
          EXPECT_EQ(values(folder, form), values(folder, "plain")) << one.recipe << packing << form << shape;
          std::filesystem::remove_all(folder / form);
        }
      }
      std::filesystem::remove_all(folder / "plain");
    }
  }
}

TEST(Packing, bytes_are_those_of_the_definition) {
  const Folder folder;
  halfulp::test::write_bytes(folder / "x.bin", numbers(6 * 35));
  quantize(folder, "mxfp4/ocp_floor", "6x35", "plain");
  const std::string codes = read_bytes(folder / "plain/codes.bin");
  quantize(folder, "mxfp4/ocp_floor", "6x35", "low", {"--packing", "low_first"});
  EXPECT_EQ(read_bytes(folder / "low/codes.bin"), low_first(codes, 35, 4));
  EXPECT_EQ(read_bytes(folder / "low/scales.bin"), read_bytes(folder / "plain/scales.bin"));
  quantize(folder, "mxfp4/ocp_floor", "6x35", "bytes", {"--packing", "byte_low_bits"});
  EXPECT_EQ(read_bytes(folder / "bytes/codes.bin"), codes);
  // With another axis the packed rows are those of the moved tensor.
  quantize(folder, "mxfp4/ocp_floor", "35x6", "down", {"--axis", "0"});
  quantize(folder, "mxfp4/ocp_floor", "35x6", "down_low", {"--axis", "0", "--packing", "low_first"});
  EXPECT_EQ(read_bytes(folder / "down_low/codes.bin"), low_first(read_bytes(folder / "down/codes.bin"), 35, 4));
  EXPECT_EQ(values(folder, "down_low"), values(folder, "down"));
}

TEST(Packing, a_row_that_is_quantized_in_strips_is_packed_as_one) {
  const Folder folder;
  const std::size_t columns = 32 * 6000 + 64;  // more than a strip, in whole blocks
  halfulp::test::write_bytes(folder / "x.bin", numbers(columns));
  quantize(folder, "mxfp4/ocp_floor", std::to_string(columns), "plain");
  quantize(folder, "mxfp4/ocp_floor", std::to_string(columns), "low", {"--packing", "low_first"});
  EXPECT_EQ(read_bytes(folder / "low/codes.bin"), low_first(read_bytes(folder / "plain/codes.bin"), columns, 4));
  halfulp::test::write_bytes(folder / "x.bin", numbers(70001));
  quantize(folder, "kv_fp8/scale_1", "70001", "one");
  quantize(folder, "kv_fp8/scale_1", "70001", "word", {"--packing", "int32_little"});
  EXPECT_EQ(read_bytes(folder / "word/codes.bin"), read_bytes(folder / "one/codes.bin") + std::string(3, '\0'));  // whole words
}

TEST(Packing, what_cannot_be_packed_is_refused) {
  const Folder folder;
  halfulp::test::write_bytes(folder / "x.bin", numbers(64));
  const auto refused = [&](const std::string& recipe, const std::string& packing, const std::string& output) {
    const Result result = run({"quantize", "-r", recipe, "-i", folder / "x.bin", "--dtype", "bf16", "--shape", "2x32", "-o", output, "--packing", packing});
    EXPECT_EQ(result.status, 2) << result.out;
    command::expect_one_error_line(result.error);
    return result.error;
  };
  EXPECT_NE(refused("mxfp6/rceil", "low_first", folder / "a").find("does not hold codes of 6 bits"), std::string::npos);
  EXPECT_NE(refused("mxfp4/ocp_floor", "low", folder / "a").find("use one of low_first, high_first"), std::string::npos);
  EXPECT_NE(refused("mxfp4/ocp_floor", "low_first", "-").find("text has a word per code"), std::string::npos);
  EXPECT_EQ(folder.files(), 1u);
  // A manifest whose packing does not fit its columns.
  quantize(folder, "mxfp4/ocp_floor", "2x32", "a", {"--packing", "low_first"});
  std::string manifest = read_bytes(folder / "a/manifest.json");
  const std::size_t at = manifest.find("\"low_first\"");
  ASSERT_NE(at, std::string::npos);
  for (const char* lie : {"\"dense8\"", "\"byte_low_bits\"", "7"}) {
    std::string bad = manifest;
    bad.replace(at, 11, lie);
    halfulp::test::write_bytes(folder / "a/manifest.json", bad);
    const Result result = run({"dequantize", "-i", folder / "a"});
    EXPECT_EQ(result.status, 2) << lie;
    command::expect_one_error_line(result.error);
  }
}

}  // namespace
