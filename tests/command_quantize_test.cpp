// `halfulp quantize` and `dequantize`: text form against rows made by hand, the way back, files, memory, errors.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
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
      {"dequantize", "0x3bea0ea1 0x3b\n", "--recipe"},
      {"dequantize --recipe mxfp8/ocp_floor --input a.npz:codes", "", "a.npz"},
      // options that nothing would read
      {"quantize --recipe mxfp8/ocp_floor --axis 0", "1 2\n", "--axis"},
      {"quantize --recipe mxfp8/ocp_floor --shape 1x2", "1 2\n", "--shape"},
      {"quantize --recipe nvfp4/transformer_engine --tensor-scale 2", "1 2\n", "--tensor-amax"},
      {"quantize --recipe nvfp4/transformer_engine --set tensor_scale=2", "1 2\n", "--tensor-amax"},
      {"dequantize --recipe fp8_static/vllm --scale 2", "0x3e892492 0x12\n", "'scale'"},
      {"dequantize --recipe nvfp4/transformer_engine_stochastic --seed 1", "0x3f 0x1\n", "--seed"},
      {"dequantize --recipe nvfp4/torchao --tensor-scale 2", "# tensor-scale 0x3ac61862\n0x4a 0x7\n", "stores the tensor scale"},
      {"dequantize --recipe nvfp4/torchao --tensor-amax 2", "# tensor-scale 0x3ac61862\n0x4a 0x7\n", "--tensor-amax"},
      {"dequantize --recipe nvfp4/torchao", "0x4a 0x7\n", "tensor scale is missing"},
      {"dequantize --recipe mxfp8/ocp_floor --tensor-amax 2", "0x7f 0x7\n", "--tensor-amax"},
      // outputs that say no form
      {"quantize --recipe nvfp4/vllm --output x.safetensor", "1", "safetensor"},
      {"quantize --recipe nvfp4/vllm --output out.foo", "1", ".foo"},
  };
  for (const Row& row : rows) {
    const auto result = run(split(row.arguments), row.in);
    EXPECT_EQ(result.status, 2) << row.arguments;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(row.out), std::string::npos) << result.error;
  }
}

TEST(Quantize, a_missing_tensor_scale_line_is_made_from_the_amax) {
  for (const std::string recipe : {"nvfp4/torchao", "nvfp4/compressed_tensors", "nvfp4/transformer_engine"}) {
    const std::string text = quantize("--recipe " + recipe + " --tensor-amax 12", "1 2 -3 4\n");
    const std::string values = dequantize("--recipe " + recipe, text);
    ASSERT_EQ(text.rfind("# tensor-scale ", 0), 0u) << text;
    const std::string blocks = text.substr(text.find('\n') + 1);
    EXPECT_EQ(dequantize("--recipe " + recipe + " --tensor-amax 12", blocks), values) << recipe;
    EXPECT_NE(dequantize("--recipe " + recipe + " --tensor-amax 6", blocks), values) << recipe;
  }
  EXPECT_EQ(dequantize("--recipe nvfp4/torchao --tensor-scale 0x1p-1", "0x38 0x2\n"), "0x1p-1\n");
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST(Quantize, json_lines_say_what_text_says) {
  const auto lines = json_lines(quantize("--recipe kivi/k --json --values --errors", kKeys));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[1].at("scale"), "0x35dd");
  EXPECT_EQ(lines[1].at("zero"), "0xb8cd");
  EXPECT_EQ(lines[1].at("codes"), (std::vector<std::string>{"1", "3", "0", "2"}));
  EXPECT_EQ(lines[0].at("values")[0], "0x1.ffcp-2");
  EXPECT_EQ(lines[1].at("column"), 1);
  const nlohmann::json& all = lines[4];
  EXPECT_EQ(all.at("recipe"), "kivi/k");
  EXPECT_EQ(all.at("element"), "uint2");
  EXPECT_EQ(all.at("shape"), (std::vector<int>{4, 4}));
  EXPECT_EQ(all.at("axis"), 1);
  EXPECT_EQ(all.at("blocks"), 4);
  EXPECT_EQ(all.at("errors").at("compared"), 16);
  EXPECT_GT(all.at("errors").at("sqnr_db"), 0);
  const auto rows = json_lines(dequantize("--recipe fp8_per_token/vllm_cuda --json", "0x3bea0ea1 0x3b 0xee 0x7e\n"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].at("values").size(), 3u);
  EXPECT_EQ(rows[1].at("element"), "e4m3");
}

