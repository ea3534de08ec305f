// `halfulp recipes`: every recipe that is promised by name is listed and prints its steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "command_runner.hpp"

namespace {

using command::run;

/// By scheme; a removed or renamed recipe fails here.
// clang-format off
constexpr const char* kPromised[] = {
    // FP8 and INT8 with one scale per tensor, token or channel
    "fp8_per_token/vllm_cuda", "fp8_per_token/vllm_native", "fp8_per_tensor/vllm", "fp8_per_tensor/vllm_native",
    "fp8_static/vllm", "fp8_channel/compressed_tensors", "fp8_current/transformer_engine", "fp8_train/torchao",
    "fp8_train/torchao_pow2", "fp8_affine/torchao", "int8_per_token/vllm", "int8_static/vllm", "int8_azp/vllm",
    "int8/compressed_tensors", "int8_asym/compressed_tensors", "int8/pytorch_cpp", "smoothquant/o1", "smoothquant/o2",
    "smoothquant/o3", "w8a16/marlin",
    // block FP8
    "fp8_block/deepseek", "fp8_block/deepgemm", "fp8_block/vllm_cuda", "fp8_block/vllm_native", "fp8_block/deepseek_ue8m0",
    "fp8_block/deepgemm_ue8m0", "fp8_block/vllm_cuda_ue8m0", "fp8_block/vllm_native_pow2", "fp8_block/transformer_engine",
    "fp8_block/transformer_engine_fp32",
    // MX: every rule with every family, and the producers
    "mxfp8/ocp_floor", "mxfp8/even", "mxfp8/ceil", "mxfp8/rceil", "mxfp6/ocp_floor", "mxfp6/even", "mxfp6/ceil",
    "mxfp6/rceil", "mxfp4/ocp_floor", "mxfp4/even", "mxfp4/ceil", "mxfp4/rceil", "mxint8/ocp_floor",
    "mxfp8/transformer_engine", "mxfp8/rceil_torchao", "mxfp8/cudnn", "mxfp8/flashinfer", "mxfp4/flashinfer", "mxfp4/vllm",
    "mxfp4/compressed_tensors", "mxfp4/deepgemm", "mx/microxcaling",
    // NVFP4
    "nvfp4/transformer_engine", "nvfp4_2d/transformer_engine", "nvfp4/transformer_engine_fast",
    "nvfp4/transformer_engine_hadamard", "nvfp4/transformer_engine_stochastic", "nvfp4/four_over_six", "nvfp4/flashinfer",
    "nvfp4/vllm", "nvfp4/torchao", "nvfp4/compressed_tensors", "nvfp4/modelopt", "nvfp4/sage3", "nvfp4/cudnn",
    // caches, rotations, tables, GGML
    "kv_fp8/vllm", "kv_fp8/vllm_packed", "kv_fp8/vllm_calculated", "kv_fp8/scale_1", "kivi/k", "kivi/v", "int_asym/zero_point",
    "int_asym/zero_point_group", "int_sym/quarot", "quarot/k", "kvquant/k", "kvquant/v", "sage/int8_qk",
    "sage/int8_qk_triton", "nvfp4_kv/vllm", "ggml/q8_0", "ggml/q4_0", "ggml/q4_1", "ggml/mxfp4",
};
// clang-format on

TEST(Recipes, EveryPromisedNameIsListedOnce) {
  const auto result = run({"recipes"});
  EXPECT_EQ(result.status, 0);
  std::multiset<std::string> listed;
  std::istringstream lines(result.out);
  std::string line;
  std::getline(lines, line);  // the head
  while (std::getline(lines, line)) listed.insert(line.substr(0, line.find(' ')));
  for (const char* name : kPromised) EXPECT_EQ(listed.count(name), 1u) << name;
  EXPECT_GE(std::size(kPromised), 60u);
  for (const std::string& name : listed) EXPECT_EQ(listed.count(name), 1u) << name;
}

/// As `halfulp recipes NAME` numbers them.
int numbered_steps(const std::string& text) {
  int steps = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    steps += !first.empty() &&
             std::all_of(first.begin(), first.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
  return steps;
}

TEST(Recipes, EachPrintsItsSteps) {
  const auto all = run({"recipes", "--json"});
  ASSERT_EQ(all.status, 0);
  std::set<std::string> seen;
  std::istringstream lines(all.out);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    const std::string name = json.at("name");
    seen.insert(name);
    for (const char* direction : {"quantize", "dequantize"}) {
      for (const auto& step : json.at(direction)) {
        EXPECT_FALSE(step.at("operation").get<std::string>().empty()) << name;
        EXPECT_FALSE(step.at("result").get<std::string>().empty()) << name;
        EXPECT_FALSE(step.at("per").get<std::string>().empty()) << name;
      }
    }
    EXPECT_FALSE(json.at("quantize").empty()) << name;
    EXPECT_FALSE(json.at("facts").empty()) << name;
    EXPECT_FALSE(json.at("evidence").get<std::string>().empty()) << name;
  }
  for (const char* name : kPromised) EXPECT_TRUE(seen.contains(name)) << name;
  for (const char* name :
       {"fp8_per_token/vllm_cuda", "mxfp6/rceil", "nvfp4/four_over_six", "kivi/k", "ggml/q4_0"}) {
    const auto one = run({"recipes", name});
    EXPECT_EQ(one.status, 0) << one.error;
    EXPECT_GE(numbered_steps(one.out), 3) << one.out;
  }
}

TEST(Recipes, ExamplesOfTheRecipeCommandsWorkAsTyped) {
  for (const std::string name :
       {"recipes", "quantize", "dequantize", "diff", "explain block", "explain lesson"}) {
    std::istringstream help(run(command::split(name + " --help")).out);
    int examples = 0;
    bool started = false;
    for (std::string line; std::getline(help, line);) {
      if (started && line.find("halfulp") != std::string::npos) {
        const auto result = command::run_shell(line);
        EXPECT_EQ(result.status, 0) << line << "\n" << result.error;
        EXPECT_NE(result.out, "") << line;
        ++examples;
      }
      started = started || line.starts_with("Examples:");
    }
    EXPECT_GE(examples, 2) << name;
    EXPECT_LE(examples, 3) << name;
  }
}

TEST(Recipes, APartOfNamesListsThem) {
  for (const std::string word : {"vllm", "mxfp4", "fp8_block", "q8_0"}) {
    const auto result = run({"recipes", word});
    EXPECT_EQ(result.status, 0) << result.error;
    std::istringstream lines(result.out);
    std::string line;
    std::getline(lines, line);  // the head
    int listed = 0;
    for (; std::getline(lines, line); ++listed) EXPECT_NE(line.substr(0, line.find(' ')).find(word), std::string::npos) << line;
    EXPECT_GE(listed, 1) << word;
  }
  EXPECT_GE(numbered_steps(run({"recipes", "nvfp4/vllm"}).out), 3);  // a whole name prints its steps
}

TEST(Recipes, HexFloatsAreShownInDecimalToo) {
  const auto result = run({"recipes", "fp8_per_token/vllm_cuda"});
  EXPECT_NE(result.out.find("≈"), std::string::npos) << result.out;
}

TEST(Recipes, AnUnknownNameIsAnsweredWithTheNearest) {
  const auto result = run({"recipes", "nvfp4/vlm"});
  EXPECT_EQ(result.status, 2);
  command::expect_one_error_line(result.error);
  EXPECT_NE(result.error.find("nvfp4/vllm"), std::string::npos);
}

}  // namespace
