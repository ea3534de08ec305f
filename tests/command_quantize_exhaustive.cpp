// `halfulp quantize` of a tensor of 1 GiB: peak memory below 256 MiB, for recipes that read it once and twice.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "command_runner.hpp"

namespace {

namespace fs = std::filesystem;

TEST(QuantizeLarge, needs_less_than_256_mib) {
  const fs::path folder = fs::temp_directory_path() / ("halfulp_quantize_large_" + std::to_string(getpid()));
  fs::create_directory(folder);
  const std::string input = (folder / "x.npy").string();
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (32768, 8192), }";
  head.resize(117, ' ');
  std::ofstream file(input, std::ios::binary);
  file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << head << '\n';
  std::vector<float> row(8192);
  std::uint32_t state = 1;
  for (int i = 0; i < 32768; ++i) {
    for (float& value : row) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
    }
    file.write(reinterpret_cast<const char*>(row.data()), 32768);
  }
  file.close();
  ASSERT_EQ(fs::file_size(input), (std::uint64_t{1} << 30) + 128);
  for (const char* recipe : {"nvfp4/transformer_engine", "fp8_block/deepgemm", "fp8_per_tensor/vllm_native"}) {
    const auto result = command::run({"quantize", "--recipe", recipe, "--input", input, "--output", (folder / "y.safetensors").string()});
    EXPECT_EQ(result.status, 0) << recipe << " " << result.error;
    rusage children{};
    getrusage(RUSAGE_CHILDREN, &children);
    EXPECT_LT(children.ru_maxrss, 256 * 1024) << recipe << ", KiB";
    RecordProperty(std::string("peak KiB after ") + recipe, std::to_string(children.ru_maxrss));
  }
  fs::remove_all(folder);
}

}  // namespace