TEST(Quantize, errors_are_those_of_what_the_values_stand_for) {
  const auto decibels = [](const std::string& recipe, const std::string& rows) {
    const auto lines = json_lines(quantize("--json --errors --recipe " + recipe, rows));
    return lines.back().at("errors").at("sqnr_db").get<double>();
  };
  std::string row;
  for (int i = 1; i <= 16; ++i) row += std::to_string(i % 2 == 0 ? i : -i) + " ";
  EXPECT_GT(decibels("nvfp4/transformer_engine_hadamard", row), 10);
  EXPECT_GT(decibels("quarot/k", row), 10);
  EXPECT_GT(decibels("smoothquant/o1 --smooth 0.5", row), 20);
  const auto result = run(split("quantize --errors --recipe quarot/k"), row);
  EXPECT_NE(result.error.find("after the recipe's transform"), std::string::npos) << result.error;
  const auto nothing = run(split("quantize --errors --recipe fp8_per_token/vllm_cuda"), "nan nan\n");
  EXPECT_NE(nothing.error.find("nothing finite"), std::string::npos) << nothing.error;
  EXPECT_EQ(nothing.error.find("SQNR"), std::string::npos) << nothing.error;
}

class QuantizedFiles : public testing::Test {
 protected:
  QuantizedFiles() : folder_(fs::temp_directory_path() / ("halfulp_quantized_" + std::to_string(getpid()))) { fs::create_directory(folder_); }
  ~QuantizedFiles() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string npy(const std::string& name, const std::vector<float>& values, const std::string& shape) const {
    std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    head.resize(117, ' ');
    std::ofstream file(path(name), std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << head << '\n';
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(4 * values.size()));
    return path(name);
  }

