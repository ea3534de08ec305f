// `halfulp diff`: telling witnesses, reproduce lines that run as typed, result files.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "command_runner.hpp"

namespace {

namespace fs = std::filesystem;
using command::run;
using nlohmann::json;

json diff(const std::string& a, const std::string& b, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"diff", a, b, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const auto result = run(arguments);
  EXPECT_EQ(result.error, "") << a << " " << b;
  return json::parse(result.out);
}

/// What `quantize --values` prints, each block's values on its line, as diff shows an answer.
std::vector<std::string> shown(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("= "))
      lines.back() += " " + line;
    else
      lines.push_back(line);
  }
  return lines;
}

void expect_reproduced(const json& witness) {
  for (const std::string side : {"a", "b"}) {
    const std::string typed = witness.at("command_" + side);
    const auto result = command::run_shell(typed);
    if (witness.at("answer_" + side)[0].get<std::string>().starts_with("refused")) {
      EXPECT_EQ(result.status, 2) << typed;
      continue;
    }
    EXPECT_EQ(result.status, 0) << typed << "\n" << result.error;
    EXPECT_EQ(shown(result.out), witness.at("answer_" + side).get<std::vector<std::string>>()) << typed;
  }
}

/// Pairs of the disagreement table by row, and pairs with other inputs: scales, tables, random bytes, other
/// elements.
// clang-format off
constexpr const char* kPairs[][3] = {
    {"1", "fp8_per_token/vllm_cuda", "fp8_per_token/vllm_native"},
    {"2", "fp8_block/vllm_cuda", "fp8_block/transformer_engine_fp32"},
    {"3", "int8_per_token/vllm", "int_sym/quarot,to=int8"},
    {"4", "int8_per_token/vllm", "int8/compressed_tensors"},
    {"5", "int8_static/vllm", "int8_azp/vllm"},
    {"6", "fp8_per_token/vllm_cuda", "fp8_channel/compressed_tensors"},
    {"7", "fp8_block/vllm_cuda", "fp8_block/deepseek"},
    {"8", "mxfp8/ocp_floor", "mxfp8/rceil"},
    {"9", "mxfp8/transformer_engine", "mxfp8/rceil_torchao"},
    {"10", "mxfp4/ocp_floor", "mxfp4/even"},
    {"13", "mxfp4/even", "mxfp4/vllm"},
    {"14", "mxfp4/compressed_tensors", "mxfp4/even"},
    {"15", "nvfp4/transformer_engine", "nvfp4/torchao"},
    {"15", "nvfp4/compressed_tensors", "nvfp4/compressed_tensors_torch"},
    {"16", "nvfp4/sage3", "nvfp4/cudnn"},
    {"17", "nvfp4/torchao", "nvfp4/modelopt"},
    {"18", "nvfp4/vllm", "nvfp4/flashinfer"},
    {"20", "nvfp4/four_over_six", "nvfp4/four_over_six_448"},
    {"21", "nvfp4/sage3", "nvfp4/cudnn"},
    {"22", "nvfp4/four_over_six", "nvfp4/four_over_six_precomputed"},
    {"23", "mxfp4/deepgemm", "mxfp4/rceil"},
    {"24", "nvfp4/modelopt", "nvfp4/transformer_engine"},
    {"25", "mxfp8/ocp_floor", "mx/microxcaling"},
    {"26", "nvfp4/modelopt", "nvfp4/compressed_tensors"},
    {"33", "kivi/v", "int_asym/zero_point,to=uint2"},
    {"-", "mxfp8/rceil_torchao_eager", "mxfp8/rceil"},
    {"-", "mxfp8/ocp_floor_torchao", "mxfp8/ocp_floor"},
    {"-", "kvquant/k,to=uint2", "kvquant/v,to=uint2"},
    {"-", "nvfp4/transformer_engine_stochastic", "nvfp4/transformer_engine"},
    {"-", "mxfp8/rceil,to=e5m2", "mxfp8/rceil,to=e5m2,block=16"},
    {"-", "kivi/k", "kivi/k,block=4x1"},
    // other blocks alone
    {"-", "smoothquant/o1", "smoothquant/o2"},
    {"-", "smoothquant/weights", "smoothquant/o2"},
    {"-", "int8_per_token/vllm", "int8_per_token/vllm,block=tensor"},
    {"-", "fp8_block/deepseek", "fp8_block/deepseek,block=128x128"},
    {"-", "nvfp4/transformer_engine", "nvfp4_2d/transformer_engine"},
    {"-", "kivi/k", "kivi/k,block=tensor"},
    {"-", "fp8_per_token/vllm_cuda", "fp8_per_token/vllm_cuda,block=column"},
};
// clang-format on

