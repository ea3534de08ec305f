// What the commands refuse and how: option values, ranges of inputs, unknown recipes, outputs, signals.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "command_runner.hpp"

namespace {

namespace fs = std::filesystem;
using command::run;
using Arguments = std::vector<std::string>;

void refuses(const Arguments& arguments, const std::string& part, const std::string& input = "1 2 3\n") {
  std::string shown;
  for (const std::string& argument : arguments) shown += "'" + argument + "' ";
  const auto result = run(arguments, input);
  EXPECT_EQ(result.status, 2) << shown << result.out;
  EXPECT_EQ(result.out, "") << shown;
  command::expect_one_error_line(result.error);
  EXPECT_NE(result.error.find(part), std::string::npos) << shown << result.error;
}

Arguments quantize(const std::string& recipe, const Arguments& more) {
  Arguments all = {"quantize", "--recipe", recipe};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Refusals, EmptyOptionValues) {
  for (const char* option : {"--axis", "--block", "--tensor-amax", "--tensor-scale", "--scale", "--smooth", "--codebook", "--seed",
                             "--set", "--outlier-thresholds", "--to", "--from", "--dtype", "--shape", "--threads"}) {
    refuses(quantize("nvfp4/torchao", {option, ""}), option);
    refuses(quantize("nvfp4/torchao", {option, "  "}), option);
    refuses(quantize("nvfp4/torchao", {std::string(option) + "="}), option);
  }
  for (const char* option : {"--level", "--seed", "--also", "-o"}) refuses({"gen", "cast:f32:e4m3", option, ""}, "gen");
  refuses({"verify", "cast:f32:e4m3", "--level", ""}, "--level");
  refuses({"cast", "--to", "", "1"}, "--to");
  refuses({"cast", "--to", "e4m3", "--from", "", "1"}, "--from");
  refuses({"cast", "--to", "e4m3", "--rounding", "", "1"}, "--rounding");
  refuses({"dequantize", "-r", "nvfp4/torchao", "--shape", ""}, "--shape");
  refuses({"diff", "cast:f32:e4m3", "cast:f32:e5m2", "--search", ""}, "--search");
  EXPECT_EQ(run({"cast", "--to", "e4m3", "-1"}).status, 0);
}

TEST(Refusals, MostInputsOfDiff) {
  const std::string a = "nvfp4/transformer_engine", b = "nvfp4/flashinfer";
  for (const char* most : {"-1", "0", "00", "1.5", "", "18446744073709551616"}) refuses({"diff", a, b, "--max", most}, "--max");
  for (const char* search : {"threshold", "random", "all"}) {
    for (const std::uint64_t most : {1u, 2u, 60u, 500u}) {
      const auto result = run({"diff", "mxfp8/rceil", "mxfp8/cudnn", "--json", "--search", search, "--max", std::to_string(most)});
      ASSERT_EQ(result.status, 3) << result.error;
      std::uint64_t tried = 0;
      const auto answer = nlohmann::json::parse(result.out);
      for (const auto& [kind, count] : answer.at("tried").items()) tried += count.get<std::uint64_t>();
      EXPECT_LE(tried, most) << search;
      EXPECT_GE(tried, most == 500 ? 400u : 1u) << search;
    }
  }
}

TEST(Refusals, InputsOutsideTheirRange) {
  for (const char* value : {"-1", "-inf", "nan", "-0"}) {
    refuses(quantize("nvfp4/torchao", {"--tensor-amax", value}), std::string("--tensor-amax '") + value + "': ");
    refuses(quantize("nvfp4/torchao", {"--tensor-scale", value}), std::string("--tensor-scale '") + value + "': ");
    refuses(quantize("fp8_static/vllm", {"--scale", value}), std::string("--scale '") + value + "': ");
    refuses(quantize("fp8_per_token/vllm_cuda", {"--set", std::string("ub=") + value}), std::string("--set 'ub=") + value + "': ");
  }
  refuses(quantize("fp8_static/vllm", {"--scale", "inf"}), "--scale 'inf': ");
  refuses(quantize("fp8_static/vllm", {"--block", "1", "--scale", "1,2,-3"}), "-3 is outside");
  const Arguments table = {"--codebook", "-1,-0.5,0,1", "--to", "uint2"};
  for (const char* dense : {"5", "nan", "-3", "0"}) {
    Arguments all = table;
    all.insert(all.end(), {"--set", std::string("dense=") + dense});
    refuses(quantize("kvquant/k_calibrated", all), "--set 'dense=");
  }
  for (const char* pair : {"2,1", "nan,1", "1,nan", "-inf,inf"}) {
    Arguments all = table;
    all.insert(all.end(), {"--outlier-thresholds", pair});
    refuses(quantize("kvquant/k", all), "--outlier-thresholds '");
  }
  refuses(quantize("kvquant/k", {"--set", "outlier_lower=2", "--set", "outlier_upper=1", "--codebook", "0,1,2,3"}), "2 is above 1");
  refuses(quantize("kvquant/k", {"--outlier-thresholds", "1,2", "--codebook", "nan"}), "--codebook 'nan': nan is outside");
  refuses({"gen", "recipe:fp8_per_token/vllm_cuda,ub=nan,rows=10", "-o", testing::TempDir() + "no_pack"}, "input 'ub'");
  // documented results stay
  EXPECT_EQ(run(quantize("fp8_static/vllm", {"--scale", "0"}), "1\n").out, "0x00000000 0x7e\n");
  EXPECT_EQ(run(quantize("nvfp4/modelopt", {"--tensor-amax", "0"}), "0\n").out, "# tensor-scale 0x00000000\n0x7f 0x7\n");
  EXPECT_EQ(run(quantize("nvfp4/torchao", {"--tensor-amax", "inf"}), "1\n").status, 0);
  EXPECT_EQ(run(quantize("fp8_per_token/vllm_cuda", {"--set", "ub=inf"}), "1\n").status, 0);
}

TEST(Refusals, UnknownRecipesGetTheNearestNames) {
  const auto error = [](const std::string& name) {
    const auto result = run({"quantize", "-r", name}, "1\n");
    EXPECT_EQ(result.status, 2) << name;
    command::expect_one_error_line(result.error);
    return result.error;
  };
  EXPECT_NE(error("MXFP8/RCEIL").find("nearest names: mxfp8/rceil"), std::string::npos) << error("MXFP8/RCEIL");
  EXPECT_NE(error("fp8_per_token").find("nearest names: fp8_per_token/vllm_cuda, fp8_per_token/vllm_native"), std::string::npos);
  EXPECT_NE(error("FP8_Per_Token").find("fp8_per_token/vllm_native"), std::string::npos);
  EXPECT_NE(error("torchao").find("nvfp4/torchao"), std::string::npos) << error("torchao");
  EXPECT_NE(error("nvfp4/trtllm_torchao").find("nvfp4/torchao"), std::string::npos) << error("nvfp4/trtllm_torchao");
  EXPECT_NE(error("nvfp4/torcao").find("nearest names: nvfp4/torchao"), std::string::npos);
  EXPECT_NE(error("nosuch").find("`halfulp recipes` lists"), std::string::npos);
  EXPECT_NE(error(std::string(5000, 'x')).find("`halfulp recipes` lists"), std::string::npos);
}

TEST(Refusals, MessagesSayWhatIsWrong) {
  refuses({"quantize", "-r", "nvfp4/torchao", "--from", "e8m0"}, "e8m0 cannot hold it; give a value of that format, or name another", "-1\n");
  for (const char* device : {"/dev/full", "/dev/null", "/dev/stdout"})
    refuses(quantize("nvfp4/torchao", {"-o", device}), "it exists and is no folder");
  refuses(quantize("fp8_static/vllm", {"--scale", "/nonexist"}), "file '/nonexist': no such file, and not a number");
  refuses(quantize("fp8_static/vllm", {"--scale", "wide"}), "not a number");
  refuses(quantize("nvfp4/torchao", {"--block", "-1"}), "block '-1'");
  const fs::path file = fs::path(testing::TempDir()) / "refusals_long.bin";
  std::ofstream(file) << std::string(20, 'x');
  refuses(quantize("nvfp4/torchao", {"-i", file, "--dtype", "f32", "--shape", "4"}), "byte 16: 4 bytes too many");
  refuses(quantize("nvfp4/torchao", {"-i", file, "--dtype", "f32", "--shape", "6"}), "byte 20: the file ends here");
  refuses(quantize("nvfp4/torchao", {"-i", file, "--dtype", "f32", "--shape", "-4x4"}), "shape '-4x4'");
  fs::remove(file);
}

TEST(Refusals, TensorScaleLinesOutOfPlace) {
  const auto back = [](const std::string& recipe, const std::string& text, const std::string& part) {
    refuses({"dequantize", "-r", recipe}, part, text);
  };
  const std::string head = "# tensor-scale 0x3a924925\n", block = "0x7e 0x7\n";
  EXPECT_EQ(run({"dequantize", "-r", "nvfp4/modelopt"}, head + block + "\n" + head + block).status, 0);
  back("nvfp4/modelopt", head + head + block, "stdin line 2");
  back("nvfp4/modelopt", head + block + head, "stdin line 3");
  back("fp8_per_token/vllm_cuda", head + "0x3bea0ea1 0x3b\n", "stdin line 1");
  back("nvfp4/modelopt", "# tensor-scale 0x3a924925 more\n" + block, "stdin line 1");
  back("nvfp4/modelopt", "# tensor-scale \n" + block, "halfulp: error: ");
}

TEST(Refusals, AWitnessIsTakenByBothRecipesWhereOneExists) {
  const auto result = run({"diff", "nvfp4/transformer_engine_hadamard", "nvfp4/transformer_engine", "--json"});
  ASSERT_EQ(result.status, 1) << result.error;
  const auto found = nlohmann::json::parse(result.out);
  for (const char* side : {"answer_a", "answer_b"})
    EXPECT_FALSE(found.at(side)[0].get<std::string>().starts_with("refused")) << result.out;
}

class Outputs : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("refusals_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ / name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  /// A pack that takes long enough to be stopped, once its files are there.
  Arguments long_gen() const { return {"gen", "cast:f32:e4m3", "--level", "exhaustive", "--threads", "1", "--quiet", "-o", path("pack")}; }
  void wait_for_files() const {
    for (int i = 0; i < 500 && entries() == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_EQ(entries(), 1u);
  }
  fs::path folder_;
};

TEST_F(Outputs, LinksStayLinks) {
  fs::create_symlink("target.npz", path("link.npz"));
  fs::create_symlink("pack", path("link"));
  for (const char* out : {"link.npz", "link"}) {
    const auto result = run(quantize("nvfp4/torchao", {"-o", path(out)}), "1 2\n");
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_TRUE(fs::is_symlink(path(out)));
  }
  EXPECT_TRUE(fs::is_regular_file(path("target.npz")));
  EXPECT_TRUE(fs::is_regular_file(path("pack/manifest.json")));
  fs::create_symlink("/dev/null", path("null.npz"));
  refuses(quantize("nvfp4/torchao", {"-o", path("null.npz")}), "not a regular file");
  fs::create_symlink("loop.npz", path("loop.npz"));
  refuses(quantize("nvfp4/torchao", {"-o", path("loop.npz")}), "lead nowhere");
  EXPECT_EQ(entries(), 6u);
}

TEST_F(Outputs, SignalsLeaveNothingBehind) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    command::Process running(long_gen());
    wait_for_files();
    running.send_signal(number);
    const auto result = running.finish({});
    EXPECT_EQ(result.status, 128 + number);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(entries(), 0u) << number;
  }
}