  struct Part {
    std::string name, dtype, shape, bytes;
  };
  std::string safetensors(const std::string& name, const std::vector<Part>& parts) const {
    std::string header, data;
    for (const Part& part : parts) {
      header += (header.empty() ? "{\"" : ",\"") + part.name + "\":{\"dtype\":\"" + part.dtype + "\",\"shape\":" + part.shape +
                ",\"data_offsets\":[" + std::to_string(data.size()) + "," + std::to_string(data.size() + part.bytes.size()) + "]}";
      data += part.bytes;
    }
    header += "}";
    std::string length(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
    std::ofstream(path(name), std::ios::binary) << length << header << data;
    return path(name);
  }

  void expect_refused(const std::string& arguments, const std::string& word) const {
    const auto result = run(split(arguments));
    EXPECT_EQ(result.status, 2) << arguments << "\n" << result.out;
    command::expect_one_error_line(result.error);
    EXPECT_NE(result.error.find(word), std::string::npos) << arguments << "\n" << result.error;
  }

  fs::path folder_;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(QuantizedFiles, the_manifest_says_recipe_element_and_blocks) {
  std::vector<float> values;
  for (int i = 0; i < 256; ++i) values.push_back(static_cast<float>(i % 17 - 8) * 0.37f);
  const std::string x = npy("x.npy", values, "4, 64");
  for (const std::string form : {"", ".npz", ".safetensors"}) {
    const std::string e5 = path("e5" + form), tile = path("tile" + form);
    quantize("-r mxfp8/ocp_floor --to e5m2 -i " + x + " -o " + e5, "");
    const std::string text = quantize("-r mxfp8/ocp_floor --to e5m2 -i " + x, "");
    const std::string rows = dequantize("-r mxfp8/ocp_floor --to e5m2 --shape 4x64", text);
    EXPECT_EQ(dequantize("-i " + e5, ""), rows) << form;
    EXPECT_EQ(dequantize("-r mxfp8/ocp_floor -i " + e5, ""), rows) << form;
    EXPECT_EQ(dequantize("--block 32 -i " + e5, ""), rows) << form;
    expect_refused("dequantize -r mxfp8/ocp_floor --to e4m3 -i " + e5, "e5m2");
    expect_refused("dequantize -r mxfp8/even -i " + e5, "mxfp8/ocp_floor");
    expect_refused("dequantize -r nvfp4/vllm -i " + e5, "mxfp8/ocp_floor");
    expect_refused("dequantize -r mxfp8/ocp_flor -i " + e5, "unknown");
    expect_refused("dequantize --block 16 -i " + e5, "blocks of 32");
    expect_refused("dequantize --shape 4x64 -i " + e5, "--shape");

    quantize("-r fp8_block/deepseek --block 2x32 -i " + x + " -o " + tile, "");
    const std::string tiles = dequantize("-r fp8_block/deepseek --block 2x32 --shape 4x64", quantize("-r fp8_block/deepseek --block 2x32 -i " + x, ""));
    EXPECT_EQ(dequantize("-i " + tile, ""), tiles) << form;
    expect_refused("dequantize --block 128 -i " + tile, "2x32");
  }
  EXPECT_NE(read_file(path("tile") + "/manifest.json").find("recipe:fp8_block/deepseek,to=e4m3,block=2x32"), std::string::npos);
  quantize("-r mxfp8/rceil -i " + x + " -o " + path("alias.npz"), "");
  EXPECT_EQ(dequantize("-r mxfp8/transformer_engine -i " + path("alias.npz"), ""), dequantize("-i " + path("alias.npz"), ""));  // the same steps
  quantize("-r nvfp4/torchao -i " + x + " -o " + path("two.npz"), "");
  expect_refused("dequantize --tensor-scale 2 -i " + path("two.npz"), "stores the tensor scale");
  expect_refused("dequantize -i " + x, "codes");
}

TEST_F(QuantizedFiles, the_axis_goes_back_to_its_place) {
  std::vector<float> values;
  for (int i = 0; i < 2 * 3 * 4; ++i) values.push_back(static_cast<float>(i));  // exact in e4m3 up to 16, and these by blocks
  const std::string x = npy("x.npy", values, "2, 3, 4");
  for (const std::string axis : {"0", "1", "2", "-1", "-2"}) {
    const std::string to = path("pack" + axis), back = path("back" + axis + ".npy");
    quantize("-r fp8_static/vllm --scale 1 --axis=" + axis + " -i " + x + " -o " + to, "");
    dequantize("-i " + to + " -o " + back, "");
    const std::string bytes = read_file(back);
    EXPECT_NE(bytes.find("(2, 3, 4)"), std::string::npos) << bytes.substr(0, 128);
    std::vector<float> got(24);
    ASSERT_GE(bytes.size(), 96u);
    std::memcpy(got.data(), bytes.data() + bytes.size() - 96, 96);
    for (std::size_t i = 0; i <= 16; ++i) EXPECT_EQ(got[i], values[i]) << axis << " " << i;
  }
}

TEST_F(QuantizedFiles, checkpoints_are_read_by_the_names_of_their_producers) {
  const auto le32 = [](std::uint32_t word) {
    std::string text;
    for (int i = 0; i < 4; ++i) text += static_cast<char>(word >> (8 * i) & 0xff);
    return text;
  };
  const std::string codes("\x38\x40\xb8\x3c", 4);  // 1 2 -1 1.5
  const std::string root = safetensors("root.safetensors", {{"weight", "F8_E4M3", "[2,2]", codes}, {"weight_scale", "F32", "[2,1]", le32(0x40000000) + le32(0x3f000000)}});
  for (const std::string name : {"", ":weight", ":weight_scale"})
    EXPECT_EQ(dequantize("-r fp8_per_token/vllm_cuda -i " + root + name, ""), "0x1p+1 0x1p+2\n-0x1p-1 0x1.8p-1\n") << name;
  const std::string tiled = safetensors("tiled.safetensors", {{"a.weight", "F8_E4M3", "[2,2]", codes}, {"a.weight_scale_inv", "F32", "[1,1]", le32(0x40000000)},
                                                             {"b.weight", "F8_E4M3", "[2,2]", codes}, {"b.weight_scale", "BF16", "[1]", std::string("\x80\x3f", 2)}});
  EXPECT_EQ(dequantize("-r fp8_block/deepseek --block 128x128 -i " + tiled + ":a", ""), "0x1p+1 0x1p+2\n-0x1p+1 0x1.8p+1\n");
  EXPECT_EQ(dequantize("-r fp8_block/deepseek --block tensor -i " + tiled + ":b.weight", ""), "0x1p+0 0x1p+1\n-0x1p+0 0x1.8p+0\n");
  expect_refused("dequantize -r fp8_block/deepseek -i " + tiled, "2 quantized weights");
  expect_refused("dequantize -r fp8_block/deepseek -i " + tiled + ":c", "'c'");
  expect_refused("dequantize -r fp8_block/deepseek -i " + tiled + ":a", "--block");
  expect_refused("dequantize -i " + root, "--recipe");

  // NVFP4 in bytes of two codes, low first; the global scale divides
  const std::string packed = safetensors("packed.safetensors", {{"w.weight_global_scale", "F32", "[1]", le32(0x40000000)}, {"w.weight_packed", "U8", "[1,8]", std::string("\x42\x07\x00\x00\x00\x00\x00\xa0", 8)},
                                                               {"w.weight_scale", "F8_E4M3", "[1,1]", std::string("\x38", 1)}});
  EXPECT_EQ(dequantize("-r nvfp4/compressed_tensors -i " + packed, "").substr(0, 29), "0x1p-1 0x1p+0 0x1.8p+1 0x0p+0");
  expect_refused("dequantize -r nvfp4/torchao -i " + packed, "weight_global_scale");
  expect_refused("dequantize -r mxfp4/ocp_floor -i " + packed, "weight_global_scale");
  const std::string other = safetensors("other.safetensors", {{"x", "F32", "[1]", le32(0x3f800000)}});
  expect_refused("dequantize -r nvfp4/torchao -i " + other, "weight_scale");
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