TEST(DiffRecipes, FindsWitnessesThatRunAsTyped) {
  for (const auto& [row, a, b] : kPairs) {
    const auto start = std::chrono::steady_clock::now();
    const json found = diff(a, b);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10)
        << "row " << row;
    ASSERT_TRUE(found.at("found").get<bool>()) << "row " << row << ": " << a << ", " << b;
    EXPECT_NE(found.at("answer_a"), found.at("answer_b")) << "row " << row;
    EXPECT_FALSE(found.at("step").at("role").get<std::string>().empty());
    expect_reproduced(found);
  }
}

TEST(DiffRecipes, TheSameStepsAreEqual) {
  const char* pairs[][2] = {{"mxfp4/ocp_floor", "mxfp4/ocp_floor"},
                            {"mxfp4/ocp_floor", "mxfp4/ocp_floor,block=32"},
                            {"mxfp8/ocp_floor,to=e4m3", "recipe:mxfp8/ocp_floor"},
                            {"mxfp8/rceil", "mxfp8/transformer_engine"},
                            {"fp8_per_token/vllm_cuda,block=tensor", "fp8_per_token/vllm_cuda,block=tensor"}};
  for (const auto& [a, b] : pairs) {
    const auto result = run({"diff", a, b});
    EXPECT_EQ(result.status, 0) << a << " " << b << result.out;
    EXPECT_NE(result.out.find("equal"), std::string::npos) << result.out;
    EXPECT_TRUE(diff(a, b).at("complete").get<bool>());
  }
  const json labels = diff("mxfp4/ocp_floor,block=16", "mxfp4/ocp_floor");
  EXPECT_EQ(labels.at("a"), "mxfp4/ocp_floor,block=16");
  EXPECT_TRUE(labels.at("found").get<bool>());
}

TEST(DiffRecipes, PartingIsOfWhatIsStored) {
  for (const auto& [row, a, b] : kPairs) {
    const json found = diff(a, b);
    const std::string role = found.at("step").at("role");
    if (role == "value" || found.at("answer_a")[0].get<std::string>().starts_with("refused") ||
        found.at("answer_b")[0].get<std::string>().starts_with("refused")) {
      continue;
    }
    const auto words = [](const json& lines) {  // without the values
      std::string text;
      for (const std::string line : lines) text += line.substr(0, line.find(" =")) + "\n";
      return text;
    };
    EXPECT_NE(words(found.at("answer_a")), words(found.at("answer_b"))) << a << " " << b << " part at " << role;
    EXPECT_NE(found.at("step").at("result_a"), found.at("step").at("result_b")) << a << " " << b;
  }
}

TEST(DiffRecipes, NoBlockIsShownTwice) {
  const json every = diff("mxfp8/ocp_floor", "mxfp8/rceil", {"--search", "all", "--max", "2000"});
  std::set<std::string> seen = {every.at("input").dump()};
  std::size_t shown = 1;
  if (every.contains("more")) {
    for (const json& one : every.at("more")) seen.insert(one.at("input").dump()), ++shown;
  }
  EXPECT_EQ(seen.size(), shown) << every;
}

bool all_zero(const json& input) {
  for (const std::string x : input) {
    if (x != "0x0p+0" && x != "-0x0p+0") return false;
  }
  return true;
}

TEST(DiffRecipes, ZerosAreShownOnlyWhereNothingElseDiffers) {
  const json telling = diff("nvfp4/transformer_engine", "nvfp4/modelopt");
  EXPECT_FALSE(all_zero(telling.at("input"))) << telling;
  const json every = diff("nvfp4/transformer_engine", "nvfp4/modelopt", {"--search", "all"});
  EXPECT_EQ(every.at("input"), telling.at("input"));
  ASSERT_TRUE(every.contains("more"));
  EXPECT_EQ(every.at("more").back().at("found_among"), "zeros");
  expect_reproduced(every.at("more").back());
  EXPECT_GE(every.at("more").size(), 3u);
  const json zeros =
      diff("mxfp4/deepgemm", "mxfp4/deepgemm,block=16");  // blocks of another length: no zero is needed
  EXPECT_FALSE(all_zero(zeros.at("input")));
  const auto both = run({"diff", "cast:f16:e4m3", "cast:f16:e5m2", "--search", "all", "--max", "5"});
  EXPECT_EQ(both.status, 2);
  command::expect_one_error_line(both.error);
  const auto none = run({"diff", "kv_fp8/vllm", "kv_fp8/vllm_per_head", "--max", "500"});  // one given scale for all blocks
  EXPECT_EQ(none.status, 3);
  EXPECT_NE(none.out.find("none found"), std::string::npos);
  EXPECT_NE(none.out.find("zeros"), std::string::npos) << none.out;  // says what was searched
}