TEST_F(Outputs, IgnoredSignalsStayIgnored) {
  signal(SIGHUP, SIG_IGN);  // as nohup does; the child keeps it
  command::Process running(long_gen());
  signal(SIGHUP, SIG_DFL);
  wait_for_files();
  running.send_signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(entries(), 1u);
  running.send_signal(SIGTERM);
  EXPECT_EQ(running.finish({}).status, 128 + SIGTERM);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Outputs, TooLargeFilesAreAnError) {
  for (const char* out : {"pack", "pack.npz", "pack.safetensors"}) {
    rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small = {1 << 16, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    command::Process running({"gen", "cast:f16:e4m3", "--level", "exhaustive", "--quiet", "-o", path(out)});
    setrlimit(RLIMIT_FSIZE, &before);
    const auto result = running.finish({});
    EXPECT_EQ(result.status, 2) << out;
    command::expect_one_error_line(result.error);
    EXPECT_EQ(entries(), 0u) << out;
  }
}

TEST_F(Outputs, AReaderThatGoesAwayEndsTheCommandQuietly) {
  const auto made = run({"gen", "cast:f16:e4m3", "--level", "exhaustive", "-o", path("pack.npz")});
  ASSERT_EQ(made.status, 0) << made.error;
  const auto result = command::run_shell("{ halfulp quantize -r fp8_per_token/vllm_cuda -f f16 -i '" + path("pack.npz") +
                                         ":input' --axis 0 -o - ; echo $? >'" + path("status") + "'; } | head -c 10 >/dev/null");
  EXPECT_EQ(result.error, "");
  std::ifstream in(path("status"));
  int status = 0;
  in >> status;
  EXPECT_EQ(status, 128 + SIGPIPE);
}

}  // namespace
