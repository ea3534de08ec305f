// `halfulp quantize` and `dequantize`: text form against rows made by hand, the way back, files, memory, errors.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "command_runner.hpp"

#if defined(__has_feature)
#define HALFULP_CLANG_ASAN __has_feature(address_sanitizer)
#else
#define HALFULP_CLANG_ASAN 0
#endif

namespace {

namespace fs = std::filesystem;
using command::run;
using command::split;

std::string quantize(const std::string& arguments, const std::string& rows) {
  const auto result = run(split("quantize " + arguments), rows);
  EXPECT_EQ(result.status, 0) << arguments << "\n" << result.error;
  return result.out;
}

std::string dequantize(const std::string& arguments, const std::string& blocks) {
  const auto result = run(split("dequantize " + arguments), blocks);
  EXPECT_EQ(result.status, 0) << arguments << "\n" << result.error;
  return result.out;
}

struct Row {
  const char* arguments;
  const char* in;
  const char* out;
};

constexpr char kTokens[] = "0.01 -0.8 3.2\n2 -45 180\n";
constexpr char kKeys[] = "0.4 -0.2 9 0.1\n-0.3 0.5 11 -0.4\n0.2 -0.6 10 0.3\n0.5 0.1 12 -0.2\n";

TEST(Quantize, text_form) {
  const Row rows[] = {
      // dynamic and static FP8 scales
      {"--recipe fp8_per_token/vllm_cuda", kTokens, "0x3bea0ea1 0x3b 0xee 0x7e\n0x3ecdb6db 0x4a 0xee 0x7e\n"},
      {"--recipe fp8_per_token/vllm_native", kTokens, "0x3bea0ea1 0x3b 0xee 0x7e\n0x3ecdb6db 0x4a 0xee 0x7e\n"},
      {"--recipe fp8_per_token/vllm_cuda --values", "2 -45 180", "0x3ecdb6db 0x4a 0xee 0x7e\n= 0x1.012492p+1 -0x1.68p+5 0x1.68p+7\n"},
      {"--recipe fp8_static/vllm --scale 0x1.124924p-2", kTokens, "0x3e892492 0x12 0xc4 0x54 0x4f 0xf2 0x7e\n"},
      // KIVI per channel: half step and minimum
      {"--recipe kivi/k", kKeys,
       "0x3444:0xb4cd 3 0 2 3\n0x35dd:0xb8cd 1 3 0 2\n0x3c00:0x4880 0 2 1 3\n0x3378:0xb666 2 0 3 1\n"},
      // codes as input, two tensors, comments
      {"--recipe mxint8/ocp_floor", "# one\n0x3f800000 0x40000000\n\n\n3\n", "0x80 32 64\n\n0x80 96\n"},
      // partial blocks
      {"--recipe mxfp8/ocp_floor --block 2", "1 2 3\n-4 5 6\n", "0x78 0x70 0x78\n0x78 0x7c\n0x79 0xf8 0x7a\n0x79 0x7c\n"},
      // NVFP4 (block.json D7): the tensor's amax given
      {"--recipe nvfp4/torchao --tensor-amax 0x1.04p+2", "0x3d430000 0xbcc30000 0x3c430000 0x3bc30000",
       "# tensor-scale 0x3ac61862\n0x4a 0x7 0xd 0x3 0x2\n"},
      // a NaN element, dropped by amax
      {"--recipe fp8_per_token/vllm_cuda", "nan 448", "0x3f800000 0x7e 0x7e\n"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(quantize(row.arguments, row.in), row.out) << row.arguments;
  }
}

TEST(Quantize, way_back_gives_the_values) {
  const Row rows[] = {
      {"--recipe kivi/k", kKeys,
       "0x1.ffcp-2 -0x1.334p-2 0x1.dd8p-3 0x1.ffcp-2\n"},
  };
  const std::string channels = quantize(std::string(rows[0].arguments) + " --values", rows[0].in);
  EXPECT_NE(channels.find(std::string("= ") + rows[0].out), std::string::npos) << channels;
  const char* recipes[] = {"nvfp4/transformer_engine", "nvfp4/flashinfer", "mxfp6/even", "int_asym/zero_point", "ggml/q4_1", "fp8_block/deepseek"};
  for (const std::string recipe : recipes) {
    const std::string arguments = "--recipe " + recipe;
    const std::string blocks = quantize(arguments, "0.1 0.2 -3 4\n");
    std::string values = quantize(arguments + " --values", "0.1 0.2 -3 4\n");
    values = values.substr(values.find("= ") + 2);
    EXPECT_EQ(dequantize(arguments, blocks), values) << recipe;
    EXPECT_EQ(dequantize(arguments + " --shape 1x4", blocks), values) << recipe;
  }
}

TEST(Quantize, errors_and_empty_input) {
  for (const char* arguments : {"quantize --recipe nvfp4/vllm", "dequantize --recipe nvfp4/vllm"}) {
    EXPECT_EQ(run(split(arguments)).status, 3) << arguments;
    EXPECT_EQ(run(split(arguments), "\n# nothing\n").status, 3) << arguments;
  }
  const Row rows[] = {
      {"quantize --recipe nvfp4/vlm", "1", "nvfp4/vllm"},
      {"quantize --recipe nvfp4/vllm", "1 2\n3\n", "stdin line 2"},
      {"quantize --recipe nvfp4/vllm", "1 x\n", "'x'"},
      {"quantize --recipe fp8_static/vllm", "1", "--scale"},
      {"quantize --recipe nvfp4/transformer_engine_stochastic", "1", "--seed"},
      {"quantize --recipe nvfp4/vllm --block 0", "1", "block"},
      {"quantize --recipe nvfp4/vllm --to e4m3", "1", "element"},
      {"quantize --recipe nvfp4/vllm --set q=1", "1", "'q'"},
      {"quantize --recipe nvfp4/vllm --input no.npy", "", "no.npy"},
      {"quantize --recipe nvfp4/vllm --output x.npy", "1", "x.npy"},
      {"dequantize --recipe fp8_per_token/vllm_cuda", "0x3bea0ea1 0x3b 0xxe\n", "stdin line 1"},
      {"dequantize --recipe fp8_per_token/vllm_cuda", "- 0x3b\n", "the recipe stores one"},
      {"dequantize --recipe fp8_per_token/vllm_cuda --shape 2x2", "0x3bea0ea1 0x3b\n", "--shape"},
      {"dequantize --recipe fp8_per_token/vllm_cuda --input no.npz", "", "no.npz"},
  };
  for (const Row& row : rows) {
    const auto result = run(split(row.arguments), row.in);
    EXPECT_EQ(result.status, 2) << row.arguments;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(row.out), std::string::npos) << result.error;
  }
}

/// An .npy of binary32 with `rows` x 1024 values from -1 to 1.
void write_npy(const fs::path& path, std::uint64_t rows) {
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(rows) + ", 1024), }";
  head.resize(117, ' ');
  std::ofstream file(path, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << head << '\n';
  std::vector<float> row(1024);
  std::uint32_t state = 1;
  for (std::uint64_t i = 0; i < rows; ++i) {
    for (float& value : row) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    }
    file.write(reinterpret_cast<const char*>(row.data()), 4096);
  }
}

TEST(Quantize, files_hold_what_text_says_and_strips_need_little_memory) {
  const fs::path folder = fs::temp_directory_path() / ("halfulp_quantize_" + std::to_string(getpid()));
  fs::create_directory(folder);
  write_npy(folder / "x.npy", 4096);  // 16 MiB
  write_npy(folder / "y.npy", 3);
  const std::string x = (folder / "x.npy").string(), y = (folder / "y.npy").string();
  for (const std::string recipe : {"nvfp4/transformer_engine", "fp8_per_tensor/vllm_native", "kivi/v", "fp8_block/deepgemm"}) {
    const std::string text = quantize("--recipe " + recipe + " --input " + y, "");
    const std::string rows = dequantize("--recipe " + recipe + " --shape 3x1024", text);
    for (const char* name : {"pack", "a.npz", "a.safetensors"}) {
      const std::string to = (folder / name).string();
      fs::remove_all(to);
      EXPECT_EQ(quantize("--recipe " + recipe + " --input " + y + " --output " + to, ""), "");
      EXPECT_EQ(dequantize("--recipe " + recipe + " --input " + to, ""), rows) << recipe << " " << name;
    }
    const std::string one = (folder / "one.npz").string(), two = (folder / "two.npz").string();
    quantize("--threads 1 --recipe " + recipe + " --input " + x + " --output " + one, "");
    quantize("--threads 3 --recipe " + recipe + " --input " + x + " --output " + two, "");
    EXPECT_TRUE(std::system(("cmp " + one + " " + two).c_str()) == 0) << recipe;
  }
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
#if !defined(__SANITIZE_ADDRESS__) && !HALFULP_CLANG_ASAN  // the sanitizer's shadow memory is not the command's
  EXPECT_LT(children.ru_maxrss, 128 * 1024) << "KiB";
#endif
  for (const auto& entry : fs::directory_iterator(folder)) EXPECT_EQ(entry.path().string().find(".part"), std::string::npos) << entry.path();
  fs::remove_all(folder);
}

}  // namespace