class DiffFiles : public testing::Test {
 protected:
  DiffFiles() : folder_(fs::temp_directory_path() / ("halfulp_diff_" + std::to_string(getpid()))) {
    fs::create_directory(folder_);
  }
  ~DiffFiles() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string npy(const std::string& name, const std::vector<float>& values, const std::string& shape) {
    std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    head.resize(117, ' ');
    std::ofstream file(path(name), std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << head << '\n';
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(4 * values.size()));
    return path(name);
  }
  std::string quantized(const std::string& input, const std::string& output, const std::string& recipe) {
    const auto result = run({"quantize", "--recipe", recipe, "--input", input, "--output", path(output)});
    EXPECT_EQ(result.status, 0) << result.error;
    return path(output);
  }

  fs::path folder_;
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_F(DiffFiles, Npy) {
  const std::string a = npy("a.npy", {1, 2, kNan, -0.0f}, "2, 2"),
                    same = npy("same.npy", {1, 2, kNan, -0.0f}, "2, 2"),
                    other = npy("other.npy", {1, 2.5f, kNan, 0.0f}, "2, 2"),
                    number = npy("number.npy", {1, 2, 3, -0.0f}, "2, 2"),
                    longer = npy("longer.npy", {1, 2, 3, 4, 5, 6}, "2, 3"),
                    empty = npy("empty.npy", {}, "0, 2");
  auto result = run({"diff", a, same});
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.out, "equal  4 elements of f32\n");
  result = run({"diff", a, other});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out,
            "index  1 = [0,1] (first that differs)\nA  0x40000000 0x1p+1\nB  0x40200000 0x1.4p+1\ndiffer  2 of 4 "
            "elements of f32\n");
  result = run({"diff", a, number});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("A  0x7fc00000 nan\nB  0x40400000 0x1.8p+1\ndiffer  1 of 4"), std::string::npos)
      << result.out;
  result = run({"diff", a, longer});
  EXPECT_EQ(result.status, 2);
  command::expect_one_error_line(result.error);
  EXPECT_NE(result.error.find("shapes"), std::string::npos);
  EXPECT_EQ(run({"diff", empty, empty}).status, 3);  // nothing was compared
  result = run({"diff", a, path("missing.npy")});
  EXPECT_EQ(result.status, 2);
  command::expect_one_error_line(result.error);
  result = run({"diff", a, "mxfp8/rceil"});
  EXPECT_EQ(result.status, 2);
  command::expect_one_error_line(result.error);
}

TEST_F(DiffFiles, ResultsOfQuantize) {
  std::vector<float> values;
  for (int i = 0; i < 256; ++i) values.push_back(static_cast<float>(std::sin(i)) * 3.75f);
  const std::string x = npy("x.npy", values, "2, 128");
  for (const std::string type : {".npz", ".safetensors"}) {
    const std::string a = quantized(x, "a" + type, "mxfp4/ocp_floor"),
                      b = quantized(x, "b" + type, "mxfp4/even"),
                      again = quantized(x, "again" + type, "mxfp4/ocp_floor");
    EXPECT_EQ(run({"diff", a + ":codes", again + ":codes"}).status, 0) << type;
    EXPECT_EQ(run({"diff", a + ":scales", again + ":scales"}).status, 0) << type;
    const auto scales = run({"diff", a + ":scales", b + ":scales", "--json"});
    EXPECT_EQ(scales.status, 1) << type << scales.error;
    const json found = json::parse(scales.out);
    EXPECT_EQ(found.at("compared"), 8) << type;
    EXPECT_GT(found.at("differing"), 0) << type;
    EXPECT_EQ(run({"diff", a + ":codes", b + ":codes"}).status, 1) << type;
    const auto whole = run({"diff", a, b});
    EXPECT_EQ(whole.status, 1) << whole.error;
    EXPECT_NE(whole.out.find("codes\nindex  "), std::string::npos) << whole.out;
    EXPECT_NE(whole.out.find("scales\nindex  "), std::string::npos) << whole.out;
    EXPECT_EQ(run({"diff", a, again}).status, 0) << type;
    for (const std::string wrong : {":nothing", ""}) {  // a name that is not there; none of several
      const auto result = run({"diff", a + ":codes", b + wrong});
      EXPECT_EQ(result.status, 2) << type;
      command::expect_one_error_line(result.error);
      EXPECT_NE(result.error.find("codes"), std::string::npos) << result.error;  // names the tensors
    }
    const auto types = run({"diff", a + ":codes", a + ":scales"});
    EXPECT_EQ(types.status, 2) << type;
    command::expect_one_error_line(types.error);
  }
}

}  // namespace
